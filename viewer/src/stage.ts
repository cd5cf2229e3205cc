// The picture: renderer, camera, controls, picking. One run fills it, two share it side by side.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { HELPERS } from './overlays';
import type { Display, RunView } from './runview';

const PICK_VERTEX = `
attribute float bodyId;
varying vec3 vId;
#include <common>
#include <clipping_planes_pars_vertex>
void main() {
  #include <begin_vertex>
  #include <project_vertex>
  #include <clipping_planes_vertex>
  float id = bodyId + 1.0;
  vId = vec3(mod(id, 256.0), mod(floor(id / 256.0), 256.0), floor(id / 65536.0)) / 255.0;
}`;
const PICK_FRAGMENT = `
varying vec3 vId;
#include <clipping_planes_pars_fragment>
void main() {
  #include <clipping_planes_fragment>
  gl_FragColor = vec4(vId, 1.0);
}`;

const CONTEXT = { alpha: false, preserveDrawingBuffer: true, powerPreference: 'high-performance' } as const;

/** Whether the processor draws because there is no graphics card. */
function isSoftware(gl: WebGL2RenderingContext): boolean {
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  return /swiftshader|llvmpipe|softpipe|software/i.test(name);
}

/** A context on the canvas. Where there is a graphics card it is asked for smooth edges, on a context made anew: the first one
 * tells, and a second one is dear only without a card. */
