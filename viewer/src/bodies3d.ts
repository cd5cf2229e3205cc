// Bodies as instances of shared shapes, elastic solids as meshes of their own.
import * as THREE from 'three';
import { paletteColor, scaleLinear, NEUTRAL, type ColorMode } from './colors';
import type { FrameContacts } from './decode';
import type { FrameStore, Moment } from './frames';
import { bodyCount, type Model } from './model';
import { addQuarters, quartersOf } from './quarters';
import { shares, simplified } from './simplify';

export interface ColorRange {
  low: number;
  high: number;
  unit: string;
  title: string;
}

const color = new THREE.Color();
const velocity = new Float64Array(6);

interface Place {
  mesh: THREE.InstancedMesh;
  index: number;
}

interface Solid {
  mesh: THREE.Mesh;
  triangles: Uint32Array;
  firstVertex: number;
  firstTriangle: number;
}

export class Bodies3D {
  readonly group = new THREE.Group();
  readonly geometries: THREE.BufferGeometry[] = [];
  readonly hidden = new Set<number>();
  private places: Place[] = [];
  private meshes: THREE.InstancedMesh[] = [];
  private solids: Solid[] = [];
  private materials: THREE.MeshLambertMaterial[] = [];
  private matrices: Float32Array; // of all bodies, as last drawn: 16 numbers each
  private quartersOn = { value: true };
  private maxForce = 0;
  private maxField: Record<string, number> = {};
  triangles = 0; // as drawn
  recordedTriangles = 0;

  /** `budget`: triangles that can be drawn; beyond it shapes are drawn coarser. */
  constructor(private model: Model, geometry: ArrayBuffer, private budget = Infinity) {
    this.matrices = new Float32Array(16 * model.bodies.name.length);
    const at = this.addShapes(geometry);
    this.addSolids(geometry, at);
  }

  private material(closed: boolean): THREE.MeshLambertMaterial {
    const material = new THREE.MeshLambertMaterial({
      side: closed ? THREE.FrontSide : THREE.DoubleSide,
    });
    material.userData.side = material.side;
    this.materials.push(material);
    return material;
  }

