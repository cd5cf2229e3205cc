// The page: puts the parts together and keeps them in step.
import * as THREE from 'three';
import { Badge } from './badge';
import { BodyList } from './bodylist';
import { COLOR_MODES, scaleGradient, short, type ColorMode } from './colors';
import { DisplayPanel } from './displaypanel';
import { Dragging } from './dragging';
import { h, iconButton } from './dom';
import { helpPanel } from './help';
import { Inspector } from './inspector';
import { readLink, writeLink } from './link';
import { nameOf, bodyCount, type Finding } from './model';
import { Player } from './player';
import { PlotDrawer } from './plotdrawer';
import { RunView, defaultDisplay, type Means } from './runview';
import { bindKeys } from './shortcuts';
import { EmbeddedRun, ServedRun, type Source } from './source';
import { Stage } from './stage';
import { Transport } from './transport';

const SOFTWARE: Means = { shadowPixels: 640, triangles: 1e6 }; // a second or two a picture
const CARD: Means = { shadowPixels: 1536, triangles: 2e7 };
const LINKED = ['points', 'forces', 'pressures', 'joints', 'trail', 'wireframe'] as const; // what a link holds

export class App {
  readonly ready: Promise<void>;
  readonly display = defaultDisplay();
  readonly player = new Player();
  readonly stage: Stage;
  readonly plots: PlotDrawer;
  readonly bodyList: BodyList;
  readonly panel: DisplayPanel;
  views: RunView[] = [];
  badges: Badge[] = [];
  active = 0; // the run that was clicked last
  steering = false;
  private inspector: Inspector;
  private transport: Transport;
  readonly dragging: Dragging;
  private middle = h('div', { class: 'middle' });
  private about = h('div', { class: 'about' });
  private title = h('div', { class: 'name' });
  private badgeBox = h('div', { style: 'display:flex;gap:6px;flex:none' });
  private liveMark = h('span', { class: 'live', hidden: true }, 'live');
  private legend = h('div', { class: 'legend', hidden: true });
  private banner = h('div', { class: 'banner', hidden: true, role: 'alert' });
  private loading = h('div', { class: 'loading' }, 'Loading …');
  private right = h('div', { class: 'panel right' });
  private help: HTMLElement | undefined;
  private dirty = true;
  private last = 0;
  private hashTimer = 0;
  private firstEye = new THREE.Vector3();
  private firstTarget = new THREE.Vector3();
  private refreshTimer = 0;
  private slow = 0;
  private rested: boolean;
  private restTimer = 0;

  constructor(private root: HTMLElement) {
    const dark = this.savedTheme() ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = dark;
    const sources = this.sources(); // asked for before the context of the picture is made, which takes longer
    this.stage = new Stage(() => h('canvas', { class: 'stage', tabindex: 0, 'aria-label': 'The scene' }) as HTMLCanvasElement);
    this.rested = !this.stage.software;
    this.plots = new PlotDrawer((time) => this.player.seek(time));
    this.bodyList = new BodyList((body) => this.select(this.active, body), () => this.invalidate());
    this.panel = new DisplayPanel(this.display, () => this.applyDisplay(), () => this.views.some((v) => v.model?.elastic.length > 0));
    this.inspector = new Inspector({
      choose: (body) => this.select(this.active, body),
      fit: () => this.fitSelected(),
      follow: () => this.toggleFollow(),
      isFollowed: () => this.stage.followed?.body === this.view?.selected && this.stage.followed?.view === this.active,
      isolate: () => this.bodyList.isolate(this.view.selected),
      hide: () => this.bodyList.toggle(this.view.selected),
      plot: (series, title) => void this.plots.add({ title, series }),
    });
    this.transport = new Transport(this.player, (by) => this.step(by), () => this.togglePlots());
    this.dragging = new Dragging(this);
    this.buildPage();
    this.listen();
    this.ready = this.start(sources);
  }

  get view(): RunView {
    return this.views[this.active];
  }

  private savedTheme(): string | undefined {
    try {
      return localStorage.getItem('tenon-theme') ?? undefined;
    } catch {
      return undefined; // pages from a disk may have no storage
    }
  }