function contextOn(make: () => HTMLCanvasElement): { canvas: HTMLCanvasElement; context: WebGL2RenderingContext; software: boolean } {
  const plain = make();
  const context = plain.getContext('webgl2', { ...CONTEXT, antialias: false });
  if (!context) throw new Error('This page needs WebGL 2, which this browser does not offer here.');
  if (isSoftware(context)) return { canvas: plain, context, software: true };
  const canvas = make();
  const smooth = canvas.getContext('webgl2', { ...CONTEXT, antialias: true });
  if (!smooth) return { canvas: plain, context, software: false };
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return { canvas, context: smooth, software: false };
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly perspective = new THREE.PerspectiveCamera(38, 1, 0.01, 1000);
  readonly orthographic = new THREE.OrthographicCamera(-1, 1, 1, -1, 0.01, 1000);
  camera: THREE.PerspectiveCamera | THREE.OrthographicCamera = this.perspective;
  controls: OrbitControls;
  views: RunView[] = [];
  followed: { view: number; body: number } | undefined;
  onmove: () => void = () => {};
  covered: () => number = () => 0; // CSS pixels of the width that panels lie on
  private followedAt = new THREE.Vector3();
  private pickTarget = new THREE.WebGLRenderTarget(1, 1);
  private pickMaterial = new THREE.ShaderMaterial({
    vertexShader: PICK_VERTEX, fragmentShader: PICK_FRAGMENT, side: THREE.DoubleSide, clipping: true,
  });
  private plane = new THREE.Plane();
  private scratch = new THREE.Vector3();
  drawn = 0;
  readonly canvas: HTMLCanvasElement;
  readonly software: boolean; // drawn by the processor: the same picture, with what costs most left out

  constructor(make: () => HTMLCanvasElement) {
    const { canvas, context, software } = contextOn(make);
    [this.canvas, this.software] = [canvas, software];
    this.renderer = new THREE.WebGLRenderer({ canvas, context, ...CONTEXT, antialias: !software });
    this.renderer.debug.checkShaderErrors = import.meta.env.DEV; // asking waits for the compiler
    this.renderer.setPixelRatio(software ? 1 : Math.min(2, window.devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NoToneMapping;
    this.renderer.setScissorTest(true);
    this.controls = this.makeControls();
    this.perspective.layers.enable(HELPERS);
    this.orthographic.layers.enable(HELPERS);
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.enableDamping = false;
    controls.zoomToCursor = true;
    controls.addEventListener('change', () => this.onmove());
    return controls;
  }

  get up(): THREE.Vector3 {
    return this.views[0]?.model?.up === 'z' ? new THREE.Vector3(0, 0, 1) : new THREE.Vector3(0, 1, 0);
  }

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.setAspect();
  }

  /** Width of one run's part in CSS pixels. */
  private part(): number {
    return this.canvas.clientWidth / Math.max(1, this.views.length);
  }

  private setAspect(): void {
    const aspect = this.part() / Math.max(1, this.canvas.clientHeight);
    this.perspective.aspect = aspect;
    const half = (this.orthographic.top - this.orthographic.bottom) / 2;
    this.orthographic.left = -half * aspect;
    this.orthographic.right = half * aspect;
    this.perspective.updateProjectionMatrix();
    this.orthographic.updateProjectionMatrix();
  }

  /** Aspect of what panels leave free: they lie on both sides, so that the middle stays where it is. */
  private freeAspect(): number {
    const free = Math.max(0.4 * this.canvas.clientWidth, this.canvas.clientWidth - this.covered());
    return this.perspective.aspect * (free / Math.max(1, this.canvas.clientWidth));
  }

  private rangeOfDepth(): void {
    const size = Math.max(...this.views.map((v) => v.size), 1e-9);
    for (const camera of [this.perspective, this.orthographic]) {
      const distance = camera.position.distanceTo(this.controls.target);
      camera.near = camera === this.perspective ? Math.max(1e-4 * size, 0.01 * distance) : -10 * size;
      camera.far = distance + 40 * size;
    }
    this.setAspect();
  }

  /** Looks at a box from a direction, so that it fills the picture. */
  fit(box: THREE.Box3, direction?: THREE.Vector3): void {
    const center = box.getCenter(new THREE.Vector3());
    const radius = 0.5 * box.getSize(new THREE.Vector3()).length() || 1;
    const from = direction?.clone().normalize() ?? this.camera.position.clone().sub(this.controls.target).normalize();
    this.setAspect();
    const vertical = (this.perspective.fov * Math.PI) / 360;
    const narrow = Math.min(vertical, Math.atan(Math.tan(vertical) * this.freeAspect()));
    const distance = (0.86 * radius) / Math.sin(narrow);
    this.look(center.clone().addScaledVector(from, distance), center);
  }

  look(eye: THREE.Vector3, target: THREE.Vector3): void {
    for (const camera of [this.perspective, this.orthographic]) {
      camera.up.copy(this.up);
      camera.position.copy(eye);
      camera.zoom = 1;
      camera.lookAt(target);
    }
    const half = eye.distanceTo(target) * Math.tan((this.perspective.fov * Math.PI) / 360);
    [this.orthographic.top, this.orthographic.bottom] = [half, -half];
    this.controls.target.copy(target);
    this.rangeOfDepth();
    this.controls.update();
    this.onmove();
  }

  /** Scenes place their camera for a wide picture: in a narrow one it steps back until as much fits across. */
  lookAsInWide(eye: THREE.Vector3, target: THREE.Vector3): void {
    this.setAspect();
    const back = Math.max(1, 1.4 / this.freeAspect());
    this.look(target.clone().addScaledVector(eye.clone().sub(target), back), target);
  }

  setOrthographic(on: boolean): void {
    const next = on ? this.orthographic : this.perspective;
    if (next === this.camera) return;
    const target = this.controls.target.clone();
    let eye = this.camera.position.clone();
    // the same size in the picture: what zooming did to one camera, distance does for the other
    if (!on) eye = target.clone().add(eye.sub(target).divideScalar(this.orthographic.zoom));
    this.controls.dispose();
    this.camera = next;
    this.controls = this.makeControls();
    this.look(eye, target);
  }

  setClip(display: Display): void {
    const { clip } = display;
    if (!clip.on || !this.views.length) {
      this.renderer.clippingPlanes = [];
      return;
    }
    const box = this.views[0].interest;
    const sign = clip.flip ? 1 : -1;
    const at = box.min[clip.axis] + clip.at * (box.max[clip.axis] - box.min[clip.axis]);
    this.plane.normal.set(0, 0, 0);
    this.plane.normal[clip.axis] = sign;
    this.plane.constant = -sign * at;
    this.renderer.clippingPlanes = [this.plane];
  }

  private viewport(index: number): [number, number, number, number] {
    const width = this.part();
    return [Math.round(index * width), 0, Math.round(width), this.canvas.clientHeight];
  }

  follow(): void {
    if (!this.followed) return;
    const view = this.views[this.followed.view];
    if (!view) return;
    const now = view.bodies.centerOf(this.followed.body, this.scratch);
    const move = now.clone().sub(this.followedAt);
    if (move.lengthSq() === 0) return;
    for (const camera of [this.perspective, this.orthographic]) camera.position.add(move);
    this.controls.target.add(move);
    this.followedAt.copy(now);
    this.controls.update();
  }

  setFollowed(followed: { view: number; body: number } | undefined): void {
    this.followed = followed;
    if (followed) this.views[followed.view].bodies.centerOf(followed.body, this.followedAt);
  }

  draw(): void {
    this.rangeOfDepth();
    this.views.forEach((view, i) => {
      const box = this.viewport(i);
      this.renderer.setViewport(...box);
      this.renderer.setScissor(...box);
      this.renderer.render(view.scene, this.camera);
    });
    this.drawn++;
  }

  /** Which run a point of the canvas lies in, and where in that part. */
  locate(x: number, y: number): { view: number; x: number; y: number; width: number; height: number } {
    const width = this.part();
    const view = Math.min(this.views.length - 1, Math.max(0, Math.floor(x / width)));
    return { view, x: x - view * width, y, width, height: this.canvas.clientHeight };
  }

  /** The body under a point of the canvas, or -1. */
  pick(x: number, y: number): { view: number; body: number } {
    const at = this.locate(x, y);
    const view = this.views[at.view];
    const pixel = new Uint8Array(4);
    const { background, fog, overrideMaterial } = view.scene;
    const camera = this.camera;
    camera.setViewOffset(at.width, at.height, Math.floor(at.x), Math.floor(at.y), 1, 1);
    camera.layers.disable(HELPERS);
    view.scene.background = null;
    view.scene.fog = null;
    view.scene.overrideMaterial = this.pickMaterial;
    const shadows = this.renderer.shadowMap.autoUpdate;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.setRenderTarget(this.pickTarget);
    this.renderer.setClearColor(0, 0);
    this.renderer.clear();
    this.renderer.render(view.scene, camera);
    this.renderer.readRenderTargetPixels(this.pickTarget, 0, 0, 1, 1, pixel);
    this.renderer.setRenderTarget(null);
    this.renderer.shadowMap.autoUpdate = shadows;
    camera.clearViewOffset();
    camera.layers.enable(HELPERS);
    Object.assign(view.scene, { background, fog, overrideMaterial });
    return { view: at.view, body: pixel[0] + 256 * pixel[1] + 65536 * pixel[2] - 1 };
  }

  /** The ray through a point of the canvas. */
  ray(x: number, y: number): THREE.Raycaster {
    const at = this.locate(x, y);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2((2 * at.x) / at.width - 1, 1 - (2 * at.y) / at.height), this.camera);
    return caster;
  }

  /** Where a body's centre is on the canvas, in CSS pixels. */
  project(point: THREE.Vector3, view: number): [number, number] {
    const ndc = point.clone().project(this.camera);
    return [(view + (ndc.x + 1) / 2) * this.part(), ((1 - ndc.y) / 2) * this.canvas.clientHeight];
  }
}
