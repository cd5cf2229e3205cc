// How far a joint's two anchors are apart in the directions in which they must not be.
import type * as THREE from 'three';

/** `apart` leads from the first anchor to the second; becomes the gap. False: this type has none. */
export function toGap(type: string, apart: THREE.Vector3, axis: THREE.Vector3): boolean {
  if (type === 'coupling' || type === 'distance') return false;
  const along = apart.dot(axis);
  if (type === 'prismatic' || type === 'cylindrical') apart.addScaledVector(axis, -along);
  if (type === 'planar') apart.copy(axis).multiplyScalar(along);
  return true;
}
