// What is drawn beside the bodies: contact points and forces, joint frames, the trail and mark of the chosen body.
import * as THREE from 'three';
import { ACCENT } from './colors';
import type { Bodies3D } from './bodies3d';
import type { FrameContacts } from './decode';
import type { FrameStore } from './frames';
import type { Model } from './model';

export const HELPERS = 1; // layer of all that cannot be picked

const MOST_ARROWS = 20000;
const up = new THREE.Vector3(0, 1, 0);
const direction = new THREE.Vector3();
const turn = new THREE.Quaternion();
const place = new THREE.Vector3();
const scale = new THREE.Vector3();
const matrix = new THREE.Matrix4();

export class Overlays {
  readonly group = new THREE.Group();
  private shafts: THREE.InstancedMesh;
  private heads: THREE.InstancedMesh;
  private dots: THREE.InstancedMesh;
  private joints: THREE.LineSegments;
  private trail: THREE.Line;
  private mark = new THREE.Group();
  private marked = -2;
  private longest = 0;
  arrowCount = 0;

  constructor(private model: Model, private bodies: Bodies3D, private size: number) {
    const red = new THREE.MeshBasicMaterial({ color: '#ff4d4d' });
    const yellow = new THREE.MeshBasicMaterial({ color: '#ffd23f' });
    const shaft = new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0);
    const head = new THREE.ConeGeometry(1, 1, 12).translate(0, 0.5, 0);
    this.shafts = new THREE.InstancedMesh(shaft, red, MOST_ARROWS);
    this.heads = new THREE.InstancedMesh(head, red, MOST_ARROWS);
    this.dots = new THREE.InstancedMesh(new THREE.OctahedronGeometry(1, 1), yellow, MOST_ARROWS);
    this.joints = new THREE.LineSegments(
      new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }),
    );
    this.trail = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: ACCENT }));
    for (const object of [this.shafts, this.heads, this.dots, this.joints, this.trail]) {
      object.frustumCulled = false;
      this.group.add(object);
    }
    this.group.add(this.mark);
    this.joints.renderOrder = 2;
    this.group.traverse((object) => object.layers.set(HELPERS));
    this.showContacts(undefined, false, false);
  }

  /** Points, and forces on the second body of each pair: the longest ever seen is a fifth of the scene. */
  showContacts(contacts: FrameContacts | undefined, points: boolean, forces: boolean, factor = 1): void {
    const count = contacts ? Math.min(contacts.count, MOST_ARROWS) : 0;
    this.dots.visible = points && count > 0;
    this.shafts.visible = this.heads.visible = forces && count > 0;
    this.arrowCount = forces ? count : 0;
    this.dots.count = this.shafts.count = this.heads.count = count;
    if (!contacts || !count) return;
    const n = contacts.numbers;
    for (let i = 0; i < count; i++)
      this.longest = Math.max(this.longest, Math.hypot(n[10 * i + 6], n[10 * i + 7], n[10 * i + 8]));
    const length = (0.2 * this.size * factor) / (this.longest || 1);
    const radius = 0.0022 * this.size;
    for (let i = 0; i < count; i++) {
      place.fromArray(n, 10 * i);
      direction.fromArray(n, 10 * i + 6);
      const force = direction.length();
      const long = force * length;
      turn.setFromUnitVectors(up, force > 0 ? direction.divideScalar(force) : up);
      const tip = Math.min(5 * radius, long);
      this.dots.setMatrixAt(i, matrix.compose(place, turn, scale.setScalar(1.6 * radius)));
      this.shafts.setMatrixAt(i, matrix.compose(place, turn, scale.set(0.6 * radius, Math.max(1e-9, long - tip), 0.6 * radius)));
      place.addScaledVector(direction, long - tip);
      this.heads.setMatrixAt(i, matrix.compose(place, turn, scale.set(0.4 * tip, tip || 1e-9, 0.4 * tip)));
    }
    for (const mesh of [this.dots, this.shafts, this.heads]) mesh.instanceMatrix.needsUpdate = true;
  }

  /** Axes of each joint at its first body, and a red line where the two anchors are apart. */
  showJoints(on: boolean): void {
    this.joints.visible = on && this.model.joints.length > 0;
    if (!this.joints.visible) return;
    const positions: number[] = [];
    const colors: number[] = [];
    const arm = 0.05 * this.size;
    const other = new THREE.Vector3();
    const end = new THREE.Vector3();
    const start = new THREE.Vector3();
    const world = new THREE.Matrix4();
    const axisColors = [[1, 0.55, 0.15], [0.45, 0.8, 0.4], [0.35, 0.6, 1]];
    const add = (from: THREE.Vector3, to: THREE.Vector3, c: number[]) => {
      positions.push(from.x, from.y, from.z, to.x, to.y, to.z);
      colors.push(...c, ...c);
    };
    for (const joint of this.model.joints) {
      const poseA = joint.a >= 0 ? this.bodies.matrixOf(joint.a, matrix) : matrix.identity();
      place.fromArray(joint.point_a).applyMatrix4(poseA);
      for (let k = 0; k < 3; k++) {
        end.fromArray(joint.frame_a, 3 * k).transformDirection(poseA);
        end.multiplyScalar(k === 0 ? arm : 0.45 * arm);
        // the axis goes through the joint, the normals begin there
        start.copy(place);
        if (k === 0) start.sub(end);
        add(start, end.add(place), axisColors[k]);
      }
      other.fromArray(joint.point_b);
      if (joint.b >= 0) other.applyMatrix4(this.bodies.matrixOf(joint.b, world));
      add(place, other, [1, 0.2, 0.2]);
    }
    const geometry = this.joints.geometry;
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
  }

  /** Where a body's centre has been in the last seconds, as far as those frames are here. */
  showTrail(body: number, frames: FrameStore, index: number, seconds: number): void {
    this.trail.visible = body >= 0 && body < this.model.bodies.name.length && seconds > 0;
    if (!this.trail.visible) return;
    const points: number[] = [];
    const since = frames.times[index] - seconds;
    for (let i = index; i >= 0 && frames.times[i] >= since; i--) {
      const chunk = frames.chunkOf(i);
      if (!chunk) break;
      const slot = chunk.slot[body];
      const from = slot >= 0 ? chunk.position : chunk.stillPosition;
      const at = slot >= 0 ? (i % this.model.chunk_frames) * chunk.moving.length + slot : ~slot;
      points.push(from[3 * at], from[3 * at + 1], from[3 * at + 2]);
    }
    this.trail.geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
    this.trail.geometry.setDrawRange(0, points.length / 3);
  }

  /** The chosen body: tinted, with its sharp edges drawn. */
  showMark(body: number): void {
    if (body !== this.marked) {
      this.mark.clear();
      this.marked = body;
      if (body < 0) return;
      const mesh = this.bodies.meshOf(body);
      mesh.material = new THREE.MeshBasicMaterial({
        color: ACCENT, transparent: true, opacity: 0.32, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -1,
        depthWrite: false,
      });
      this.mark.add(mesh);
      const index = mesh.geometry.getIndex();
      if (body < this.model.bodies.name.length && index && index.count < 120000) {
        const edges = new THREE.LineSegments(new THREE.EdgesGeometry(mesh.geometry, 30), new THREE.LineBasicMaterial({ color: ACCENT }));
        edges.matrixAutoUpdate = false;
        this.mark.add(edges);
      }
      this.mark.traverse((object) => object.layers.set(HELPERS));
    }
    if (body < 0) return;
    const hidden = this.bodies.hidden.has(body);
    for (const child of this.mark.children) {
      child.visible = !hidden;
      if (body < this.model.bodies.name.length) {
        this.bodies.matrixOf(body, child.matrix);
        child.matrixWorldNeedsUpdate = true;
      }
    }
  }
}
