// Balls and discs look the same however they turn: their quarters are painted in two shades, as `tenon render` does.
import * as THREE from 'three';

const FEWEST_VERTICES = 20; // fewer make a polyhedron that shows how it turns
const AS_ROUND = 0.02;

/** Different places among corners, counted up to what matters: a box has 24 corners at 8 places. */
function places(positions: Float32Array): number {
  const seen = new Set<string>();
  for (let i = 0; i < positions.length && seen.size < FEWEST_VERTICES; i += 3) seen.add(`${positions[i]} ${positions[i + 1]} ${positions[i + 2]}`);
  return seen.size;
}

/** Which coordinates' signs tell the quarters apart; undefined: the shape is neither a ball nor a disc. */
export function quartersOf(positions: Float32Array, center: readonly number[]): [number, number, number] | undefined {
  if (positions.length < 3 * FEWEST_VERTICES || places(positions) < FEWEST_VERTICES) return undefined;
  const round = (across: readonly number[]): boolean => {
    const ball = across.every((a) => a);
    const distances = new Float32Array(positions.length / 3);
    for (let i = 0; i < distances.length; i++)
      distances[i] = Math.hypot(...across.map((a, k) => a * (positions[3 * i + k] - center[k])));
    const largest = distances.reduce((a, b) => Math.max(a, b), 0);
    return distances.every((r) => r >= (1 - AS_ROUND) * largest || (!ball && r <= AS_ROUND * largest));
  };
  const choices: [number, number, number][] = [[1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]];
  return choices.find(round);
}

/** Two shades on a material, switched by `on`: colours that stand for numbers stay as they are. */
export function addQuarters(material: THREE.Material, signs: readonly number[], center: readonly number[], on: THREE.IUniform<boolean>): void {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.quarterSigns = { value: new THREE.Vector3(...signs) };
    shader.uniforms.quarterCenter = { value: new THREE.Vector3(...center) };
    shader.uniforms.quartersOn = on;
    shader.vertexShader = 'uniform vec3 quarterCenter;\nvarying vec3 quarterPoint;\n' + shader.vertexShader.replace(
      '#include <begin_vertex>', '#include <begin_vertex>\nquarterPoint = position - quarterCenter;');
    shader.fragmentShader = 'uniform vec3 quarterSigns;\nuniform bool quartersOn;\nvarying vec3 quarterPoint;\n' +
      shader.fragmentShader.replace('#include <color_fragment>', `#include <color_fragment>
        if (quartersOn && mod(dot(quarterSigns, vec3(lessThan(quarterPoint, vec3(0.0)))), 2.0) == 1.0)
          diffuseColor.rgb = dot(diffuseColor.rgb, vec3(0.21, 0.72, 0.07)) < 0.35
            ? mix(diffuseColor.rgb, vec3(1.0), 0.30) : 0.55 * diffuseColor.rgb;`);
  };
  material.customProgramCacheKey = () => 'quarters';
}
