// What the server says about a run, as it is sent.

export interface ShapeInfo {
  name: string;
  vertices: number;
  indices: number;
  center: [number, number, number];
  radius: number;
  closed: boolean;
}

export interface ElasticInfo {
  name: string;
  vertices: number;
  triangles: number;
  tets: number;
  mass: number;
  material: string;
  color: number;
}

export interface JointInfo {
  name: string;
  type: string;
  a: number;
  b: number;
  point_a: number[];
  point_b: number[];
  frame_a: number[];
  frame_b: number[];
}

export interface Model {
  generation: number;
  file: string;
  name: string;
  method: string;
  dt: number;
  up: 'y' | 'z';
  camera: Record<string, number[]>;
  interest: [number[], number[]];
  quantum: number;
  chunk_frames: number;
  shapes: ShapeInfo[];
  bodies: {
    name: string[];
    shape: number[];
    type: number[];
    mass: number[];
    color: number[];
    material: string[];
  };
  elastic: ElasticInfo[];
  joints: JointInfo[];
  series: string[];
  embedded?: { frames: number; recorded: number; contacts: boolean };
}

export interface Growth {
  generation: number;
  frames: number;
  time: number;
  status: string;
  method: string;
  problem: string;
  file?: string;
}

export interface Series {
  name: string;
  unit: string;
  time: number[];
  value: number[];
}

export interface Finding {
  kind: string;
  frame: number;
  time: number;
  a: string;
  b: string;
  text: string;
}

export interface Verdict {
  state: 'none' | 'running' | 'done' | 'failed';
  progress: number;
  frames: string; // one letter a frame: p proven, u unproven, v violated
  verdict: string;
  problem: string;
  result: { findings?: Finding[]; [key: string]: unknown } | null;
}

export const BODY_TYPES = ['dynamic', 'static', 'kinematic'];

/** Elastic bodies are numbered after the bodies. */
export function nameOf(model: Model, body: number): string {
  if (body < 0) return 'world';
  const count = model.bodies.name.length;
  return body < count ? model.bodies.name[body] : (model.elastic[body - count]?.name ?? '?');
}

export function bodyCount(model: Model): number {
  return model.bodies.name.length + model.elastic.length;
}
