// Pieces of a run from bytes; docs/view.md gives the layout.
import type { Model } from './model';

/** Half precision to a number. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1024 + mantissa) * 2 ** (exponent - 25);
}

class Reader {
  private at = 0;
  private view: DataView;
  constructor(private bytes: ArrayBuffer) {
    this.view = new DataView(bytes);
  }
  align(size: number): void {
    this.at = Math.ceil(this.at / size) * size;
  }
  u32(): number {
    this.at += 4;
    return this.view.getUint32(this.at - 4, true);
  }
  f64(): number {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }
  private take(bytes: number): number {
    const start = this.at;
    if (start + bytes > this.bytes.byteLength) throw new Error('a piece of the run is cut off');
    this.at += bytes;
    return start;
  }
  doubles(count: number): Float64Array {
    this.align(4);
    const start = this.take(8 * count);
    return new Float64Array(this.bytes.slice(start, start + 8 * count));
  }
  words(count: number): Uint32Array {
    this.align(4);
    return new Uint32Array(this.bytes, this.take(4 * count), count);
  }
  integers(count: number): Int32Array {
    this.align(4);
    return new Int32Array(this.bytes, this.take(4 * count), count);
  }
  floats(count: number): Float32Array {
    this.align(4);
    return new Float32Array(this.bytes, this.take(4 * count), count);
  }
  shorts(count: number): Uint16Array {
    this.align(4);
    return new Uint16Array(this.bytes, this.take(2 * count), count);
  }
  /** Byte planes: all lowest bytes first. */
  planes(count: number, size: number): Uint8Array {
    return new Uint8Array(this.bytes, this.take(count * size), count * size);
  }
  get left(): number {
    return this.bytes.byteLength - this.at;
  }
}

interface Head {
  count: number;
  times: Float64Array;
  numbers: Uint32Array;
  steps: Uint32Array;
}

function readHead(reader: Reader, magic: number): Head {
  if (reader.u32() !== magic) throw new Error('a piece of the run is not what was asked for');
  const count = reader.u32();
  const times = reader.doubles(count);
  const numbers = reader.words(count);
  const steps = reader.words(count);
  reader.align(8);
  return { count, times, numbers, steps };
}

/** Sums differences between frames of whole numbers of the quantum. */
function positions(planes: Uint8Array, frames: number, perFrame: number, quantum: number): Float32Array {
  const total = frames * perFrame;
  const out = new Float32Array(total);
  const last = new Int32Array(perFrame);
  for (let f = 0, i = 0; f < frames; f++)
    for (let k = 0; k < perFrame; k++, i++) {
      const delta = planes[i] | (planes[total + i] << 8) | (planes[2 * total + i] << 16) | (planes[3 * total + i] << 24);
      last[k] = (last[k] + delta) | 0;
      out[i] = last[k] * quantum;
    }
  return out;
}

function rotations(planes: Uint8Array, frames: number, perFrame: number): Float32Array {
  const total = frames * perFrame;
  const out = new Float32Array(total);
  const last = new Int16Array(perFrame);
  for (let f = 0, i = 0; f < frames; f++)
    for (let k = 0; k < perFrame; k += 4, i += 4) {
      let norm = 0;
      for (let c = 0; c < 4; c++) {
        last[k + c] += planes[i + c] | (planes[total + i + c] << 8);
        out[i + c] = last[k + c];
        norm += last[k + c] * last[k + c];
      }
      const scale = norm > 0 ? 1 / Math.sqrt(norm) : 0;
      for (let c = 0; c < 4; c++) out[i + c] *= scale;
    }
  return out;
}

function halves(planes: Uint8Array, total: number): Uint16Array {
  const out = new Uint16Array(total);
  for (let i = 0; i < total; i++) out[i] = planes[i] | (planes[total + i] << 8);
  return out;
}

/** Poses of all bodies in consecutive frames. */
export class FrameChunk {
  readonly bytes: number;
  readonly slot: Int32Array; // per body: place among the moving (>= 0) or ~place among the still
  readonly bent: Int32Array; // per body: place among the deformed or -1

