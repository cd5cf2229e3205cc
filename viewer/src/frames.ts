// The frames of a run as they are needed: pieces are fetched ahead, and the oldest given up beyond a number of bytes.
import { decodeContacts, decodeField, decodeFrames, type FrameChunk, type FrameContacts } from './decode';
import type { Model } from './model';
import type { Source } from './source';

/** Keeps the most recently used values up to a total size. */
export class SizedCache<T> {
  private entries = new Map<string, { value: T; size: number }>();
  private total = 0;
  constructor(private limit: number) {}

  get(key: string): T | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.value;
  }
  set(key: string, value: T, size: number): void {
    this.delete(key);
    this.entries.set(key, { value, size });
    this.total += size;
    for (const oldest of this.entries.keys()) {
      if (this.total <= this.limit || this.entries.size <= 3) break;
      this.delete(oldest);
    }
  }
  delete(key: string): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    this.total -= entry.size;
    this.entries.delete(key);
  }
  get bytes(): number {
    return this.total;
  }
}

/** Two frames and how far between them; the same frame twice where there is no next. */
export interface Moment {
  index: number; // of the first
  alpha: number;
  a: FrameChunk;
  ia: number;
  b: FrameChunk;
  ib: number;
}

export class FrameStore {
  times = new Float64Array(0);
  onload: () => void = () => {};
  onerror: (error: Error) => void = () => {};
  private chunks = new SizedCache<FrameChunk>(192e6);
  private extras = new SizedCache<unknown>(64e6);
  private pending = new Set<string>();
  maxSpeed = 0;

  constructor(private source: Source, private model: Model) {}

  get count(): number {
    return this.times.length;
  }
  /** Frames in a piece. */
  get pieceFrames(): number {
    return this.model.chunk_frames;
  }
  get end(): number {
    return this.count ? this.times[this.count - 1] : 0;
  }
  get memory(): number {
    return this.chunks.bytes + this.extras.bytes;
  }

  async extend(): Promise<void> {
    const more = await this.source.times(this.times.length);
    if (!more.length) return;
    const all = new Float64Array(this.times.length + more.length);
    all.set(this.times);
    all.set(more, this.times.length);
    this.times = all;
  }

  /** The last frame at or before a time. */
  indexAt(time: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= time + 1e-9) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private piece(index: number): number {
    return Math.floor(index / this.model.chunk_frames);
  }

  private request<T>(key: string, load: () => Promise<ArrayBuffer>, decode: (bytes: ArrayBuffer) => T,
                     keep: (value: T, size: number) => void): void {
    if (this.pending.has(key)) return;
    this.pending.add(key);
    const again = (delay: number) => setTimeout(() => this.pending.delete(key), delay);
    load()
      .then((bytes) => keep(decode(bytes), bytes.byteLength))
      .then(
        () => {
          again(0);
          this.onload();
        },
        (error) => {
          again(1000); // a server that is gone is not asked at every picture
          this.onerror(error);
        },
      );
  }

  /** The piece that holds a frame, if it is here; otherwise it is asked for. */
  chunkOf(index: number): FrameChunk | undefined {
    const size = this.model.chunk_frames;
    const piece = this.piece(index);
    const chunk = this.chunks.get(`${piece}`);
    if (chunk && index - piece * size < chunk.count) return chunk;
    this.request(`f${piece}`, () => this.source.frames(piece * size, size),
      (bytes) => decodeFrames(bytes, this.model),
      (value) => {
        this.noteSpeed(value);
        this.chunks.set(`${piece}`, value, value.bytes);
      });
    return undefined;
  }

  private noteSpeed(chunk: FrameChunk): void {
    const v = new Float64Array(6);
    const step = Math.max(1, Math.floor(chunk.count / 32)); // a fall is over within a few frames
    for (let f = 0; f < chunk.count; f += step)
      for (const body of chunk.moving) {
        chunk.velocityOf(body, f, v);
        this.maxSpeed = Math.max(this.maxSpeed, Math.hypot(v[0], v[1], v[2]));
      }
  }

  /** What is needed to draw a time; undefined until its pieces have come. */
  moment(time: number, smooth: boolean): Moment | undefined {
    if (!this.count) return undefined;
    const index = this.indexAt(time);
    const size = this.model.chunk_frames;
    const a = this.chunkOf(index);
    const next = Math.min(index + 1, this.count - 1);
    const b = this.chunkOf(next);
    const ahead = (this.piece(index) + 1) * size;
    if (a && ahead < this.count) this.chunkOf(ahead);
    if (!a) return undefined;
    const ia = index % size;
    const span = this.times[next] - this.times[index];
    if (!smooth || !b || next === index || span <= 0) return { index, alpha: 0, a, ia, b: a, ib: ia };
    const alpha = Math.min(1, Math.max(0, (time - this.times[index]) / span));
    return { index, alpha, a, ia, b, ib: next % size };
  }

  contacts(index: number): FrameContacts | undefined {
    const size = this.model.chunk_frames;
    const piece = this.piece(index);
    const list = this.extras.get(`c${piece}`) as FrameContacts[] | undefined;
    if (list && index - piece * size < list.length) return list[index - piece * size];
    if (this.model.embedded && !this.model.embedded.contacts) return undefined;
    this.request(`c${piece}`, () => this.source.contacts(piece * size, size),
      (bytes) => decodeContacts(bytes, this.model),
      (value, bytes) => this.extras.set(`c${piece}`, value, bytes));
    return undefined;
  }

  field(name: string, index: number): Float32Array | undefined {
    const size = this.model.chunk_frames;
    const piece = this.piece(index);
    const key = `${name}${piece}`;
    const list = this.extras.get(key) as Float32Array[] | undefined;
    if (list && index - piece * size < list.length) return list[index - piece * size];
    this.request(key, () => this.source.field(name, piece * size, size), decodeField,
      (value, bytes) => this.extras.set(key, value, 2 * bytes));
    return undefined;
  }
}
