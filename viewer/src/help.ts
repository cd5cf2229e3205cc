// The panel of shortcuts.
import { h, iconButton } from './dom';

export const SHORTCUTS: [string, string][] = [
  ['Space', 'play or pause'], ['← →', 'one frame back or on'], ['Shift ← →', 'ten frames'], ['Home End', 'start or end'],
  [', .', 'slower or faster'], ['L', 'loop'], ['F', 'fit the chosen body, or all'], ['A', 'fit all'], ['V', 'follow the chosen body'],
  ['1 2 3', 'view along x, y, z'], ['0', 'the first view'], ['O', 'orthographic'], ['P', 'contact points'], ['C', 'contact forces'],
  ['R', 'contact pressures'], ['J', 'joint frames and gaps'], ['T', 'trails'], ['W', 'wireframe'], ['X', 'clipping plane'], ['K', 'next colouring'], ['H', 'hide the chosen body'],
  ['I', 'isolate it'], ['U', 'show all'], ['/', 'search'], ['G', 'plots'], ['D', 'dark or light'], ['S', 'screenshot'], ['Esc', 'choose nothing'], ['?', 'this panel'],
];

export function helpPanel(close: () => void, note: string): HTMLElement {
  const list = h('dl', {});
  for (const [key, text] of SHORTCUTS) list.append(h('dt', {}, h('kbd', {}, key)), h('dd', {}, text));
  const box = h('div', { role: 'dialog', 'aria-label': 'Help' },
    h('h1', {}, 'Tenon viewer', iconButton('close', 'Close', close)),
    h('p', {}, 'Drag to orbit, right drag or Shift drag to pan, wheel to zoom. Click a body for what is known about it; double click to fit it.'),
    note ? h('p', {}, note) : '', list);
  return h('div', { class: 'help', click: (event: MouseEvent) => event.target === event.currentTarget && close() }, box);
}