  constructor(
    readonly head: Head,
    bodies: number,
    readonly moving: Uint32Array,
    readonly still: Uint32Array,
    readonly deformed: Uint32Array,
    readonly matrix: Float32Array,
    readonly position: Float32Array,
    readonly rotation: Float32Array,
    readonly velocity: Uint16Array,
    readonly stillPosition: Float32Array,
    readonly stillRotation: Float32Array,
    readonly elastic: Float32Array,
    readonly elasticVertices: number,
  ) {
    this.slot = new Int32Array(bodies);
    this.bent = new Int32Array(bodies).fill(-1);
    moving.forEach((body, i) => (this.slot[body] = i));
    still.forEach((body, i) => (this.slot[body] = ~i));
    deformed.forEach((body, i) => (this.bent[body] = i));
    this.bytes =
      matrix.byteLength + position.byteLength + rotation.byteLength + velocity.byteLength + elastic.byteLength +
      8 * bodies + stillPosition.byteLength + stillRotation.byteLength;
  }

  get count(): number {
    return this.head.count;
  }

  /** Linear and angular velocity of a body in a frame. */
  velocityOf(body: number, frame: number, out: Float64Array): Float64Array {
    const slot = this.slot[body];
    const base = (frame * this.moving.length + slot) * 6;
    for (let k = 0; k < 6; k++) out[k] = slot < 0 ? 0 : fromHalf(this.velocity[base + k]);
    return out;
  }
}

export function decodeFrames(bytes: ArrayBuffer, model: Model): FrameChunk {
  const reader = new Reader(bytes);
  const head = readHead(reader, 0x31464e54);
  const n = head.count;
  const quantum = reader.f64();
  const [moving, still, deformed, vertices] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  const movingIds = reader.words(moving);
  const stillIds = reader.words(still);
  const deformedIds = reader.words(deformed);
  const matrix = reader.floats(n * deformed * 9).slice();
  const position = positions(reader.planes(n * moving * 3, 4), n, moving * 3, quantum);
  const rotation = rotations(reader.planes(n * moving * 4, 2), n, moving * 4);
  const velocity = halves(reader.planes(n * moving * 6, 2), n * moving * 6);
  const stillPosition = positions(reader.planes(still * 3, 4), 1, still * 3, quantum);
  const stillRotation = rotations(reader.planes(still * 4, 2), 1, still * 4);
  const elastic = positions(reader.planes(n * vertices * 3, 4), n, vertices * 3, quantum);
  return new FrameChunk(
    { ...head, numbers: head.numbers.slice(), steps: head.steps.slice() },
    model.bodies.name.length, movingIds.slice(), stillIds.slice(), deformedIds.slice(),
    matrix, position, rotation, velocity, stillPosition, stillRotation, elastic, vertices,
  );
}

export interface FrameContacts {
  total: number;
  count: number;
  pairs: Int32Array; // a, b
  numbers: Float32Array; // point 3, normal 3, force 3, distance
  joints: Float32Array; // per joint force 3, torque 3, coordinate 3
}

export function decodeContacts(bytes: ArrayBuffer, model: Model): FrameContacts[] {
  const reader = new Reader(bytes);
  const { count } = readHead(reader, 0x31434e54);
  const total = reader.words(count);
  const shown = reader.words(count);
  const sum = shown.reduce((a, b) => a + b, 0);
  const pairs = reader.integers(2 * sum);
  const numbers = reader.floats(10 * sum);
  const joints = reader.floats(reader.left >> 2);
  const frames: FrameContacts[] = [];
  const perFrame = Math.min(model.joints.length * 9, joints.length / Math.max(1, count));
  for (let f = 0, at = 0; f < count; f++) {
    const n = shown[f];
    frames.push({
      total: total[f],
      count: n,
      pairs: pairs.subarray(2 * at, 2 * (at + n)),
      numbers: numbers.subarray(10 * at, 10 * (at + n)),
      joints: joints.subarray(f * perFrame, (f + 1) * perFrame),
    });
    at += n;
  }
  return frames;
}

/** One number per drawn triangle of the elastic bodies, for each frame. */
export function decodeField(bytes: ArrayBuffer): Float32Array[] {
  const reader = new Reader(bytes);
  const { count } = readHead(reader, 0x31444e54);
  const perFrame = count ? Math.floor(reader.left / 2 / count) : 0;
  const raw = reader.shorts(perFrame * count);
  return Array.from({ length: count }, (_, f) => Float32Array.from(raw.subarray(f * perFrame, (f + 1) * perFrame), fromHalf));
}
