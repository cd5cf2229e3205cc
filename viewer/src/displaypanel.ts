// How things are shown: colours, contacts, joints, clipping.
import { COLOR_MODES, type ColorMode } from './colors';
import { h } from './dom';
import type { Display } from './runview';

type Toggle = 'points' | 'forces' | 'pressures' | 'joints' | 'trail' | 'wireframe' | 'smooth' | 'shadows';

const TOGGLES: [Toggle, string, string][] = [
  ['points', 'Contact points', 'P'],
  ['forces', 'Contact forces', 'C'],
  ['pressures', 'Contact pressures', 'R'],
  ['joints', 'Joint frames and gaps', 'J'],
  ['trail', 'Trails, by speed', 'T'],
  ['wireframe', 'Wireframe', 'W'],
  ['smooth', 'Smooth between frames', ''],
  ['shadows', 'Shadows', ''],
];

export class DisplayPanel {
  readonly element = h('div', { class: 'section' });
  private boxes = new Map<Toggle, HTMLInputElement>();
  private mode = h('select', { 'aria-label': 'Colour by' }) as HTMLSelectElement;
  private clipOn = h('input', { type: 'checkbox', 'aria-label': 'Clipping plane' }) as HTMLInputElement;
  private clipAxis = h('select', { 'aria-label': 'Clipping axis' }, ...['x', 'y', 'z'].map((a) => h('option', { value: a }, a))) as HTMLSelectElement;
  private clipAt = h('input', { type: 'range', min: 0, max: 1, step: 0.005, 'aria-label': 'Clipping position' }) as HTMLInputElement;
  private clipFlip = h('input', { type: 'checkbox', 'aria-label': 'Other side' }) as HTMLInputElement;
  private factor = h('input', { type: 'range', min: -1.5, max: 1.5, step: 0.05, 'aria-label': 'Length of arrows' }) as HTMLInputElement;
  private clipBox: HTMLElement;
  private factorBox: HTMLElement;

  constructor(private display: Display, private changed: () => void, private elastic: () => boolean) {
    for (const [value, text] of COLOR_MODES) this.mode.append(h('option', { value }, text));
    this.mode.addEventListener('change', () => this.apply());
    this.element.append(h('h2', {}, 'Display'), h('label', { class: 'field', style: 'margin-top:6px' }, 'Colour by', this.mode));
    for (const [key, text, shortcut] of TOGGLES) {
      const box = h('input', { type: 'checkbox' }) as HTMLInputElement;
      box.addEventListener('change', () => this.apply());
      this.boxes.set(key, box);
      this.element.append(h('label', { class: 'check', title: shortcut ? `Key ${shortcut}` : '' }, box, text));
    }
    this.factorBox = h('label', { class: 'field sub' }, 'Length', this.factor);
    this.boxes.get('pressures')!.parentElement!.after(this.factorBox);
    this.clipBox = h('div', { class: 'sub' },
      h('label', { class: 'field' }, 'Axis', this.clipAxis), h('label', { class: 'field' }, 'Place', this.clipAt),
      h('label', { class: 'check' }, this.clipFlip, 'Other side'));
    this.element.append(h('label', { class: 'check', title: 'Key X' }, this.clipOn, 'Clipping plane'), this.clipBox);
    for (const input of [this.clipOn, this.clipAxis, this.clipFlip]) input.addEventListener('change', () => this.apply());
    for (const input of [this.clipAt, this.factor]) input.addEventListener('input', () => this.apply());
    this.sync();
  }

  private apply(): void {
    const d = this.display;
    d.color = this.mode.value as ColorMode;
    for (const [key, box] of this.boxes) d[key] = box.checked;
    d.forceFactor = 10 ** Number(this.factor.value);
    d.clip = { on: this.clipOn.checked, axis: this.clipAxis.value as 'x', at: Number(this.clipAt.value), flip: this.clipFlip.checked };
    this.sync();
    this.changed();
  }

  toggle(key: Toggle | 'clip'): void {
    if (key === 'clip') this.display.clip.on = !this.display.clip.on;
    else this.display[key] = !this.display[key];
    this.sync();
    this.changed();
  }

  /** The inputs after the display was changed elsewhere. */
  sync(): void {
    const d = this.display;
    this.mode.value = d.color;
    for (const option of this.mode.options)
      if (['strain', 'strain_rate', 'component'].includes(option.value)) option.hidden = option.disabled = !this.elastic();
    for (const [key, box] of this.boxes) box.checked = d[key];
    this.clipOn.checked = d.clip.on;
    this.clipAxis.value = d.clip.axis;
    this.clipAt.value = String(d.clip.at);
    this.clipFlip.checked = d.clip.flip;
    this.factor.value = String(Math.log10(d.forceFactor));
    this.clipBox.hidden = !d.clip.on;
    this.factorBox.hidden = !d.forces && !d.pressures;
  }
}