  private buildPage(): void {
    const logo = h('div', { class: 'logo' }, h('span', {}, 'Tenon'));
    const mark = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    mark.setAttribute('viewBox', '0 0 32 32');
    mark.innerHTML = '<path d="M4 8h10v6h-3v4h3v6H4z" fill="#e07a3f"/><path d="M28 8H18v6h-3v4h3v6h10z" fill="#4385bd"/>';
    logo.prepend(mark);
    const top = h('div', { class: 'top' }, logo, this.title, this.about, this.liveMark, this.badgeBox,
      iconButton('list', 'Bodies (/)', () => this.togglePanel(this.bodyList.element)),
      iconButton('sliders', 'Display', () => this.togglePanel(this.right)),
      iconButton('camera', 'Screenshot (S)', () => this.screenshot()),
      iconButton('sun', 'Dark or light (D)', () => this.toggleTheme()),
      iconButton('help', 'Help (?)', () => this.toggleHelp()));
    const axis = (name: 'x' | 'y' | 'z') => h('button', { class: 'axis', title: `View along ${name}`, click: () => this.viewAlong(name) }, name.toUpperCase());
    const fit = iconButton('fit', 'Fit all (A)', () => this.fitAll());
    const ortho = h('button', { title: 'Orthographic (O)', click: () => this.toggleOrthographic() }, '⊥');
    this.right.append(this.inspector.element, this.panel.element);
    this.middle.append(this.stage.canvas, this.loading, this.bodyList.element, this.right, this.legend, this.banner,
      h('div', { class: 'views' }, axis('x'), axis('y'), axis('z'), ortho, fit));
    this.root.replaceChildren(top, this.middle, this.plots.element, this.transport.element);
    if (window.innerWidth <= 1000) this.bodyList.element.hidden = true;
    if (window.innerWidth <= 700) this.right.hidden = true;
  }

  private listen(): void {
    new ResizeObserver(() => {
      this.stage.resize();
      this.plots.redraw();
      this.invalidate();
    }).observe(this.middle);
    this.player.onchange = () => this.invalidate();
    this.stage.onmove = () => this.invalidate();
    this.stage.covered = () => {
      const shown = [this.bodyList.element, this.right].filter((panel) => !panel.hidden).map((panel) => panel.offsetWidth);
      // one panel alone: as much is kept free on the other side; on a phone it lies over everything
      return window.innerWidth > 700 && shown.length ? 2 * Math.max(...shown) : 0;
    };
    bindKeys(this);
    let down: [number, number] | undefined;
    this.stage.canvas.addEventListener('pointerdown', (event) => {
      down = event.button === 0 ? [event.offsetX, event.offsetY] : undefined;
    });
    this.stage.canvas.addEventListener('pointerup', (event) => {
      if (!down || Math.hypot(event.offsetX - down[0], event.offsetY - down[1]) > 4 || !this.views.length) return;
      const hit = this.stage.pick(event.offsetX, event.offsetY);
      this.select(hit.view, hit.body);
    });
    this.stage.canvas.addEventListener('dblclick', () => this.view?.selected >= 0 && this.fitSelected());
    window.addEventListener('hashchange', () => this.applyLink());
  }

  private async sources(): Promise<Source[]> {
    const embedded = EmbeddedRun.count();
    if (embedded) return Array.from({ length: embedded }, (_, i) => new EmbeddedRun(i));
    const answer = await fetch('api/runs');
    const list = await answer.json();
    if (!answer.ok) throw new Error(list.error);
    this.steering = list.steering;
    return list.runs.map((_: unknown, i: number) => new ServedRun(i));
  }

  private async start(sources: Promise<Source[]>): Promise<void> {
    this.views = (await sources).map((source) => new RunView(source, this.stage.software ? SOFTWARE : CARD));
    await Promise.all(this.views.map((view) => view.load()));
    this.badges = this.views.map((view) => new Badge(view, (finding) => this.jump(view, finding), () => this.verdictChanged()));
    this.badgeBox.replaceChildren(...this.badges.map((badge) => badge.button));
    this.right.prepend(...this.badges.map((badge) => badge.panel));
    this.stage.views = this.views;
    for (const view of this.views) this.connect(view);
    this.setUp();
    this.loading.remove();
    this.applyLink();
    if (this.steering) this.player.live = true;
    requestAnimationFrame((now) => this.frame(now));
    for (const badge of this.badges) void badge.ask(false);
  }

