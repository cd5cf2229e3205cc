// The part of the address after '#': camera, time, selection, colours. Reading it back shows the same.
export interface LinkState {
  time?: number;
  eye?: number[];
  target?: number[];
  orthographic?: boolean;
  selected?: string;
  color?: string;
  show?: string[]; // points, forces, pressures, joints, wireframe, trail
}

const digits = (value: number) => String(Number(value.toPrecision(6)));

export function writeLink(state: LinkState): string {
  const params = new URLSearchParams();
  if (state.time !== undefined) params.set('t', digits(state.time));
  if (state.eye && state.target) params.set('cam', [...state.eye, ...state.target].map(digits).join(','));
  if (state.orthographic) params.set('ortho', '1');
  if (state.selected !== undefined) params.set('sel', state.selected);
  if (state.color && state.color !== 'body') params.set('color', state.color);
  if (state.show?.length) params.set('show', state.show.join(','));
  return '#' + params.toString();
}

export function readLink(hash: string): LinkState {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const state: LinkState = {};
  const time = Number(params.get('t'));
  if (params.has('t') && Number.isFinite(time)) state.time = time;
  const numbers = (params.get('cam') ?? '').split(',').map(Number);
  if (numbers.length === 6 && numbers.every(Number.isFinite)) {
    state.eye = numbers.slice(0, 3);
    state.target = numbers.slice(3);
  }
  if (params.get('ortho') === '1') state.orthographic = true;
  if (params.has('sel')) state.selected = params.get('sel') ?? '';
  if (params.has('color')) state.color = params.get('color') ?? 'body';
  if (params.has('show')) state.show = (params.get('show') ?? '').split(',').filter(Boolean);
  return state;
}
