// Pulling a body of a simulation that is going on: a spring from where it was grabbed to the pointer.
import * as THREE from 'three';
import type { App } from './app';

export class Dragging {
  private body = -1;
  private point = new THREE.Vector3(); // in the body's frame
  private plane = new THREE.Plane();
  private waiting = false;
  private next: THREE.Vector3 | undefined;

  constructor(private app: App) {
    const { canvas } = app.stage;
    canvas.addEventListener('pointerdown', (event) => this.grab(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    for (const name of ['pointerup', 'pointercancel'] as const) canvas.addEventListener(name, () => this.drop());
  }

  get active(): boolean {
    return this.body >= 0;
  }

  private grab(event: PointerEvent): void {
    const { app } = this;
    if (!app.steering || event.button !== 0 || event.shiftKey || !app.views.length) return;
    if (app.view.growth.status !== 'running') return;
    const hit = app.stage.pick(event.offsetX, event.offsetY);
    const view = app.views[hit.view];
    if (hit.body < 0 || view.model.bodies.type[hit.body] !== 0) return;
    const mesh = view.bodies.meshOf(hit.body);
    mesh.material = new THREE.MeshBasicMaterial({ side: THREE.DoubleSide });
    const ray = app.stage.ray(event.offsetX, event.offsetY);
    const [found] = ray.intersectObject(mesh);
    if (!found) return;
    this.body = hit.body;
    this.point.copy(found.point).applyMatrix4(mesh.matrixWorld.clone().invert());
    const toward = app.stage.camera.getWorldDirection(new THREE.Vector3());
    this.plane.setFromNormalAndCoplanarPoint(toward, found.point);
    app.stage.controls.enabled = false;
    app.player.live = true;
    app.stage.canvas.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (!this.active) return;
    const target = new THREE.Vector3();
    if (!this.app.stage.ray(event.offsetX, event.offsetY).ray.intersectPlane(this.plane, target)) return;
    this.next = target;
    void this.send();
  }

  /** One request at a time; of several targets the newest. */
  private async send(): Promise<void> {
    if (this.waiting || !this.next) return;
    const target = this.next;
    this.next = undefined;
    this.waiting = true;
    try {
      await this.post({ do: 'drag', body: this.body, point: this.point.toArray(), target: target.toArray() });
    } finally {
      this.waiting = false;
    }
    if (this.active) void this.send();
    else await this.post({ do: 'release' });
  }

  private post(what: unknown): Promise<unknown> {
    return fetch('api/steer', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(what) }).catch(() => undefined);
  }

  private drop(): void {
    if (!this.active) return;
    this.body = -1;
    this.next = undefined;
    this.app.stage.controls.enabled = true;
    if (!this.waiting) void this.post({ do: 'release' });
  }
}
