// What is drawn beside the bodies: contact points, forces and pressures, joint frames, trails, the mark of the chosen body.
import * as THREE from 'three';
import { ACCENT } from './colors';
import type { Bodies3D } from './bodies3d';
import type { FrameContacts } from './decode';
import { toGap } from './jointgap';
import type { Model } from './model';
import type { Patch } from './patches';
import { Trails } from './trails';

export const HELPERS = 1; // layer of all that cannot be picked

const MOST_ARROWS = 20000;
const up = new THREE.Vector3(0, 1, 0);
const direction = new THREE.Vector3();
const turn = new THREE.Quaternion();
const place = new THREE.Vector3();
const scale = new THREE.Vector3();
const matrix = new THREE.Matrix4();

/** Arrows that share a colour; the longest value ever seen is a fifth of the scene. */
class Arrows {
  readonly group = new THREE.Group();
  private shafts: THREE.InstancedMesh;
  private heads: THREE.InstancedMesh;
  largest = 0;

  constructor(color: string, most: number, private size: number) {
    // over what hides them: they begin where two bodies meet
    const material = new THREE.MeshBasicMaterial({ color, depthTest: false, transparent: true });
    this.shafts = new THREE.InstancedMesh(new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), material, most);
    this.heads = new THREE.InstancedMesh(new THREE.ConeGeometry(1, 1, 12).translate(0, 0.5, 0), material, most);
    for (const mesh of [this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.renderOrder = 3;
      this.group.add(mesh);
    }
  }

  /** `at` gives the place of the i-th, and the vector it shows. */
  show(count: number, factor: number, at: (i: number, place: THREE.Vector3, vector: THREE.Vector3) => void): void {
    this.group.visible = count > 0;
    this.shafts.count = this.heads.count = count;
    for (let i = 0; i < count; i++) {
      at(i, place, direction);
      this.largest = Math.max(this.largest, direction.length());
    }
    const length = (0.2 * this.size * factor) / (this.largest || 1);
    const radius = 0.0022 * this.size;
    for (let i = 0; i < count; i++) {
      at(i, place, direction);
      const value = direction.length();
      const long = value * length;
      turn.setFromUnitVectors(up, value > 0 ? direction.divideScalar(value) : up);
      const tip = Math.min(5 * radius, long);
      this.shafts.setMatrixAt(i, matrix.compose(place, turn, scale.set(0.6 * radius, Math.max(1e-9, long - tip), 0.6 * radius)));
      place.addScaledVector(direction, long - tip);
      this.heads.setMatrixAt(i, matrix.compose(place, turn, scale.set(0.4 * tip, tip || 1e-9, 0.4 * tip)));
    }
    for (const mesh of [this.shafts, this.heads]) mesh.instanceMatrix.needsUpdate = true;
  }
}

export class Overlays {
  readonly group = new THREE.Group();
  readonly trails = new Trails();
  private forces: Arrows;
  private pressures: Arrows;
  private dots: THREE.InstancedMesh;
  private joints: THREE.LineSegments;
  private mark = new THREE.Group();
  private marked = -2;
  arrowCount = 0;
  largestForce = 0; // N, of those shown so far
  pressureCount = 0;
  largestPressure = 0; // Pa, of those shown so far

  constructor(private model: Model, private bodies: Bodies3D, private size: number) {
    const yellow = new THREE.MeshBasicMaterial({ color: '#ffd23f' });
    this.forces = new Arrows('#ff4d4d', MOST_ARROWS, size);
    this.pressures = new Arrows('#3d7dff', MOST_ARROWS, size);
    this.dots = new THREE.InstancedMesh(new THREE.OctahedronGeometry(1, 1), yellow, MOST_ARROWS);
    this.joints = new THREE.LineSegments(
      new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }),
    );
    for (const object of [this.dots, this.joints, this.trails.lines]) {
      object.frustumCulled = false;
      this.group.add(object);
    }
    this.group.add(this.mark, this.forces.group, this.pressures.group);
    this.joints.renderOrder = 2;
    this.group.traverse((object) => object.layers.set(HELPERS));
    this.showContacts(undefined, false, false);
    this.showPressures([]);
  }

  /** Points, and forces on the second body of each pair. */
  showContacts(contacts: FrameContacts | undefined, points: boolean, forces: boolean, factor = 1): void {
    const count = contacts ? Math.min(contacts.count, MOST_ARROWS) : 0;
    const n = contacts?.numbers ?? new Float32Array(0);
    this.arrowCount = forces ? count : 0;
    this.forces.show(this.arrowCount, factor, (i, at, force) => {
      at.fromArray(n, 10 * i);
      force.fromArray(n, 10 * i + 6);
    });
    this.largestForce = this.forces.largest;
    this.dots.visible = points && count > 0;
    if (!this.dots.visible) return;
    this.dots.count = count;
    for (let i = 0; i < count; i++)
      this.dots.setMatrixAt(i, matrix.compose(place.fromArray(n, 10 * i), turn.identity(), scale.setScalar(0.0035 * this.size)));
    this.dots.instanceMatrix.needsUpdate = true;
  }

  /** An arrow on the second body of each patch that has an area, as long as the mean pressure there. */
  showPressures(patches: Patch[], factor = 1): void {
    const wide = patches.filter((patch) => patch.area > 0).slice(0, MOST_ARROWS);
    this.pressures.show(wide.length, factor, (i, at, vector) => {
      at.copy(wide[i].center);
      vector.copy(wide[i].normal).multiplyScalar(wide[i].force / wide[i].area);
    });
    this.pressureCount = wide.length;
    this.largestPressure = this.pressures.largest;
  }

  /** Axes of each joint at its first body, and a red line for its gap. */
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
      if (joint.type === 'coupling') continue; // ties other joints and has no place
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
      if (joint.type === 'distance') add(place, other, [0.55, 0.58, 0.63]);
      const axis = direction.fromArray(joint.frame_a).transformDirection(poseA);
      if (toGap(joint.type, end.copy(other).sub(place), axis)) add(place, end.add(place), [1, 0.2, 0.2]);
    }
    const geometry = this.joints.geometry;
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(positions, 3));
    geometry.setAttribute('color', new THREE.Float32BufferAttribute(colors, 3));
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
