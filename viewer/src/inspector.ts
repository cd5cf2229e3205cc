// What is known about the chosen body at this moment.
import * as THREE from 'three';
import { short } from './colors';
import { h } from './dom';
import { toGap } from './jointgap';
import { BODY_TYPES, nameOf, type JointInfo } from './model';
import type { RunView } from './runview';

export interface InspectorActions {
  choose(body: number): void;
  fit(): void;
  follow(): void;
  isFollowed(): boolean;
  isolate(): void;
  hide(): void;
  plot(series: string[], title: string): void;
}

const matrix = new THREE.Matrix4();
const center = new THREE.Vector3();
const velocity = new Float64Array(6);

/** Three numbers with the decimals that so many digits of the largest need. */
export function vector(x: number, y: number, z: number, digits = 4): string {
  const largest = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
  if (!(largest >= 1e-3 && largest < 1e5)) return [x, y, z].map(short).join(', ');
  const decimals = Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(largest))));
  return [x, y, z].map((value) => String(Number(value.toFixed(decimals)) || 0)).join(', ');
}

/** Turn about an axis, in words. */
function rotationText(m: THREE.Matrix4): string {
  const turn = new THREE.Quaternion().setFromRotationMatrix(m);
  if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
  const size = Math.hypot(turn.x, turn.y, turn.z);
  const degrees = (2 * Math.atan2(size, turn.w) * 180) / Math.PI;
  if (degrees < 0.005) return '0°';
  return `${Number(degrees.toFixed(degrees < 10 ? 2 : 1))}° about ${[turn.x, turn.y, turn.z].map((k) => Number((k / size).toFixed(2)) || 0).join(', ')}`;
}

interface Touch {
  body: number;
  force: number;
  points: number;
  pressure: number; // mean over the patch that carries most, Pa; 0 without an area
}

/** Whom a body touches now, with the sum of forces on it from each. */
export function touches(view: RunView, body: number): Touch[] {
  const contacts = view.contacts;
  const sums = new Map<number, { f: THREE.Vector3; points: number }>();
  if (!contacts) return [];
  for (let i = 0; i < contacts.count; i++) {
    const [a, b] = [contacts.pairs[2 * i], contacts.pairs[2 * i + 1]];
    if (a !== body && b !== body) continue;
    const other = a === body ? b : a;
    const entry = sums.get(other) ?? { f: new THREE.Vector3(), points: 0 };
    entry.f.add(center.fromArray(contacts.numbers, 10 * i + 6));
    entry.points++;
    sums.set(other, entry);
  }
  const most = new Map<number, { force: number; pressure: number }>();
  for (const patch of view.patches) {
    if (patch.a !== body && patch.b !== body) continue;
    const other = patch.a === body ? patch.b : patch.a;
    if (patch.force >= (most.get(other)?.force ?? 0)) most.set(other, { force: patch.force, pressure: patch.area > 0 ? patch.force / patch.area : 0 });
  }
  return [...sums].map(([other, { f, points }]) => ({ body: other, force: f.length(), points, pressure: most.get(other)?.pressure ?? 0 }))
    .sort((p, q) => q.force - p.force);
}

/** How far a joint is open, in words; nothing for types that have no gap. */
function gapText(view: RunView, joint: JointInfo): string {
  const anchor = (body: number, point: number[]) => {
    const at = new THREE.Vector3(...point);
    return body >= 0 ? at.applyMatrix4(view.bodies.matrixOf(body, matrix)) : at;
  };
  const apart = anchor(joint.b, joint.point_b).sub(anchor(joint.a, joint.point_a));
  const axis = new THREE.Vector3().fromArray(joint.frame_a);
  if (joint.a >= 0) axis.transformDirection(view.bodies.matrixOf(joint.a, matrix));
  if (!toGap(joint.type, apart, axis)) return '';
  const seen = 20 * view.model.quantum; // what the page was sent is rounded to this
  return apart.length() > seen ? `gap ${short(apart.length())} m` : 'no gap';
}

export class Inspector {
  readonly element = h('div', { class: 'section inspector' });
  private key = '';

  constructor(private actions: InspectorActions) {}

