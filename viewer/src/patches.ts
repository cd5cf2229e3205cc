// Pressure of contact: the normal forces of a pair of bodies over the area that its contact points span.
import * as THREE from 'three';
import type { FrameContacts } from './decode';

export interface Patch {
  a: number;
  b: number;
  points: number;
  force: number; // normal, on b, in N
  area: number; // m^2; 0 where bodies touch in a point or along a line
  center: THREE.Vector3;
  normal: THREE.Vector3; // from a to b
}

const SAME_SIDE = Math.cos(Math.PI / 4); // contacts of one pair with normals further apart are different patches
const NO_AREA = 1e-6; // of the square of a patch's length: a line, apart from rounding

/** Area of the convex hull of points in a plane. */
export function hullArea(points: [number, number][]): number {
  const sorted = [...points].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  const turn = (o: [number, number], p: [number, number], q: [number, number]) => (p[0] - o[0]) * (q[1] - o[1]) - (p[1] - o[1]) * (q[0] - o[0]);
  const chain = (list: [number, number][]) => {
    const kept: [number, number][] = [];
    for (const p of list) {
      while (kept.length > 1 && turn(kept[kept.length - 2], kept[kept.length - 1], p) <= 0) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  const hull = [...chain(sorted), ...chain(sorted.reverse())];
  let twice = 0;
  hull.forEach((p, i) => {
    const q = hull[(i + 1) % hull.length];
    twice += p[0] * q[1] - p[1] * q[0];
  });
  return Math.abs(twice) / 2;
}

/** Area of points seen along a normal. */
function spannedArea(contacts: FrameContacts, members: number[], normal: THREE.Vector3): number {
  const side = new THREE.Vector3(Math.abs(normal.x) < 0.6 ? 1 : 0, Math.abs(normal.x) < 0.6 ? 0 : 1, 0).cross(normal).normalize();
  const other = normal.clone().cross(side);
  const point = new THREE.Vector3();
  const first = new THREE.Vector3().fromArray(contacts.numbers, 10 * members[0]);
  let reach = 0;
  const flat = members.map((i): [number, number] => {
    point.fromArray(contacts.numbers, 10 * i).sub(first);
    reach = Math.max(reach, point.length());
    return [point.dot(side), point.dot(other)];
  });
  const area = hullArea(flat);
  return area > NO_AREA * reach * reach ? area : 0;
}

/** The patches of a frame. */
export function patchesOf(contacts: FrameContacts): Patch[] {
  const groups = new Map<string, { members: number[]; normal: THREE.Vector3 }[]>();
  const normal = new THREE.Vector3();
  for (let i = 0; i < contacts.count; i++) {
    normal.fromArray(contacts.numbers, 10 * i + 3);
    const key = `${contacts.pairs[2 * i]} ${contacts.pairs[2 * i + 1]}`;
    const list = groups.get(key) ?? [];
    groups.set(key, list);
    const group = list.find((g) => g.normal.dot(normal) > SAME_SIDE);
    if (group) group.members.push(i);
    else list.push({ members: [i], normal: normal.clone() });
  }
  return [...groups.values()].flat().map(({ members, normal: along }) => patchOf(contacts, members, along));
}

function patchOf(contacts: FrameContacts, members: number[], along: THREE.Vector3): Patch {
  const n = contacts.numbers;
  const center = new THREE.Vector3();
  const mean = new THREE.Vector3();
  const [point, normal, pull] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
  let force = 0;
  for (const i of members) {
    const part = Math.max(0, pull.fromArray(n, 10 * i + 6).dot(normal.fromArray(n, 10 * i + 3)));
    center.addScaledVector(point.fromArray(n, 10 * i), part);
    mean.addScaledVector(normal, part);
    force += part;
  }
  if (force > 0) center.divideScalar(force);
  else center.fromArray(n, 10 * members[0]);
  const direction = mean.lengthSq() > 0 ? mean.normalize() : along.clone();
  return {
    a: contacts.pairs[2 * members[0]], b: contacts.pairs[2 * members[0] + 1], points: members.length, force,
    area: members.length > 2 ? spannedArea(contacts, members, direction) : 0, center, normal: direction,
  };
}