  /** After a run was loaded or replaced. */
  private setUp(): void {
    const [first] = this.views;
    document.title = `${this.views.map((v) => v.model.name).join(' | ')} – Tenon`;
    this.title.textContent = this.views.map((v) => v.model.name || v.model.file).join('  |  ');
    this.describe();
    this.player.end = Math.max(...this.views.map((v) => v.frames.end));
    this.bodyList.setView(this.view);
    this.plots.setViews(this.views);
    this.panel.sync();
    this.applyTheme();
    this.stage.resize();
    const { camera } = first.model;
    if (camera.eye?.length === 3 && camera.target?.length === 3) {
      if (camera.fov?.length) this.stage.perspective.fov = camera.fov[0];
      this.stage.lookAsInWide(new THREE.Vector3(...camera.eye), new THREE.Vector3(...camera.target));
    } else this.stage.fit(this.wholeBox(), this.slanted());
    this.firstEye.copy(this.stage.camera.position);
    this.firstTarget.copy(this.stage.controls.target);
    this.labelRuns();
    if (this.views.reduce((sum, v) => sum + v.bodies.triangles, 0) > 1.5e6) this.display.shadows = false;
    this.applyDisplay();
  }

  private describe(): void {
    const text = this.views.map((view) => {
      const { model } = view;
      const left = model.embedded && model.embedded.frames < model.embedded.recorded
        ? `, ${model.embedded.frames} of ${model.embedded.recorded} frames` : '';
      const { triangles, recordedTriangles } = view.bodies;
      const coarse = triangles < recordedTriangles ? `, drawn with ${short(triangles / 1e6)} of ${short(recordedTriangles / 1e6)} million triangles` : '';
      return `${model.method}, ${bodyCount(model)} bodies${model.joints.length ? `, ${model.joints.length} joints` : ''}, dt ${short(model.dt)} s${left}${coarse}`;
    });
    this.about.textContent = text.join('  |  ');
    this.about.title = this.about.textContent;
  }

  private labelRuns(): void {
    this.middle.querySelectorAll('.runlabel, .divider').forEach((element) => element.remove());
    if (this.views.length < 2) return;
    this.bodyList.element.hidden = this.right.hidden = true; // both parts stay in sight; the buttons bring the panels back
    this.middle.append(h('div', { class: 'divider' }));
    this.views.forEach((view, i) => this.middle.append(h('div', { class: 'runlabel', style: `left:calc(${50 * i}% + 12px)` }, `${view.model.file} · ${view.model.method}`)));
  }

  private connect(view: RunView): void {
    view.onchange = () => this.invalidate();
    view.onproblem = (text) => this.say(text);
    view.onreplaced = () => void this.reload(view);
    view.source.follow(
      (growth) => void this.grown(view, growth),
      (lost) => (lost ? this.say('The program that serves this run has ended; what was loaded stays.') : this.say('')),
    );
  }

  private async reload(view: RunView): Promise<void> {
    try {
      await view.load();
      this.connectAgain(view);
      this.badges[this.views.indexOf(view)]?.reset();
      this.setUp();
      this.player.time = Math.min(this.player.time, this.player.end);
      this.say('Another run has taken this file’s place.', true);
    } catch (error) {
      this.say((error as Error).message);
    }
  }
  private connectAgain(view: RunView): void {
    view.onchange = () => this.invalidate();
  }

  private async grown(view: RunView, growth: RunView['growth']): Promise<void> {
    const replaced = view.growth.generation && growth.generation !== view.growth.generation;
    view.growth = growth;
    if (growth.problem) this.say(growth.problem);
    if (replaced) return this.reload(view);
    if (growth.frames > view.frames.count) {
      await view.frames.extend().catch((error: Error) => this.say(error.message));
      this.player.end = Math.max(...this.views.map((v) => v.frames.end));
      if (this.badges[this.views.indexOf(view)]?.verdict?.state === 'done') this.badges[this.views.indexOf(view)].reset();
      if (!this.refreshTimer)
        this.refreshTimer = window.setTimeout(() => {
          this.refreshTimer = 0;
          void this.plots.refresh();
        }, 1000);
    }
    this.liveMark.hidden = growth.status !== 'running';
    if (growth.status !== 'running' && this.player.live) {
      this.player.live = false;
      void this.plots.refresh();
    }
    this.invalidate();
    return undefined;
  }

