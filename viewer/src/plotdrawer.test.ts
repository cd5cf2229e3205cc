import { describe, expect, it } from 'vitest';
import { vector } from './inspector';
import { mainPhases } from './plotdrawer';

const series = (name: string, ...value: number[]) => ({ name, unit: 'ms', time: value.map((_, i) => i), value });

describe('plots', () => {
  it('of many phases those that take most are shown, in their order', () => {
    const list = [series('wall_ms', 9), ...[1, 8, 2, 7, 3, 6, 4, 5].map((ms, i) => series(`phase.${i}`, ms))];
    expect(mainPhases(list).map((s) => s.value[0])).toEqual([9, 8, 7, 3, 6, 4, 5]);
  });
});

describe('vectors', () => {
  it('have the decimals that four digits of the largest need', () => {
    expect(vector(-0.08076, 1.775, 0.005625)).toBe('-0.081, 1.775, 0.006');
    expect(vector(0, -4, 0)).toBe('0, -4, 0');
    expect(vector(0.06573, -0.01717, 0.5181, 3)).toBe('0.066, -0.017, 0.518');
    expect(vector(1234.5678, 0.5, -0.0001)).toBe('1235, 1, 0');
    expect(vector(1e-7, 0, 0)).toBe('1.00e-7, 0, 0');
  });
});
