// Elements without HTML in strings: every name of a run is set as text.
type Child = Node | string | undefined | null | false;
type Props = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

export function h(tag: string, props: Props = {}, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}

const ICONS: Record<string, string> = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M6 4.5h4v15H6zM14 4.5h4v15h-4z',
  back: 'M6 5h2.4v14H6zM19 5v14L9.5 12z',
  forward: 'M15.6 5H18v14h-2.4zM5 5v14l9.5-7z',
  loop: 'M17 3l4 4-4 4V8H8a3 3 0 0 0-3 3v1H3v-1a5 5 0 0 1 5-5h9zM7 21l-4-4 4-4v3h9a3 3 0 0 0 3-3v-1h2v1a5 5 0 0 1-5 5H7z',
  list: 'M4 6h2.2v2.2H4zM9 6h11v2.2H9zM4 11h2.2v2.2H4zM9 11h11v2.2H9zM4 16h2.2v2.2H4zM9 16h11v2.2H9z',
  plots: 'M4 4h2v14h15v2H4zM8 15l3.8-5 3.2 3 4.6-6.4 1.5 1.1-5.8 8.1-3.2-3L9.6 16z',
  sliders: 'M4 7h8.2a3 3 0 0 1 5.6 0H20v2h-2.2a3 3 0 0 1-5.6 0H4zM4 15h2.2a3 3 0 0 1 5.6 0H20v2h-8.2a3 3 0 0 1-5.6 0H4z',
  camera: 'M9 5l-1.5 2H4v12h16V7h-3.5L15 5zm3 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zm0 2a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  sun: 'M12 7a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM11 1.5h2v3.6h-2zM11 19h2v3.6h-2zM1.5 11h3.6v2H1.5zM19 11h3.6v2H19zM3.9 5.3l1.4-1.4 2.5 2.5-1.4 1.4zM16.2 17.6l1.4-1.4 2.5 2.5-1.4 1.4zM3.9 18.7l2.5-2.5 1.4 1.4-2.5 2.5zM16.2 6.4l2.5-2.5 1.4 1.4-2.5 2.5z',
  help: 'M12 2.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19zm0 2a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15zm-1.1 10.8h2.2v2.2h-2.2zm1.2-8.6c2.2 0 3.7 1.3 3.7 3.2 0 1.5-.9 2.2-1.7 2.8-.7.5-1 .8-1 1.5v.2h-2.1v-.4c0-1.6.9-2.3 1.7-2.9.6-.5 1-.7 1-1.3 0-.7-.6-1.2-1.6-1.2-1 0-1.7.6-1.8 1.6H8.200c.1-2.100 1.700-3.500 3.900-3.500z',
  eye: 'M12 5.500c5 0 8.500 4 9.800 6.500-1.300 2.500-4.800 6.500-9.800 6.500S3.500 14.500 2.200 12C3.500 9.500 7 5.500 12 5.500zm0 2.200a4.300 4.300 0 1 0 0 8.600 4.300 4.300 0 0 0 0-8.600zm0 2.100a2.200 2.200 0 1 1 0 4.400 2.200 2.200 0 0 1 0-4.400z',
  close: 'M6.400 5L12 10.600 17.600 5 19 6.400 13.400 12l5.600 5.600-1.400 1.400L12 13.400 6.400 19 5 17.600 10.600 12 5 6.400z',
  fit: 'M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z',
};

export function icon(name: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', ICONS[name] ?? '');
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return svg;
}

export function iconButton(name: string, title: string, click: () => void): HTMLButtonElement {
  const button = h('button', { class: 'icon', title, 'aria-label': title, click }, icon(name)) as HTMLButtonElement;
  return button;
}
