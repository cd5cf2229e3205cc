// The plots below the picture, and the field that adds more.
import { h } from './dom';
import { nameOf, type Series } from './model';
import { Plot, type PlotSpec } from './plots';
import type { RunView } from './runview';

const PHASES = 6;

/** Of many phases those that take most; everything else as it is. */
export function mainPhases(list: Series[]): Series[] {
  const phases = list.filter((s) => s.name.startsWith('phase.'));
  const total = (s: Series) => s.value.reduce((sum, v) => sum + (Number.isFinite(v) ? v : 0), 0);
  const main = new Set(phases.sort((a, b) => total(b) - total(a)).slice(0, PHASES));
  return list.filter((s) => !s.name.startsWith('phase.') || main.has(s));
}

function defaults(view: RunView): PlotSpec[] {
  const has = new Set(view.model.series);
  const phases = view.model.series.filter((name) => name.startsWith('phase.'));
  const list: PlotSpec[] = [
    { title: 'Energy', series: ['energy', 'kinetic', 'gravity', 'elastic'] },
    { title: 'Momentum', series: ['px', 'py', 'pz'] },
    { title: 'Contacts', series: ['contacts'] },
    { title: 'Iterations', series: ['iterations'] },
    { title: 'Time per step', series: ['wall_ms', ...phases] },
  ];
  if (view.model.joints.length) list.push({ title: 'Joint residual', series: ['joint_residual'] });
  return list.map((spec) => ({ ...spec, series: spec.series.filter((name) => has.has(name)) }));
}

export class PlotDrawer {
  readonly element = h('div', { class: 'plots', hidden: true });
  private plots: Plot[] = [];
  private views: RunView[] = [];
  private names = document.createElement('datalist');
  private input = h('input', { placeholder: 'Add a series, such as body.ball.speed', list: 'series-names', 'aria-label': 'Add a series' }) as HTMLInputElement;
  private note = h('span', { class: 'more' });
  private filled = false;

  constructor(private seek: (time: number) => void) {
    this.names.id = 'series-names';
    this.input.addEventListener('change', () => {
      const name = this.input.value.trim();
      if (name) void this.add({ title: name, series: [name] });
      this.input.value = '';
    });
    this.element.append(h('div', { class: 'plot-add' }, this.input, this.names, this.note));
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  setViews(views: RunView[]): void {
    this.views = views;
    for (const plot of this.plots) plot.element.remove();
    this.plots = [];
    this.filled = false;
    this.nameSeries();
    if (this.open) this.fill();
  }

  private nameSeries(): void {
    const { model, source } = this.views[0];
    const names = [...model.series];
    if (source.live) {
      names.push('contact_force');
      const some = Math.min(200, model.bodies.name.length);
      for (let body = 0; body < some; body++)
        for (const what of ['x', 'y', 'z', 'speed', 'spin']) names.push(`body.${nameOf(model, body)}.${what}`);
      for (const joint of model.joints.slice(0, 200)) for (const what of ['q0', 'force', 'torque']) names.push(`joint.${joint.name}.${what}`);
      for (const solid of model.elastic) for (const what of ['x', 'y', 'z', 'speed']) names.push(`elastic.${solid.name}.${what}`);
    }
    this.names.replaceChildren(...names.map((name) => h('option', { value: name })));
  }

  toggle(): void {
    this.element.hidden = !this.element.hidden;
    if (this.open) this.fill();
  }

  private fill(): void {
    if (this.filled || !this.views.length) return;
    this.filled = true;
    for (const spec of defaults(this.views[0])) if (spec.series.length) void this.add(spec, false);
  }

  async add(spec: PlotSpec, show = true): Promise<void> {
    this.note.textContent = '';
    if (!this.open) this.toggle();
    const plot = new Plot(spec, this.seek, () => {
      plot.element.remove();
      this.plots = this.plots.filter((p) => p !== plot);
    });
    this.plots.push(plot);
    this.element.insertBefore(plot.element, this.element.lastElementChild);
    await this.load(plot);
    if (plot.empty) {
      plot.element.remove();
      this.plots = this.plots.filter((p) => p !== plot);
    } else if (show) plot.element.scrollIntoView({ block: 'nearest' });
  }

  private async load(plot: Plot): Promise<void> {
    const wanted = plot.spec.series;
    const ask = async (view: RunView | undefined): Promise<Series[]> => {
      if (!view) return [];
      try {
        const list = await view.source.series(wanted);
        // one that is zero throughout says nothing beside others
        return mainPhases(list.filter((s) => s.time.length && (wanted.length === 1 || s.value.some((v) => v !== 0))));
      } catch (error) {
        this.note.textContent = (error as Error).message;
        return [];
      }
    };
    const [first, second] = await Promise.all([ask(this.views[0]), ask(this.views[1])]);
    plot.setData(first, first.flatMap((f) => second.filter((s) => s.name === f.name)));
  }

  /** A growing run: what is shown is asked for again. */
  async refresh(): Promise<void> {
    if (this.open) await Promise.all(this.plots.map((plot) => this.load(plot)));
  }

  setTime(time: number, end: number): void {
    if (this.open) for (const plot of this.plots) plot.setTime(time, end);
  }

  redraw(): void {
    if (this.open) for (const plot of this.plots) plot.draw();
  }
}
