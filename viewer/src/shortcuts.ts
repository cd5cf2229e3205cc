// Keys; src/help.ts lists them.
import type { App } from './app';

export function bindKeys(app: App): void {
  const keys: Record<string, (shift: boolean) => void> = {
    ' ': () => app.player.toggle(),
    ArrowLeft: (shift) => app.step(shift ? -10 : -1),
    ArrowRight: (shift) => app.step(shift ? 10 : 1),
    Home: () => app.player.seek(0),
    End: () => app.player.seek(app.player.end),
    ',': () => app.player.faster(-1),
    '.': () => app.player.faster(1),
    l: () => {
      app.player.loop = !app.player.loop;
      app.invalidate();
    },
    f: () => app.fitSelected(),
    a: () => app.fitAll(),
    v: () => app.toggleFollow(),
    '1': () => app.viewAlong('x'),
    '2': () => app.viewAlong('y'),
    '3': () => app.viewAlong('z'),
    '0': () => app.resetView(),
    o: () => app.toggleOrthographic(),
    p: () => app.panel.toggle('points'),
    c: () => app.panel.toggle('forces'),
    r: () => app.panel.toggle('pressures'),
    j: () => app.panel.toggle('joints'),
    t: () => app.panel.toggle('trail'),
    w: () => app.panel.toggle('wireframe'),
    x: () => app.panel.toggle('clip'),
    k: () => app.nextColor(),
    h: () => app.view.selected >= 0 && app.bodyList.toggle(app.view.selected),
    i: () => app.view.selected >= 0 && app.bodyList.isolate(app.view.selected),
    u: () => {
      app.view.bodies.hidden.clear();
      app.bodyList.draw();
      app.invalidate();
    },
    '/': () => app.search(),
    g: () => app.togglePlots(),
    d: () => app.toggleTheme(),
    s: () => app.screenshot(),
    '?': () => app.toggleHelp(),
    Escape: () => {
      if (!app.closeHelp()) app.select(app.active, -1);
    },
  };
  window.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !app.views.length) return;
    const target = event.target as HTMLElement;
    const typing = target instanceof HTMLInputElement && target.type !== 'range' && target.type !== 'checkbox';
    if (typing) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (target instanceof HTMLSelectElement) return;
    // a button with the focus keeps its own keys
    if (event.key === ' ' && (target instanceof HTMLButtonElement || (target instanceof HTMLInputElement && target.type === 'checkbox'))) return;
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action(event.shiftKey);
  });
}
