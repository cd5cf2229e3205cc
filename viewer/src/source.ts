// Where a run comes from: the program that serves it, or the page itself.
import type { Growth, Model, Series, Verdict } from './model';

export interface Source {
  readonly live: boolean; // can grow, be verified, be asked for any series
  model(): Promise<Model>;
  geometry(): Promise<ArrayBuffer>;
  times(from: number): Promise<Float64Array>;
  frames(first: number, count: number): Promise<ArrayBuffer>;
  contacts(first: number, count: number): Promise<ArrayBuffer>;
  field(name: string, first: number, count: number): Promise<ArrayBuffer>;
  series(names: string[]): Promise<Series[]>;
  verdict(start: boolean): Promise<Verdict | null>;
  follow(grown: (growth: Growth) => void, lost: (lost: boolean) => void): void;
}

export class Replaced extends Error {}

async function fetched(url: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.ok) return response;
  let why = response.statusText;
  try {
    why = (await response.json()).error ?? why;
  } catch {
    // the status says enough
  }
  if (response.status === 409) throw new Replaced(why);
  throw new Error(why);
}

/** A run served by `tenon view`. */
export class ServedRun implements Source {
  readonly live = true;
  private generation = 0;
  constructor(private index: number) {}

  private url(what: string, query: Record<string, string | number> = {}): string {
    const params = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) params.set(key, String(value));
    if (this.generation) params.set('generation', String(this.generation));
    return `api/runs/${this.index}/${what}?${params}`;
  }
  private async bytes(what: string, query: Record<string, string | number> = {}): Promise<ArrayBuffer> {
    return (await fetched(this.url(what, query))).arrayBuffer();
  }
  async model(): Promise<Model> {
    this.generation = 0;
    const model: Model = await (await fetched(this.url('model'))).json();
    this.generation = model.generation;
    return model;
  }
  geometry(): Promise<ArrayBuffer> {
    return this.bytes('geometry');
  }
  async times(from: number): Promise<Float64Array> {
    return new Float64Array(await this.bytes('times', { from }));
  }
  frames(first: number, count: number): Promise<ArrayBuffer> {
    return this.bytes('frames', { from: first, count });
  }
  contacts(first: number, count: number): Promise<ArrayBuffer> {
    return this.bytes('contacts', { from: first, count });
  }
  field(name: string, first: number, count: number): Promise<ArrayBuffer> {
    return this.bytes('field', { name, from: first, count });
  }
  async series(names: string[]): Promise<Series[]> {
    const query = names.map((name) => `&name=${encodeURIComponent(name)}`).join('');
    return (await fetched(this.url('series') + query)).json();
  }
  async verdict(start: boolean): Promise<Verdict | null> {
    const init = start ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' } : undefined;
    return (await fetched(this.url('verdict'), init)).json();
  }
  follow(grown: (growth: Growth) => void, lost: (lost: boolean) => void): void {
    const events = new EventSource(`api/runs/${this.index}/events`);
    events.addEventListener('growth', (event) => {
      lost(false);
      grown(JSON.parse((event as MessageEvent).data));
    });
    events.onerror = () => lost(true);
  }
}

/** The bytes inside an element of the page: base64 of zlib's deflate. */
async function inflated(id: string): Promise<ArrayBuffer> {
  const element = document.getElementById(id);
  if (!element) throw new Error('this page holds no such data');
  const text = atob(element.textContent ?? '');
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}

/** A run inside a page made by `tenon view --html`. */
export class EmbeddedRun implements Source {
  readonly live = false;
  private pieces = 1;
  constructor(private index: number) {}

  static count(): number {
    let count = 0;
    while (document.getElementById(`tenon-${count}-model`)) count++;
    return count;
  }
  private bytes(what: string): Promise<ArrayBuffer> {
    return inflated(`tenon-${this.index}-${what}`);
  }
  private async json<T>(what: string): Promise<T> {
    return JSON.parse(new TextDecoder().decode(await this.bytes(what)));
  }
  async model(): Promise<Model> {
    const model = await this.json<Model>('model');
    this.pieces = model.chunk_frames;
    return model;
  }
  geometry(): Promise<ArrayBuffer> {
    return this.bytes('geometry');
  }
  async times(from: number): Promise<Float64Array> {
    return new Float64Array(await this.bytes('times')).slice(from);
  }
  frames(first: number): Promise<ArrayBuffer> {
    return this.bytes(`frames-${Math.floor(first / this.pieces)}`);
  }
  contacts(first: number): Promise<ArrayBuffer> {
    return this.bytes(`contacts-${Math.floor(first / this.pieces)}`);
  }
  field(name: string, first: number): Promise<ArrayBuffer> {
    return this.bytes(`${name}-${Math.floor(first / this.pieces)}`);
  }
  async series(names: string[]): Promise<Series[]> {
    const all = await this.json<Series[]>('series');
    return all.filter((series) => names.includes(series.name));
  }
  async verdict(): Promise<Verdict | null> {
    return null;
  }
  follow(): void {
    // a page does not grow
  }
}