  private addShapes(buffer: ArrayBuffer): number {
    const { shape } = this.model.bodies;
    const members: number[][] = this.model.shapes.map(() => []);
    shape.forEach((s, body) => members[s].push(body));
    let at = 0;
    const allowed = shares(this.model.shapes.map((info) => info.indices / 3), members.map((list) => list.length), this.budget);
    this.places = new Array(shape.length);
    this.model.shapes.forEach((info, s) => {
      const geometry = new THREE.BufferGeometry();
      const positions = new Float32Array(buffer, at, 3 * info.vertices);
      at += 12 * info.vertices;
      const normals = new Int8Array(buffer, at, 4 * info.vertices);
      at += 4 * info.vertices;
      const indices = new Uint32Array(buffer, at, info.indices);
      at += 4 * info.indices;
      const drawn = simplified({ positions, normals, indices }, allowed[s]);
      geometry.setAttribute('position', new THREE.BufferAttribute(drawn.positions, 3));
      geometry.setAttribute('normal', new THREE.InterleavedBufferAttribute(new THREE.InterleavedBuffer(drawn.normals, 4), 3, 0, true));
      geometry.setIndex(new THREE.BufferAttribute(drawn.positions.length < 3 * 65536 ? new Uint16Array(drawn.indices) : drawn.indices, 1));
      geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(...info.center), info.radius);
      this.geometries.push(geometry);
      const bodies = members[s];
      if (!bodies.length || !info.indices) return;
      geometry.setAttribute('bodyId', new THREE.InstancedBufferAttribute(Float32Array.from(bodies), 1));
      const coarse = drawn.positions !== positions;
      const material = this.material(info.closed && !coarse);
      material.flatShading = coarse; // the two sides of a thin part may share a corner, whose normal is then none
      const quarters = info.closed && !coarse && bodies.some((body) => this.model.bodies.type[body] !== 1) && quartersOf(positions, info.center);
      if (quarters) addQuarters(material, quarters, info.center, this.quartersOn);
      const mesh = new THREE.InstancedMesh(geometry, material, bodies.length);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * bodies.length).fill(1), 3);
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      bodies.forEach((body, index) => (this.places[body] = { mesh, index }));
      this.triangles += (bodies.length * drawn.indices.length) / 3;
      this.recordedTriangles += (bodies.length * info.indices) / 3;
      this.meshes.push(mesh);
      this.group.add(mesh);
    });
    return at;
  }

  private addSolids(buffer: ArrayBuffer, start: number): void {
    let at = start;
    let firstVertex = 0;
    let firstTriangle = 0;
    this.model.elastic.forEach((info, e) => {
      const triangles = new Uint32Array(buffer, at, 3 * info.triangles);
      at += 12 * info.triangles;
      const geometry = new THREE.BufferGeometry();
      // corners of their own, so that each element can have its colour
      const corners = 3 * info.triangles;
      for (const name of ['position', 'normal', 'color'])
        geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * corners).fill(1), 3).setUsage(THREE.DynamicDrawUsage));
      const id = this.model.bodies.name.length + e;
      geometry.setAttribute('bodyId', new THREE.BufferAttribute(new Float32Array(corners).fill(id), 1));
      const material = this.material(false);
      material.vertexColors = true;
      const mesh = new THREE.Mesh(geometry, material);
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      this.solids.push({ mesh, triangles, firstVertex, firstTriangle });
      this.group.add(mesh);
      firstVertex += info.vertices;
      firstTriangle += info.triangles;
      this.triangles += info.triangles;
      this.recordedTriangles += info.triangles;
    });
  }

  setLook(wireframe: boolean, clipped: boolean): void {
    for (const material of this.materials) {
      material.wireframe = wireframe;
      material.side = clipped ? THREE.DoubleSide : material.userData.side;
      material.needsUpdate = true;
    }
  }

  setShadows(on: boolean): void {
    for (const mesh of [...this.meshes, ...this.solids.map((s) => s.mesh)]) mesh.castShadow = on;
  }

  /** Writes the poses of a moment into the instances. */
  pose(moment: Moment): void {
    const bodies = this.places.length;
    for (let body = 0; body < bodies; body++) {
      this.poseBody(moment, body);
      const place = this.places[body];
      if (!place) continue;
      const to = place.mesh.instanceMatrix.array as Float32Array;
      if (this.hidden.has(body)) to.fill(0, 16 * place.index, 16 * place.index + 16);
      else to.set(this.matrices.subarray(16 * body, 16 * body + 16), 16 * place.index);
    }
    for (const mesh of this.meshes) mesh.instanceMatrix.needsUpdate = true;
    this.poseSolids(moment);
  }

  private poseBody(moment: Moment, body: number): void {
    const m = this.matrices;
    const o = 16 * body;
    const sa = moment.a.slot[body];
    const sb = moment.b.slot[body];
    const pa = sa >= 0 ? moment.a.position : moment.a.stillPosition;
    const pb = sb >= 0 ? moment.b.position : moment.b.stillPosition;
    const ia = sa >= 0 ? moment.ia * moment.a.moving.length + sa : ~sa;
    const ib = sb >= 0 ? moment.ib * moment.b.moving.length + sb : ~sb;
    const t = moment.alpha;
    for (let k = 0; k < 3; k++) m[o + 12 + k] = pa[3 * ia + k] * (1 - t) + pb[3 * ib + k] * t;
    m[o + 3] = m[o + 7] = m[o + 11] = 0;
    m[o + 15] = 1;
    const da = moment.a.bent[body];
    const db = moment.b.bent[body];
    if (da >= 0 && db >= 0) {
      const ba = (moment.ia * moment.a.deformed.length + da) * 9;
      const bb = (moment.ib * moment.b.deformed.length + db) * 9;
      for (let c = 0; c < 3; c++)
        for (let r = 0; r < 3; r++)
          m[o + 4 * c + r] = moment.a.matrix[ba + 3 * c + r] * (1 - t) + moment.b.matrix[bb + 3 * c + r] * t;
      return;
    }
    const qa = sa >= 0 ? moment.a.rotation : moment.a.stillRotation;
    const qb = sb >= 0 ? moment.b.rotation : moment.b.stillRotation;
    let dot = 0;
    for (let k = 0; k < 4; k++) dot += qa[4 * ia + k] * qb[4 * ib + k];
    const wb = dot < 0 ? -t : t;
    let x = qa[4 * ia] * (1 - t) + qb[4 * ib] * wb;
    let y = qa[4 * ia + 1] * (1 - t) + qb[4 * ib + 1] * wb;
    let z = qa[4 * ia + 2] * (1 - t) + qb[4 * ib + 2] * wb;
    let w = qa[4 * ia + 3] * (1 - t) + qb[4 * ib + 3] * wb;
    const norm = 1 / (Math.hypot(x, y, z, w) || 1);
    x *= norm; y *= norm; z *= norm; w *= norm;
    m[o] = 1 - 2 * (y * y + z * z); m[o + 1] = 2 * (x * y + z * w); m[o + 2] = 2 * (x * z - y * w);
    m[o + 4] = 2 * (x * y - z * w); m[o + 5] = 1 - 2 * (x * x + z * z); m[o + 6] = 2 * (y * z + x * w);
    m[o + 8] = 2 * (x * z + y * w); m[o + 9] = 2 * (y * z - x * w); m[o + 10] = 1 - 2 * (x * x + y * y);
  }

  private poseSolids(moment: Moment): void {
    const t = moment.alpha;
    const [xa, xb] = [moment.a.elastic, moment.b.elastic];
    const [fa, fb] = [moment.ia * moment.a.elasticVertices * 3, moment.ib * moment.b.elasticVertices * 3];
    this.solids.forEach((solid, e) => {
      solid.mesh.visible = !this.hidden.has(this.places.length + e);
      const count = this.model.elastic[e].vertices;
      const x = new Float32Array(3 * count);
      const base = 3 * solid.firstVertex;
      for (let i = 0; i < 3 * count; i++) x[i] = xa[fa + base + i] * (1 - t) + xb[fb + base + i] * t;
      const normal = smoothNormals(x, solid.triangles);
      const position = solid.mesh.geometry.getAttribute('position') as THREE.BufferAttribute;
      const normals = solid.mesh.geometry.getAttribute('normal') as THREE.BufferAttribute;
      const to = position.array as Float32Array;
      const toNormal = normals.array as Float32Array;
      solid.triangles.forEach((vertex, corner) => {
        for (let k = 0; k < 3; k++) {
          to[3 * corner + k] = x[3 * vertex + k];
          toNormal[3 * corner + k] = normal[3 * vertex + k];
        }
      });
      position.needsUpdate = true;
      normals.needsUpdate = true;
    });
  }

  /** Paints everything for a mode; undefined range: the mode has no scale. */
  paint(mode: ColorMode, frames: FrameStore, moment: Moment, contacts: FrameContacts | undefined): ColorRange | undefined {
    this.quartersOn.value = mode === 'body' || mode === 'material';
    let range: ColorRange | undefined;
    const speeds = mode === 'speed' && this.solids.length ? this.solidSpeeds(frames, moment) : undefined;
    if (mode === 'speed') range = { low: 0, high: Math.max(frames.maxSpeed, this.maxField.speed ?? 0) || 1, unit: 'm/s', title: 'Speed' };
    const forces = mode === 'force' && contacts ? this.forces(contacts) : undefined;
    if (mode === 'force') range = { low: 0, high: this.maxForce || 1, unit: 'N', title: 'Contact force' };
    const field = mode === 'strain' || mode === 'strain_rate' || mode === 'component' ? frames.field(mode, moment.index) : undefined;
    this.paintBodies(mode, moment, range, forces);
    if (mode === 'strain' || mode === 'strain_rate') {
      if (field) this.maxField[mode] = Math.max(this.maxField[mode] ?? 0, high(field));
      range = {
        low: 0, high: this.maxField[mode] || 1, unit: mode === 'strain' ? '' : '1/s',
        title: mode === 'strain' ? 'Strain (norm)' : 'Strain rate',
      };
    }
    this.paintSolids(mode, speeds ?? field, range, forces);
    return range;
  }

  /** What colours without a scale mean: colour and words; the first of them where there are many. */
  colorKeys(mode: ColorMode): [THREE.Color, string][] {
    if (mode === 'material') return this.materialNames().slice(0, 8).map((name, i) => [paletteColor(i), name]);
    if (mode === 'component' && this.solids.length) return [[NEUTRAL, 'elastic'], [paletteColor(0), 'rigid: a colour for each component']];
    return [];
  }

  private materialNames(): string[] {
    return [...new Set([...this.model.bodies.material, ...this.model.elastic.map((e) => e.material)])];
  }

  /** Of each drawn triangle of elastic bodies, from this frame to the next one. */
  private solidSpeeds(frames: FrameStore, moment: Moment): Float32Array | undefined {
    const first = Math.max(0, Math.min(moment.index, frames.count - 2));
    const seconds = frames.times[first + 1] - frames.times[first];
    const both = seconds > 0 ? frames.moment(frames.times[first] + 0.5 * seconds, true) : undefined;
    if (!both) return undefined; // one frame, or on its way
    const [xa, xb] = [both.a.elastic, both.b.elastic];
    const [fa, fb] = [both.ia * both.a.elasticVertices * 3, both.ib * both.b.elasticVertices * 3];
    const speeds: number[] = [];
    this.solids.forEach((solid, e) => {
      const { triangles } = this.model.elastic[e];
      for (let t = 0; t < triangles; t++) {
        const velocity = [0, 0, 0];
        for (let c = 0; c < 3; c++)
          for (let k = 0; k < 3; k++) {
            const at = 3 * (solid.firstVertex + solid.triangles[3 * t + c]) + k;
            velocity[k] += (xb[fb + at] - xa[fa + at]) / (3 * seconds);
          }
        speeds[solid.firstTriangle + t] = Math.hypot(...velocity);
      }
    });
    const result = Float32Array.from(speeds);
    this.maxField.speed = Math.max(this.maxField.speed ?? 0, high(result));
    return result;
  }

  private forces(contacts: FrameContacts): Float64Array {
    const sum = new Float64Array(bodyCount(this.model));
    for (let i = 0; i < contacts.count; i++) {
      const size = Math.hypot(contacts.numbers[10 * i + 6], contacts.numbers[10 * i + 7], contacts.numbers[10 * i + 8]);
      for (let k = 0; k < 2; k++) if (contacts.pairs[2 * i + k] >= 0) sum[contacts.pairs[2 * i + k]] += size;
    }
    sum.forEach((value, body) => {
      if (this.model.bodies.type[body] !== 1) this.maxForce = Math.max(this.maxForce, value);
    });
    return sum;
  }

  private paintBodies(mode: ColorMode, moment: Moment, range: ColorRange | undefined, forces: Float64Array | undefined): void {
    const { color: own, material, type } = this.model.bodies;
    const numberOf = this.materialNumbers();
    for (let body = 0; body < this.places.length; body++) {
      const place = this.places[body];
      if (!place) continue;
      let shown: THREE.Color;
      if (mode === 'material') shown = paletteColor(numberOf.get(material[body]) ?? 0);
      else if (mode === 'speed' && range && type[body] !== 1) {
        moment.a.velocityOf(body, moment.ia, velocity);
        shown = scaleLinear(Math.hypot(velocity[0], velocity[1], velocity[2]) / range.high);
      } else if (mode === 'force' && range && type[body] !== 1) shown = scaleLinear((forces?.[body] ?? 0) / range.high);
      else if (mode === 'body') shown = color.setHex(own[body], THREE.SRGBColorSpace);
      else shown = NEUTRAL;
      place.mesh.setColorAt(place.index, shown);
    }
    for (const mesh of this.meshes) if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  private materialNumbers(): Map<string, number> {
    return new Map(this.materialNames().map((name, i) => [name, i]));
  }

  private paintSolids(mode: ColorMode, field: Float32Array | undefined, range: ColorRange | undefined, forces: Float64Array | undefined): void {
    this.solids.forEach((solid, e) => {
      const info = this.model.elastic[e];
      const colors = solid.mesh.geometry.getAttribute('color') as THREE.BufferAttribute;
      const body = this.places.length + e;
      color.setHex(info.color, THREE.SRGBColorSpace);
      if (mode === 'force' && range) color.copy(scaleLinear((forces?.[body] ?? 0) / range.high));
      if (mode === 'material') color.copy(paletteColor(this.materialNumbers().get(info.material) ?? 0));
      for (let t = 0; t < info.triangles; t++) {
        const value = field?.[solid.firstTriangle + t] ?? 0;
        const shown = !field ? color : mode === 'component' ? componentColor(value) : scaleLinear(value / (range?.high ?? 1));
        for (let k = 0; k < 3; k++) colors.setXYZ(3 * t + k, shown.r, shown.g, shown.b);
      }
      colors.needsUpdate = true;
    });
  }

  matrixOf(body: number, out: THREE.Matrix4): THREE.Matrix4 {
    return out.fromArray(this.matrices, 16 * body);
  }

  /** Centre of a body as drawn now; of an elastic one the mean of its corners. */
  centerOf(body: number, out: THREE.Vector3): THREE.Vector3 {
    if (body < this.places.length) return out.set(this.matrices[16 * body + 12], this.matrices[16 * body + 13], this.matrices[16 * body + 14]);
    const x = this.solids[body - this.places.length].mesh.geometry.getAttribute('position').array;
    out.set(0, 0, 0);
    for (let i = 0; i < x.length; i += 3) out.add(color3.set(x[i], x[i + 1], x[i + 2]));
    return out.multiplyScalar(3 / Math.max(3, x.length));
  }

  radiusOf(body: number): number {
    if (body < this.places.length) return this.model.shapes[this.model.bodies.shape[body]].radius;
    const geometry = this.solids[body - this.places.length].mesh.geometry;
    geometry.computeBoundingSphere();
    return geometry.boundingSphere?.radius ?? 1;
  }

  /** A mesh of one body, to show it chosen or to ask a ray. */
  meshOf(body: number): THREE.Mesh {
    if (body >= this.places.length) return new THREE.Mesh(this.solids[body - this.places.length].mesh.geometry);
    const mesh = new THREE.Mesh(this.geometries[this.model.bodies.shape[body]]);
    mesh.matrixAutoUpdate = false;
    this.matrixOf(body, mesh.matrix);
    mesh.matrixWorld.copy(mesh.matrix);
    return mesh;
  }

  dispose(): void {
    for (const geometry of this.geometries) geometry.dispose();
    for (const solid of this.solids) solid.mesh.geometry.dispose();
    for (const material of this.materials) material.dispose();
    for (const mesh of this.meshes) mesh.dispose();
  }
}

const color3 = new THREE.Vector3();

/** The largest value but for the hundredth part above: one bad element must not fade all others. */
function high(values: Float32Array): number {
  if (!values.length) return 0;
  const sorted = Float32Array.from(values).sort();
  return sorted[Math.floor(0.99 * (sorted.length - 1))];
}

function componentColor(value: number): THREE.Color {
  return value < 0.5 ? NEUTRAL : paletteColor(Math.round(value) - 1);
}

function smoothNormals(x: Float32Array, triangles: Uint32Array): Float32Array {
  const normal = new Float32Array(x.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const [ux, uy, uz] = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
    const [vx, vy, vz] = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
    const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const corner of [a, b, c]) for (let k = 0; k < 3; k++) normal[corner + k] += n[k];
  }
  for (let i = 0; i < normal.length; i += 3) {
    const size = Math.hypot(normal[i], normal[i + 1], normal[i + 2]) || 1;
    for (let k = 0; k < 3; k++) normal[i + k] /= size;
  }
  return normal;
}
