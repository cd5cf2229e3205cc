// Colours of bodies, and the scales that numbers are shown on.
import { Color } from 'three';

export const COLOR_MODES = [
  ['body', 'Body'],
  ['material', 'Material'],
  ['speed', 'Speed'],
  ['force', 'Contact force'],
  ['strain', 'Strain'],
  ['strain_rate', 'Strain rate'],
  ['component', 'Rigid component'],
] as const;
export type ColorMode = (typeof COLOR_MODES)[number][0];

export const ACCENT = new Color('#f08a3c');
export const NEUTRAL = new Color('#8d949e');

const PALETTE = ['#e07a3f', '#4385bd', '#71a85e', '#d15658', '#ecb94f', '#8b74b4', '#53aca9', '#da8ba8', '#a0795d',
  '#7994c7', '#b0bb54', '#936081'].map((text) => new Color(text));

export function paletteColor(index: number): Color {
  return PALETTE[((index % PALETTE.length) + PALETTE.length) % PALETTE.length];
}

// Dark blue to yellow through teal and green: grows evenly in lightness, also in grey.
const STOPS: [number, number, number][] = [
  [0.19, 0.1, 0.36], [0.22, 0.27, 0.55], [0.16, 0.45, 0.56], [0.13, 0.6, 0.53], [0.37, 0.75, 0.38], [0.7, 0.85, 0.2],
  [0.99, 0.91, 0.2],
];

/** A scale colour for 0..1, as sRGB components. */
export function scaleColor(value: number): [number, number, number] {
  const x = Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(x));
  const t = x - i;
  return [0, 1, 2].map((k) => STOPS[i][k] * (1 - t) + STOPS[i + 1][k] * t) as [number, number, number];
}

const TABLE = Array.from({ length: 256 }, (_, i) => new Color().setRGB(...scaleColor(i / 255), 'srgb'));

/** The same in linear light, for three.js. */
export function scaleLinear(value: number): Color {
  return TABLE[Math.round(255 * Math.min(1, Math.max(0, Number.isFinite(value) ? value : 0)))];
}

export function scaleGradient(): string {
  const css = STOPS.map((c) => `rgb(${c.map((x) => Math.round(255 * x)).join(' ')})`);
  return `linear-gradient(to right, ${css.join(', ')})`;
}

/** 1234.5678 as a person would write it. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace('e+', 'e');
  return String(Number(value.toPrecision(4)));
}
