// One run in its own three.js scene: data, bodies, overlays, lights.
import * as THREE from 'three';
import { Bodies3D, type ColorRange } from './bodies3d';
import type { ColorMode } from './colors';
import type { FrameContacts } from './decode';
import { FrameStore, type Moment } from './frames';
import type { Growth, Model } from './model';
import { HELPERS, Overlays } from './overlays';
import { patchesOf, type Patch } from './patches';
import { Replaced, type Source } from './source';

export interface Display {
  color: ColorMode;
  points: boolean;
  forces: boolean;
  pressures: boolean;
  forceFactor: number;
  joints: boolean;
  trail: boolean;
  wireframe: boolean;
  smooth: boolean;
  shadows: boolean;
  clip: { on: boolean; axis: 'x' | 'y' | 'z'; at: number; flip: boolean };
}

/** What the machine can draw. */
export interface Means {
  shadowPixels: number;
  triangles: number;
}

const TRAIL_SECONDS = 2;

export function defaultDisplay(): Display {
  return {
    color: 'body', points: false, forces: false, pressures: false, forceFactor: 1, joints: false, trail: false, wireframe: false,
    smooth: true, shadows: true, clip: { on: false, axis: 'x', at: 0.5, flip: false },
  };
}

export class RunView {
  readonly scene = new THREE.Scene();
  model!: Model;
  frames!: FrameStore;
  bodies!: Bodies3D;
  overlays!: Overlays;
  growth: Growth = { generation: 0, frames: 0, time: 0, status: '', method: '', problem: '' };
  selected = -1;
  moment: Moment | undefined;
  contacts: FrameContacts | undefined;
  patches: Patch[] = [];
  range: ColorRange | undefined;
  onchange: () => void = () => {};
  onreplaced: () => void = () => {};
  onproblem: (text: string) => void = () => {};
  private sun = new THREE.DirectionalLight('#fff6ea', 1.9);
  private sky = new THREE.HemisphereLight('#eef3fb', '#a39c92', 1.75);
  private grid: THREE.GridHelper | undefined;
  readonly interest = new THREE.Box3();

  constructor(readonly source: Source, private means: Means) {}

  get size(): number {
    return this.interest.getSize(new THREE.Vector3()).length() || 1;
  }

  async load(): Promise<void> {
    this.model = await this.source.model();
    this.moment = undefined;
    this.frames = new FrameStore(this.source, this.model);
    this.frames.onload = () => this.onchange();
    this.frames.onerror = (error) => (error instanceof Replaced ? this.onreplaced() : this.onproblem(error.message));
    const [geometry] = await Promise.all([this.source.geometry(), this.frames.extend()]);
    this.interest.min.fromArray(this.model.interest[0]);
    this.interest.max.fromArray(this.model.interest[1]);
    this.bodies?.dispose();
    this.scene.clear();
    this.bodies = new Bodies3D(this.model, geometry, this.means.triangles);
    this.overlays = new Overlays(this.model, this.bodies, this.size);
    this.scene.add(this.bodies.group, this.overlays.group);
    this.addLights();
    this.selected = -1;
  }

  private addLights(): void {
    const center = this.interest.getCenter(new THREE.Vector3());
    const zUp = this.model.up === 'z';
    const offset = zUp ? new THREE.Vector3(-0.55, -0.45, 1.2) : new THREE.Vector3(-0.55, 1.2, 0.45);
    this.sun.position.copy(center).addScaledVector(offset, 1.5 * this.size);
    this.sun.target.position.copy(center);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(this.means.shadowPixels);
    const shadow = this.sun.shadow.camera;
    const half = 0.9 * this.size;
    [shadow.left, shadow.right, shadow.top, shadow.bottom] = [-half, half, half, -half];
    [shadow.near, shadow.far] = [0.05 * this.size, 5 * this.size];
    shadow.updateProjectionMatrix();
    this.sun.shadow.bias = -0.0004;
    this.sun.shadow.normalBias = 0.0015 * this.size;
    this.sky.position.set(0, zUp ? 0 : 1, zUp ? 1 : 0);
    for (const light of [this.sun, this.sun.target, this.sky]) this.scene.add(light);
    this.addGrid(center, zUp);
  }

  /** A grid below scenes that have no floor of their own. */
  private addGrid(center: THREE.Vector3, zUp: boolean): void {
    const { type, shape } = this.model.bodies;
    const floor = type.some((t, i) => t === 1 && this.model.shapes[shape[i]].radius > 0.6 * this.size);
    if (floor) return;
    const step = 10 ** Math.floor(Math.log10(this.size / 2));
    const cells = 2 * Math.ceil((2 * this.size) / step);
    this.grid = new THREE.GridHelper(cells * step, Math.min(cells, 80), '#808894', '#808894');
    (this.grid.material as THREE.Material).transparent = true;
    (this.grid.material as THREE.Material).opacity = 0.22;
    this.grid.position.copy(center);
    if (zUp) {
      this.grid.rotation.x = Math.PI / 2;
      this.grid.position.z = this.interest.min.z - 0.002 * this.size;
    } else this.grid.position.y = this.interest.min.y - 0.002 * this.size;
    this.grid.layers.set(HELPERS);
    this.scene.add(this.grid);
  }

  setTheme(background: THREE.Color): void {
    this.scene.background = background;
    this.scene.fog = new THREE.Fog(background, 3.5 * this.size, 14 * this.size);
  }

  setShadows(on: boolean): void {
    this.sun.castShadow = on;
  }

  /** Brings the scene to a time. False while its frames are on their way; the picture stays as it was. */
  update(time: number, display: Display): boolean {
    const moment = this.frames.moment(Math.min(time, this.frames.end), display.smooth);
    if (!moment) return false;
    this.moment = moment;
    const wanted = display.points || display.forces || display.pressures || display.color === 'force' || this.selected >= 0;
    this.contacts = wanted ? this.frames.contacts(moment.index) : undefined;
    this.bodies.pose(moment);
    this.range = this.bodies.paint(display.color, this.frames, moment, this.contacts);
    this.overlays.showContacts(this.contacts, display.points, display.forces, display.forceFactor);
    this.patches = this.contacts && (display.pressures || this.selected >= 0) ? patchesOf(this.contacts) : [];
    this.overlays.showPressures(display.pressures ? this.patches : [], display.forceFactor);
    this.overlays.showJoints(display.joints);
    this.overlays.trails.show(display.trail ? this.trailed() : [], this.frames, moment.index, TRAIL_SECONDS);
    this.overlays.showMark(this.selected);
    return true;
  }

  /** Of the chosen body, or of all that move. */
  private trailed(): number[] {
    const { type } = this.model.bodies;
    if (this.selected >= 0) return this.selected < type.length ? [this.selected] : [];
    return type.flatMap((t, body) => (t === 1 || this.bodies.hidden.has(body) ? [] : [body]));
  }
}
