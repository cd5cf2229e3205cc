import { describe, expect, it } from 'vitest';
import { Vector3 } from 'three';
import type { FrameContacts } from './decode';
import { toGap } from './jointgap';
import { hullArea, patchesOf } from './patches';

/** Contacts of body 0 with body 1 from rows of point, normal, force. */
function contacts(rows: number[][]): FrameContacts {
  return {
    total: rows.length, count: rows.length, pairs: Int32Array.from(rows.flatMap(() => [0, 1])),
    numbers: Float32Array.from(rows.flatMap((row) => [...row, 0])), joints: new Float32Array(0),
  };
}

describe('patches', () => {
  it('spread the normal force over the hull of their points', () => {
    const corner = (x: number, z: number, f: number) => [x, 0, z, 0, 1, 0, 3, f, 0];
    const [patch, ...others] = patchesOf(contacts([corner(0, 0, 10), corner(2, 0, 10), corner(2, 1, 10), corner(0, 1, 10), corner(1, 0.5, 0)]));
    expect(others).toEqual([]);
    expect(patch.area).toBeCloseTo(2, 12);
    expect(patch.force).toBeCloseTo(40, 12); // friction is not pressure
    expect(patch.center.toArray()).toEqual([1, 0, 0.5]);
    expect(patch.normal.toArray()).toEqual([0, 1, 0]);
  });
  it('are told apart by their normals, and have no area along a line', () => {
    const list = patchesOf(contacts([[0, 0, 0, 0, 1, 0, 0, 5, 0], [1, 0, 0, 0, 1, 0, 0, 5, 0], [2, 0, 1e-9, 0, 1, 0, 0, 5, 0], [0, 0, 0, 1, 0, 0, 7, 0, 0]]));
    expect(list.map((patch) => [patch.points, patch.area, patch.force])).toEqual([[3, 0, 15], [1, 0, 7]]);
  });
  it('have the hull of a cross', () => {
    expect(hullArea([[1, 0], [-1, 0], [0, 1], [0, -1], [0, 0], [0.5, 0.5]])).toBeCloseTo(2, 12);
    expect(hullArea([[0, 0]])).toBe(0);
  });
});

describe('gaps of joints', () => {
  const gap = (type: string) => {
    const apart = new Vector3(3, 4, 0);
    return toGap(type, apart, new Vector3(1, 0, 0)) ? apart.length() : undefined;
  };
  it('count only in directions that the type closes', () => {
    expect(['hinge', 'prismatic', 'planar', 'distance', 'coupling'].map(gap)).toEqual([5, 4, 3, undefined, undefined]);
  });
});
