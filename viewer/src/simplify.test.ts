import { describe, expect, it } from 'vitest';
import { shares, simplified, type Mesh } from './simplify';

/** A torus of radii 1 and 0.25 about z. */
function torus(around: number, across: number): Mesh {
  const positions: number[] = [];
  const normals: number[] = [];
  const indices: number[] = [];
  for (let i = 0; i < around; i++)
    for (let j = 0; j < across; j++) {
      const [a, b] = [(2 * Math.PI * i) / around, (2 * Math.PI * j) / across];
      const normal = [Math.cos(a) * Math.cos(b), Math.sin(a) * Math.cos(b), Math.sin(b)];
      positions.push(Math.cos(a) + 0.25 * normal[0], Math.sin(a) + 0.25 * normal[1], 0.25 * normal[2]);
      normals.push(...normal.map((x) => Math.round(127 * x)), 0);
      const at = (p: number, q: number) => (p % around) * across + (q % across);
      indices.push(at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j), at(i + 1, j + 1), at(i, j + 1));
    }
  return { positions: Float32Array.from(positions), normals: Int8Array.from(normals), indices: Uint32Array.from(indices) };
}

describe('coarser shapes', () => {
  it('keep to their number of triangles, their place and their hole', () => {
    const ring = torus(48, 16);
    const coarse = simplified(ring, 120);
    expect(coarse.indices.length / 3).toBeLessThanOrEqual(120);
    expect(coarse.indices.length / 3).toBeGreaterThan(30);
    expect(Math.max(...coarse.indices)).toBeLessThan(coarse.positions.length / 3);
    for (let v = 0; v < coarse.positions.length; v += 3) {
      const radius = Math.hypot(coarse.positions[v], coarse.positions[v + 1]);
      expect(radius).toBeGreaterThan(0.6);
      expect(radius).toBeLessThanOrEqual(1.2501);
    }
    expect(simplified(ring, ring.indices.length / 3)).toBe(ring);
  });
  it('share a budget in proportion', () => {
    expect(shares([400, 12], [1000, 1000], 1e6)).toEqual([400, 12]);
    expect(shares([400, 1200], [27500, 10], 1.1e6)).toEqual([39, 1200]);
  });
});