  private say(text: string, info = false): void {
    this.banner.textContent = text;
    this.banner.hidden = !text;
    this.banner.classList.toggle('info', info);
    if (info) window.setTimeout(() => (this.banner.textContent === text ? (this.banner.hidden = true) : undefined), 4000);
  }

  invalidate(): void {
    this.dirty = true;
  }

  private frame(now: number): void {
    requestAnimationFrame((next) => this.frame(next));
    const seconds = Math.min(0.25, (now - this.last) / 1000);
    this.last = now;
    if (this.player.advance(seconds)) this.dirty = true;
    if (!this.dirty || document.hidden) return;
    this.dirty = false;
    this.render();
  }

  /** Brings everything to the present time, at once. */
  render(): void {
    const began = performance.now();
    const time = this.player.shown;
    if (this.stage.software && this.player.playing) this.setRested(false);
    for (const view of this.views) view.update(time, this.display);
    if (this.views.every((view) => !view.moment)) return; // nothing has come yet
    this.stage.follow();
    this.stage.draw();
    this.tune(performance.now() - began);
    this.rest();
    const frame = this.view.moment?.index ?? 0;
    this.transport.draw(this.view.moment?.a.head.numbers[this.view.moment.ia] ?? frame, this.view.model.embedded?.recorded ?? this.view.frames.count,
      this.views.some((view) => view.growth.status === 'running'));
    this.badges.forEach((badge, i) => badge.draw(this.views[i].moment?.index ?? 0));
    this.inspector.draw(this.view);
    this.plots.setTime(time, this.player.end);
    this.drawLegend();
    if (!this.hashTimer) this.hashTimer = window.setTimeout(() => this.saveLink(), 400);
  }

