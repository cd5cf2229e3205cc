// The bodies by name: search, choose, hide, show one alone.
import { h, iconButton } from './dom';
import { nameOf, bodyCount, type Model } from './model';
import type { RunView } from './runview';

const SHOWN = 300;

/** Bodies whose names hold the text, whatever its case. */
export function matching(model: Model, text: string): number[] {
  const wanted = text.trim().toLowerCase();
  const found: number[] = [];
  const count = bodyCount(model);
  for (let body = 0; body < count; body++) if (!wanted || nameOf(model, body).toLowerCase().includes(wanted)) found.push(body);
  return found;
}

export class BodyList {
  readonly element: HTMLElement;
  private search = h('input', { class: 'search', type: 'search', placeholder: 'Search bodies', 'aria-label': 'Search bodies' }) as HTMLInputElement;
  private list = h('div', { class: 'list', role: 'listbox', 'aria-label': 'Bodies' });
  private count = h('h2', {}, 'Bodies');
  private view: RunView | undefined;

  constructor(private choose: (body: number) => void, private changed: () => void) {
    this.search.addEventListener('input', () => this.draw());
    const show = h('button', { click: () => this.showAll(), title: 'Show all bodies' }, 'Show all');
    this.element = h('div', { class: 'panel left' },
      h('div', { class: 'section row-head' }, this.count, show),
      h('div', { class: 'section' }, this.search), this.list);
  }

  focus(): void {
    this.search.focus();
    this.search.select();
  }

  setView(view: RunView): void {
    this.view = view;
    this.draw();
  }

  private showAll(): void {
    this.view?.bodies.hidden.clear();
    this.changed();
    this.draw();
  }

  toggle(body: number): void {
    const hidden = this.view?.bodies.hidden;
    if (!hidden) return;
    if (!hidden.delete(body)) hidden.add(body);
    this.changed();
    this.draw();
  }

  /** Hides all others; when they are hidden already, shows them again. */
  isolate(body: number): void {
    if (!this.view) return;
    const { hidden } = this.view.bodies;
    const count = bodyCount(this.view.model);
    const alone = hidden.size === count - 1 && !hidden.has(body);
    hidden.clear();
    if (!alone) for (let other = 0; other < count; other++) if (other !== body) hidden.add(other);
    this.changed();
    this.draw();
  }

  draw(): void {
    const view = this.view;
    if (!view?.model) return;
    const { model } = view;
    const found = matching(model, this.search.value);
    this.count.textContent = `Bodies ${found.length === bodyCount(model) ? found.length : `${found.length} of ${bodyCount(model)}`}`;
    const rows = found.slice(0, SHOWN).map((body) => {
      const elastic = body - model.bodies.name.length;
      const color = elastic >= 0 ? model.elastic[elastic].color : model.bodies.color[body];
      const off = view.bodies.hidden.has(body);
      const eye = iconButton('eye', off ? 'Show' : 'Hide', () => {});
      eye.addEventListener('click', (event) => {
        event.stopPropagation();
        this.toggle(body);
      });
      return h('div', {
        class: `item${body === view.selected ? ' chosen' : ''}${off ? ' off' : ''}`, role: 'option', tabindex: 0,
        'aria-selected': String(body === view.selected), title: nameOf(model, body),
        click: () => this.choose(body), dblclick: () => this.isolate(body),
        keydown: (event: KeyboardEvent) => event.key === 'Enter' && this.choose(body),
      }, h('i', { style: `background:#${color.toString(16).padStart(6, '0')}` }), h('span', {}, nameOf(model, body)), eye);
    });
    if (found.length > SHOWN) rows.push(h('div', { class: 'more' }, `and ${found.length - SHOWN} more: search to narrow down`));
    if (!found.length) rows.push(h('div', { class: 'more' }, 'No body has such a name.'));
    this.list.replaceChildren(...rows);
  }
}

