// Where bodies' centres have been in the last seconds, coloured by their speed then.
import * as THREE from 'three';
import { scaleLinear } from './colors';
import type { FrameStore } from './frames';

const MOST_BODIES = 300;
const MOST_POINTS = 400; // of a body: longer trails leave frames out

export class Trails {
  readonly lines = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true }));
  segments = 0;

  /** Of these bodies, as far as the frames are here. */
  show(bodies: readonly number[], frames: FrameStore, index: number, seconds: number): void {
    this.lines.visible = bodies.length > 0 && seconds > 0;
    this.segments = 0;
    if (!this.lines.visible) return;
    const since = frames.times[index] - seconds;
    const times: number[] = [];
    for (let i = index; i >= 0 && frames.times[i] >= since && frames.chunkOf(i); i--) times.push(i);
    const every = Math.ceil(times.length / MOST_POINTS);
    const shown = times.filter((_, k) => k % every === 0);
    const positions: number[] = [];
    const colors: number[] = [];
    for (const body of bodies.slice(0, MOST_BODIES)) this.add(body, frames, shown, positions, colors);
    this.segments = positions.length / 6;
    const { geometry } = this.lines;
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  }

  private add(body: number, frames: FrameStore, shown: number[], positions: number[], colors: number[]): void {
    const velocity = new Float64Array(6);
    let last: number[] | undefined;
    for (const i of shown) {
      const chunk = frames.chunkOf(i);
      if (!chunk) return;
      const frame = i % frames.pieceFrames;
      const slot = chunk.slot[body];
      const from = slot >= 0 ? chunk.position : chunk.stillPosition;
      const at = 3 * (slot >= 0 ? frame * chunk.moving.length + slot : ~slot);
      const point = [from[at], from[at + 1], from[at + 2]];
      chunk.velocityOf(body, frame, velocity);
      const color = scaleLinear(Math.hypot(velocity[0], velocity[1], velocity[2]) / (frames.maxSpeed || 1));
      const next = [...point, color.r, color.g, color.b];
      if (last && point.some((x, k) => x !== last![k])) {
        positions.push(last[0], last[1], last[2], ...point);
        colors.push(last[3], last[4], last[5], color.r, color.g, color.b);
      }
      last = next;
    }
  }
}