  /** Without a graphics card shadows wait until nothing moves. */
  private rest(): void {
    if (!this.stage.software || !this.display.shadows) return;
    window.clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => {
      if (this.player.playing || this.rested) return;
      this.setRested(true);
      this.invalidate();
    }, 400);
  }
  private setRested(rested: boolean): void {
    if (this.rested === rested) return;
    this.rested = rested;
    for (const view of this.views) view.setShadows(this.display.shadows && rested);
  }

  /** Machines without a graphics card: shadows go first. */
  private tune(ms: number): void {
    this.slow = ms > 120 && this.player.playing ? this.slow + 1 : 0;
    if (this.slow > 8 && this.display.shadows) {
      this.display.shadows = false;
      this.panel.sync();
      this.applyDisplay();
    }
  }

  private drawLegend(): void {
    const { range, overlays } = this.view;
    const arrows: [string, string][] = [];
    if (overlays.arrowCount) arrows.push(['force', `longest force ${short(overlays.largestForce)} N`]);
    if (overlays.pressureCount) arrows.push(['pressure', `longest pressure ${short(overlays.largestPressure)} Pa`]);
    const keys = this.view.bodies.colorKeys(this.display.color);
    this.legend.hidden = !range && !arrows.length && !keys.length;
    const text = JSON.stringify([range, arrows, keys]);
    if (this.legend.dataset.text === text) return;
    this.legend.dataset.text = text;
    const scale = range ? [h('b', {}, range.title + (range.unit ? ` [${range.unit}]` : '')),
      h('div', { class: 'bar', style: `background:${scaleGradient()}` }),
      h('div', { class: 'ends' }, h('span', {}, short(range.low)), h('span', {}, short(range.high)))] : [];
    const swatches = keys.map(([color, words]) => h('div', { class: 'key' }, h('i', { style: `background:#${color.getHexString()}` }), words));
    this.legend.replaceChildren(...scale, ...swatches, ...arrows.map(([kind, words]) => h('div', { class: `arrow ${kind}` }, words)));
  }

  // What the buttons and keys do.

  select(view: number, body: number): void {
    this.active = view;
    for (const other of this.views) other.selected = -1;
    this.view.selected = body;
    // the same body in the run beside it, by its name
    if (body >= 0) {
      const name = nameOf(this.view.model, body);
      for (const other of this.views) if (other !== this.view) other.selected = other.model.bodies.name.indexOf(name);
      if (window.innerWidth <= 700) {
        this.right.hidden = false;
        this.bodyList.element.hidden = true;
      }
    } else if (this.stage.followed) this.stage.setFollowed(undefined);
    this.bodyList.setView(this.view);
    this.invalidate();
  }

  step(by: number): void {
    const { frames } = this.view;
    this.player.playing = false;
    const now = frames.indexAt(this.player.shown);
    const between = this.player.shown - frames.times[now] > 1e-9;
    const index = now + (by < 0 && between ? by + 1 : by);
    this.player.seek(frames.times[Math.min(frames.count - 1, Math.max(0, index))]);
  }

  private wholeBox(): THREE.Box3 {
    const box = new THREE.Box3();
    for (const view of this.views) box.union(view.interest);
    return box;
  }
  private slanted(): THREE.Vector3 {
    return this.stage.up.z > 0.5 ? new THREE.Vector3(0.62, -1, 0.5) : new THREE.Vector3(0.62, 0.5, 1);
  }
  fitAll(): void {
    this.stage.setFollowed(undefined);
    this.stage.fit(this.wholeBox());
  }
  fitSelected(): void {
    const body = this.view.selected;
    if (body < 0) return this.fitAll();
    const center = this.view.bodies.centerOf(body, new THREE.Vector3());
    const radius = Math.min(this.view.bodies.radiusOf(body), this.view.size);
    this.stage.fit(new THREE.Box3().setFromCenterAndSize(center, new THREE.Vector3().setScalar(1.6 * radius)));
    return undefined;
  }
  resetView(): void {
    this.stage.setFollowed(undefined);
    this.stage.look(this.firstEye.clone(), this.firstTarget.clone());
  }
  viewAlong(axis: 'x' | 'y' | 'z'): void {
    const direction = new THREE.Vector3();
    direction[axis] = 1;
    // straight down has no up of its own: lean a little
    if (direction.dot(this.stage.up) > 0.9) direction.add(this.stage.up.z > 0.5 ? new THREE.Vector3(0, -1e-3, 0) : new THREE.Vector3(0, 0, 1e-3));
    this.stage.fit(this.wholeBox(), direction);
  }
  toggleOrthographic(): void {
    this.stage.setOrthographic(this.stage.camera !== this.stage.orthographic);
    this.invalidate();
  }
  toggleFollow(): void {
    const body = this.view.selected;
    const on = this.stage.followed?.body === body && this.stage.followed.view === this.active;
    this.stage.setFollowed(body < 0 || on ? undefined : { view: this.active, body });
    this.invalidate();
  }
  togglePlots(): void {
    this.plots.toggle();
    this.invalidate();
  }
  nextColor(): void {
    const modes = COLOR_MODES.map(([mode]) => mode).filter((mode) => this.views.some((v) => v.model.elastic.length) || !['strain', 'strain_rate', 'component'].includes(mode));
    this.display.color = modes[(modes.indexOf(this.display.color) + 1) % modes.length];
    this.panel.sync();
    this.applyDisplay();
  }
  togglePanel(panel: HTMLElement): void {
    const open = panel.hidden;
    if (window.innerWidth <= 700) this.bodyList.element.hidden = this.right.hidden = true;
    panel.hidden = !open;
  }
  search(): void {
    this.bodyList.element.hidden = false;
    this.bodyList.focus();
  }
  applyDisplay(): void {
    for (const view of this.views) {
      view.bodies.setLook(this.display.wireframe, this.display.clip.on);
      view.setShadows(this.display.shadows && this.rested);
    }
    this.stage.setClip(this.display);
    this.invalidate();
  }
  private verdictChanged(): void {
    this.transport.drawStrip(this.badges[this.active]?.verdict?.frames ?? '');
    this.invalidate();
  }
  private jump(view: RunView, finding: Finding): void {
    this.player.playing = false;
    this.player.seek(view.frames.times[Math.min(finding.frame, view.frames.count - 1)]);
    const body = view.model.bodies.name.indexOf(finding.a);
    if (body < 0) return;
    this.select(this.views.indexOf(view), body);
    this.render();
    this.fitSelected();
  }

  private applyTheme(): void {
    const dark = document.documentElement.dataset.theme === 'dark';
    const color = new THREE.Color(dark ? '#1b1e23' : '#e9ecf0');
    for (const view of this.views) view.setTheme(color);
    this.plots.redraw();
    this.transport.drawStrip(this.badges[this.active]?.verdict?.frames ?? '');
    this.invalidate();
  }
  toggleTheme(): void {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('tenon-theme', root.dataset.theme);
    } catch {
      // it lasts until the page is closed
    }
    this.applyTheme();
  }
  toggleHelp(): void {
    if (this.help) {
      this.help.remove();
      this.help = undefined;
      return;
    }
    this.help = helpPanel(() => this.toggleHelp(), this.steering ? 'This simulation is going on: drag a body to pull it with a spring.' : '');
    document.body.append(this.help);
  }
  closeHelp(): boolean {
    if (!this.help) return false;
    this.toggleHelp();
    return true;
  }
  screenshot(): void {
    this.render();
    const link = document.createElement('a');
    link.download = `${this.view.model.name || 'tenon'}-${this.player.shown.toFixed(3)}s.png`;
    link.href = this.stage.canvas.toDataURL('image/png');
    link.click();
  }

  private saveLink(): void {
    this.hashTimer = 0;
    const { camera, controls } = this.stage;
    const { display, view } = this;
    const show = (LINKED).filter((key) => display[key]);
    const link = writeLink({
      time: this.player.shown, eye: camera.position.toArray(), target: controls.target.toArray(),
      orthographic: camera === this.stage.orthographic, selected: view.selected >= 0 ? nameOf(view.model, view.selected) : undefined,
      color: display.color, show,
    });
    if (link === location.hash || this.player.playing || this.player.live) return;
    try {
      history.replaceState(null, '', link);
    } catch {
      // some browsers refuse this for files
    }
  }

  private applyLink(): void {
    const link = readLink(location.hash);
    const { display } = this;
    if (link.orthographic !== undefined) this.stage.setOrthographic(link.orthographic);
    if (link.eye && link.target) this.stage.look(new THREE.Vector3(...link.eye), new THREE.Vector3(...link.target));
    if (COLOR_MODES.some(([mode]) => mode === link.color)) display.color = link.color as ColorMode;
    if (link.show) for (const key of LINKED) display[key] = link.show.includes(key);
    if (link.selected !== undefined) {
      for (let body = 0; body < bodyCount(this.view.model); body++) if (nameOf(this.view.model, body) === link.selected) this.select(this.active, body);
    }
    if (link.time !== undefined) this.player.seek(link.time);
    this.panel.sync();
    this.applyDisplay();
  }

  /** What is shown, in numbers: for tests. */
  state(): Record<string, unknown> {
    const { view } = this;
    const center = new THREE.Vector3();
    const body = view.selected;
    return {
      time: this.player.shown, end: this.player.end, playing: this.player.playing, live: this.player.live, speed: this.player.speed,
      frame: view.moment?.index, alpha: view.moment?.alpha, frames: view.frames.count, memory: view.frames.memory,
      selected: body >= 0 ? nameOf(view.model, body) : '', center: body >= 0 ? view.bodies.centerOf(body, center).toArray() : null,
      arrows: view.overlays.arrowCount, pressures: view.overlays.pressureCount, trails: view.overlays.trails.segments, hidden: view.bodies.hidden.size, range: view.range, drawn: this.stage.drawn,
      verdict: this.badges[this.active]?.verdict, triangles: view.bodies.triangles,
    };
  }

  /** Where a body's centre is in the canvas: for tests. */
  screenOf(name: string, run = 0): [number, number] {
    const view = this.views[run];
    const body = [...view.model.bodies.name, ...view.model.elastic.map((e) => e.name)].indexOf(name);
    return this.stage.project(view.bodies.centerOf(body, new THREE.Vector3()), run);
  }

}
