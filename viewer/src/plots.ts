// Time plots that follow the playhead; a click or a drag in one moves it.
import { paletteColor, short } from './colors';
import { h, iconButton } from './dom';
import type { Series } from './model';

export interface PlotSpec {
  title: string;
  series: string[];
}

/** Round numbers that divide a range into few parts. */
export function ticks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const list: number[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step) list.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return list;
}

/** The value of a series at a time, between its points. */
export function valueAt(series: Series, time: number): number {
  const { time: t, value } = series;
  if (!t.length || time < t[0] - 1e-9 || time > t[t.length - 1] + 1e-9) return NaN;
  let low = 0;
  let high = t.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle;
  }
  const span = t[high] - t[low];
  const part = span > 0 ? Math.min(1, Math.max(0, (time - t[low]) / span)) : 0;
  return value[low] * (1 - part) + value[high] * part;
}

const LABELS: Record<string, string> = {
  px: 'x', py: 'y', pz: 'z', energy: 'total', wall_ms: 'step',
};

function label(name: string): string {
  return LABELS[name] ?? name.replace(/^(phase|figure)\./, '').replace(/_/g, ' ');
}

export class Plot {
  readonly element: HTMLElement;
  private canvas = document.createElement('canvas');
  private legend = h('div', { class: 'plot-legend' });
  private data: Series[] = [];
  private second: Series[] = []; // of the run beside it, dashed
  private time = 0;
  private end = 1;
  private hover: number | undefined;

  constructor(readonly spec: PlotSpec, private seek: (time: number) => void, close: () => void) {
    const head = h('div', { class: 'plot-head' }, h('b', {}, spec.title), this.legend, iconButton('close', 'Remove this plot', close));
    this.element = h('div', { class: 'plot' }, head, this.canvas);
    const at = (event: PointerEvent) => this.timeAt(event.offsetX);
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.seek(at(event));
    });
    this.canvas.addEventListener('pointermove', (event) => {
      this.hover = at(event);
      if (event.buttons & 1) this.seek(this.hover);
      this.draw();
    });
    this.canvas.addEventListener('pointerleave', () => {
      this.hover = undefined;
      this.draw();
    });
  }

  get empty(): boolean {
    return !this.data.length;
  }

  setData(data: Series[], second: Series[] = []): void {
    this.data = data;
    this.second = second;
    this.draw();
  }

  setTime(time: number, end: number): void {
    if (time === this.time && end === this.end) return;
    this.time = time;
    this.end = end || 1;
    this.draw();
  }

  private left = 52;
  private timeAt(x: number): number {
    const width = this.canvas.clientWidth - this.left - 8;
    return Math.min(this.end, Math.max(0, ((x - this.left) / Math.max(1, width)) * this.end));
  }

  private range(): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    for (const series of [...this.data, ...this.second])
      for (const v of series.value) {
        if (v < low) low = v;
        if (v > high) high = v;
      }
    if (!(high >= low)) return [0, 1];
    if (low > 0 && low < 0.4 * high) low = 0;
    const margin = 0.06 * (high - low) || 0.5 * Math.abs(high) || 1;
    return [low === 0 ? 0 : low - margin, high + margin];
  }

  draw(): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const style = getComputedStyle(this.canvas);
    const ink = style.getPropertyValue('--ink-2').trim();
    const line = style.getPropertyValue('--line').trim();
    const g = this.canvas.getContext('2d')!;
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const [low, high] = this.range();
    const [top, bottom, left, right] = [6, height - 18, this.left, width - 8];
    const x = (t: number) => left + (t / this.end) * (right - left);
    const y = (v: number) => bottom - ((v - low) / (high - low)) * (bottom - top);
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.lineWidth = 1;
    for (const v of ticks(low, high, Math.max(2, Math.floor(height / 38)))) {
      g.strokeStyle = line;
      g.beginPath();
      g.moveTo(left, Math.round(y(v)) + 0.5);
      g.lineTo(right, Math.round(y(v)) + 0.5);
      g.stroke();
      g.fillStyle = ink;
      g.textAlign = 'right';
      g.fillText(short(v), left - 6, y(v));
    }
    g.textAlign = 'center';
    for (const t of ticks(0, this.end, Math.max(2, Math.floor(width / 90)))) if (x(t) < right - 10) g.fillText(`${short(t)} s`, Math.max(left + 8, x(t)), height - 8);
    g.save();
    g.beginPath();
    g.rect(left, 0, right - left, height);
    g.clip();
    const path = (series: Series, index: number, dash: number[]) => {
      g.strokeStyle = `#${paletteColor(index).getHexString()}`;
      g.lineWidth = 1.6;
      g.lineJoin = 'round';
      g.setLineDash(dash);
      g.beginPath();
      series.time.forEach((t, i) => (i ? g.lineTo(x(t), y(series.value[i])) : g.moveTo(x(t), y(series.value[i]))));
      g.stroke();
      g.setLineDash([]);
    };
    this.second.forEach((series, i) => path(series, i, [5, 4]));
    this.data.forEach((series, i) => path(series, i, []));
    g.restore();
    this.drawPlayhead(g, x, top, bottom);
    this.drawLegend();
  }

  private drawPlayhead(g: CanvasRenderingContext2D, x: (t: number) => number, top: number, bottom: number): void {
    const style = getComputedStyle(this.canvas);
    g.strokeStyle = style.getPropertyValue('--accent').trim();
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(x(this.time), top);
    g.lineTo(x(this.time), bottom);
    g.stroke();
    if (this.hover === undefined) return;
    g.strokeStyle = style.getPropertyValue('--ink-2').trim();
    g.lineWidth = 1;
    g.setLineDash([3, 3]);
    g.beginPath();
    g.moveTo(x(this.hover), top);
    g.lineTo(x(this.hover), bottom);
    g.stroke();
    g.setLineDash([]);
  }

  private drawLegend(): void {
    const time = this.hover ?? this.time;
    const entries = this.data.map((series, i) => {
      const swatch = h('i', { style: `background:#${paletteColor(i).getHexString()}` });
      const other = this.second[i] ? ` | ${short(valueAt(this.second[i], time))}` : '';
      const text = ` ${short(valueAt(series, time))}${other}${series.unit ? ' ' + series.unit : ''}`;
      return h('span', {}, swatch, this.data.length > 1 || this.spec.title !== series.name ? label(series.name) : '', h('em', {}, text));
    });
    this.legend.replaceChildren(...entries);
  }
}