  draw(view: RunView): void {
    const body = view.selected;
    this.element.hidden = body < 0;
    if (body < 0 || !view.moment) {
      this.key = '';
      return;
    }
    const key = `${body} ${view.moment.index} ${view.moment.alpha.toFixed(2)} ${view.contacts ? 1 : 0} ${this.actions.isFollowed()} ${view.bodies.hidden.size}`;
    if (key === this.key) return;
    this.key = key;
    const { model } = view;
    const elastic = body - model.bodies.name.length;
    const facts: [string, string][] = [];
    view.bodies.centerOf(body, center);
    const position = vector(center.x, center.y, center.z);
    if (elastic >= 0) {
      const info = model.elastic[elastic];
      facts.push(['type', 'elastic'], ['mass', `${short(info.mass)} kg`], ['material', info.material], ['tetrahedra', String(info.tets)],
        ['position', `${position} m`]);
    } else {
      view.moment.a.velocityOf(body, view.moment.ia, velocity);
      const speed = Math.hypot(velocity[0], velocity[1], velocity[2]);
      facts.push( // velocities are sent in three digits
        ['type', BODY_TYPES[model.bodies.type[body]] ?? '?'], ['mass', `${short(model.bodies.mass[body])} kg`],
        ['material', model.bodies.material[body]], ['position', `${position} m`],
        ['rotation', rotationText(view.bodies.matrixOf(body, matrix))],
        ['speed', `${short(speed)} m/s`], ['velocity', `${vector(velocity[0], velocity[1], velocity[2], 3)} m/s`],
        ['spin', `${vector(velocity[3], velocity[4], velocity[5], 3)} rad/s`],
      );
    }
    const list = h('dl', { class: 'facts' });
    for (const [name, value] of facts) list.append(h('dt', {}, name), h('dd', { 'data-fact': name }, value));
    const name = nameOf(model, body);
    const kind = elastic >= 0 ? 'elastic' : 'body';
    const plotButtons = h('div', { class: 'buttons' },
      h('button', { click: () => this.actions.plot([`${kind}.${name}.speed`], `${name}: speed`) }, 'Plot speed'),
      h('button', { click: () => this.actions.plot(['x', 'y', 'z'].map((k) => `${kind}.${name}.${k}`), `${name}: position`) }, 'Plot position'));
    const followed = this.actions.isFollowed();
    const buttons = h('div', { class: 'buttons' },
      h('button', { click: () => this.actions.fit() }, 'Fit'),
      h('button', { class: followed ? 'on' : '', click: () => this.actions.follow() }, followed ? 'Following' : 'Follow'),
      h('button', { click: () => this.actions.isolate() }, 'Isolate'),
      h('button', { click: () => this.actions.hide() }, 'Hide'));
    this.element.replaceChildren(h('div', { class: 'chosen-name' }, name), list, buttons, this.contactList(view, body), this.jointList(view, body),
      view.source.live ? plotButtons : '');
  }

  private contactList(view: RunView, body: number): HTMLElement {
    const touching = touches(view, body);
    const items = touching.slice(0, 50).map((touch) =>
      h('li', {},
        h('button', { click: () => this.actions.choose(touch.body) }, nameOf(view.model, touch.body)),
        h('em', {}, `${short(touch.force)} N, ${touch.points} pt${touch.pressure ? `, ${short(touch.pressure)} Pa` : ''}`)));
    const waiting = !view.contacts && !view.model.embedded;
    return h('div', {}, h('h2', { style: 'margin-top:10px' }, waiting ? 'Contacts …' : `Touches ${touching.length || 'nothing'}`),
      h('ul', { class: 'touching' }, ...items));
  }

  private jointList(view: RunView, body: number): HTMLElement | string {
    const items: HTMLElement[] = [];
    view.model.joints.forEach((joint, j) => {
      if (joint.a !== body && joint.b !== body) return;
      const other = joint.a === body ? joint.b : joint.a;
      const f = view.contacts?.joints.subarray(9 * j, 9 * j + 3);
      const force = f && f.length === 3 ? `${short(Math.hypot(f[0], f[1], f[2]))} N` : '';
      items.push(h('li', {},
        h('button', { click: () => this.actions.plot([`joint.${joint.name}.force`], `${joint.name}: force`) }, `${joint.name} (${joint.type})`),
        h('em', {}, [nameOf(view.model, other), force, gapText(view, joint)].filter(Boolean).join(', '))));
    });
    if (!items.length) return '';
    return h('div', {}, h('h2', { style: 'margin-top:10px' }, `Joints ${items.length}`), h('ul', { class: 'touching' }, ...items.slice(0, 50)));
  }
}
