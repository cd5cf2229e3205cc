import { describe, expect, it } from 'vitest';
import { decodeFrames, fromHalf } from './decode';
import { SizedCache } from './frames';
import { readLink, writeLink } from './link';
import { matching } from './bodylist';
import { Player } from './player';
import { ticks, valueAt } from './plots';
import { quartersOf } from './quarters';
import type { Model } from './model';

const model = { bodies: { name: ['Floor', 'red ball'] }, elastic: [{ name: 'Pad' }], joints: [] } as unknown as Model;

/** Bytes as docs/view.md describes them: one still body, one that moves 3 quanta in x and turns by half about z. */
function piece(): ArrayBuffer {
  const bytes: number[] = [];
  const push = (array: ArrayBufferView) => bytes.push(...new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  const planes = (values: number[], size: number) => {
    for (let k = 0; k < size; k++) for (const v of values) bytes.push((v >> (8 * k)) & 255);
  };
  push(new Uint32Array([0x31464e54, 2]));
  push(new Float64Array([0, 0.5]));
  push(new Uint32Array([4, 5]));
  push(new Uint32Array([40, 50]));
  push(new Float64Array([0.25]));
  push(new Uint32Array([1, 1, 0, 0]));
  push(new Uint32Array([1]));
  push(new Uint32Array([0]));
  planes([100, -4, 0, 3, 0, 0], 4);
  planes([0, 0, 0, 32767, 0, 0, 32767, -32767], 2);
  planes([0x3c00, 0, 0, 0, 0, 0, 0xc000, 0, 0, 0, 0, 0], 2);
  planes([8, 0, 0], 4);
  planes([0, 0, 0, 32767], 2);
  return new Uint8Array(bytes).buffer;
}

describe('pieces', () => {
  it('adds differences, in quanta', () => {
    const chunk = decodeFrames(piece(), model);
    expect([...chunk.position]).toEqual([25, -1, 0, 25.75, -1, 0]);
    expect([...chunk.rotation.slice(4)]).toEqual([0, 0, 1, 0]);
    expect([...chunk.stillPosition]).toEqual([2, 0, 0]);
    expect(chunk.slot[1]).toBe(0);
    expect(chunk.slot[0]).toBe(-1);
    expect(chunk.velocityOf(1, 0, new Float64Array(6))[0]).toBe(1);
    expect(chunk.velocityOf(1, 1, new Float64Array(6))[0]).toBe(-2);
    expect(chunk.velocityOf(0, 1, new Float64Array(6))[0]).toBe(0);
    expect([...chunk.head.numbers]).toEqual([4, 5]);
  });
  it('refuses what is cut off or something else', () => {
    expect(() => decodeFrames(piece().slice(0, 100), model)).toThrow();
    expect(() => decodeFrames(new ArrayBuffer(64), model)).toThrow(/not what was asked/);
  });
  it('reads half precision', () => {
    expect(fromHalf(0x3c00)).toBe(1);
    expect(fromHalf(0x0001)).toBe(2 ** -24);
    expect(fromHalf(0x7bff)).toBe(65504);
  });
});

describe('memory', () => {
  it('gives up what was used longest ago', () => {
    const cache = new SizedCache<number>(40);
    for (let i = 0; i < 4; i++) cache.set(`${i}`, i, 10);
    cache.get('0');
    cache.set('4', 4, 10);
    expect(cache.get('0')).toBe(0);
    expect(cache.get('1')).toBeUndefined();
    expect(cache.bytes).toBe(40);
  });
});

describe('links', () => {
  it('come back as they were, whatever the name', () => {
    const state = { time: 1.25, eye: [1, 2, 3], target: [0, 0, 0.5], selected: 'a&b=c #"\n<i>', color: 'speed', show: ['forces'] };
    expect(readLink(writeLink(state))).toEqual(state);
    expect(readLink('#t=x&cam=1,2')).toEqual({});
  });
});

describe('player', () => {
  it('rests at the end, then loops', () => {
    const player = new Player();
    player.end = 1;
    player.toggle();
    player.advance(1.2);
    expect(player.shown).toBe(1);
    player.advance(0.3);
    expect(player.shown).toBe(0);
    player.loop = false;
    player.advance(2);
    expect(player.playing).toBe(false);
  });
});

describe('plots and lists', () => {
  it('divides ranges at round numbers', () => {
    expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
    expect(valueAt({ name: '', unit: '', time: [0, 1, 2], value: [0, 10, 0] }, 1.5)).toBe(5);
  });
  it('finds names whatever their case', () => {
    expect(matching(model, 'BALL')).toEqual([1]);
    expect(matching(model, 'pad')).toEqual([2]);
  });
});

describe('quarters', () => {
  const ring = (y: number) => Array.from({ length: 24 }, (_, k) => [Math.cos((k * Math.PI) / 12), y, Math.sin((k * Math.PI) / 12)]).flat();
  it('tells a disc by its axis, and leaves other shapes alone', () => {
    const disc = new Float32Array([...ring(-0.1), ...ring(0.1), 0, -0.1, 0, 0, 0.1, 0]);
    expect(quartersOf(disc, [0, 0, 0])).toEqual([1, 0, 1]);
    expect(quartersOf(disc.map((v, i) => (i % 3 === 0 ? 2 * v : v)), [0, 0, 0])).toBeUndefined();
    expect(quartersOf(new Float32Array(24), [0, 0, 0])).toBeUndefined();
    const corners = [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z) => [x, y, z])));
    const box = Float32Array.from([...corners, ...corners, ...corners].flat()); // a corner for each of its faces
    expect(quartersOf(box, [0, 0, 0])).toBeUndefined();
  });
});
