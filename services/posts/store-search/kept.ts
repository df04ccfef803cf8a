import type { Session } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import type { Bitmap } from './bitmap.ts';
import { textKinds } from './lists.ts';
import { pagesOf, type Segment } from './segments.ts';

const bitmapBytesMax = 16 * 1024 * 1024;

/** The places of a segment's posts in an order, and the rank of each place in it. */
export interface PlaceOrder {
  readonly places: Uint16Array;
  readonly ranks: Uint16Array;
}

interface KeptSegment {
  readonly orders: Map<number, PlaceOrder>;
  readonly texts: Map<number, string>;
}

/** What was read of segments and computed from them; true for ever, since segments do not change. */
export class Kept {
  readonly #segments = new Map<number, KeptSegment>();
  /** Those used last come last. */
  readonly #bitmaps = new Map<string, Bitmap>();
  #bitmapBytes = 0;

  /** Drops what belongs to segments that are no more. */
  retain(segments: readonly Segment[]): void {
    const ids = new Set(segments.map(({ id }) => id));
    for (const id of this.#segments.keys()) if (!ids.has(id)) this.#segments.delete(id);
  }

  async order(session: Session<Tables>, { id, span }: Segment, kind: number): Promise<PlaceOrder> {
    const { orders } = this.#segment(id);
    const known = orders.get(kind);
    if (known) return known;
    const [bytes = new Uint8Array()] = await pagesOf(session, id, kind);
    const places = new Uint16Array(bytes.slice().buffer);
    const ranks = new Uint16Array(span);
    for (let rank = 0; rank < places.length; rank++) ranks[places[rank] as number] = rank;
    const order = { places, ranks };
    orders.set(kind, order);
    return order;
  }

  /** The words or phrases of a segment, each between dividers, to be looked through in one go. */
  async texts(session: Session<Tables>, { id }: Segment, kind: 'word' | 'phrase'): Promise<string> {
    const textsKind = textKinds[kind];
    const { texts } = this.#segment(id);
    const known = texts.get(textsKind);
    if (known !== undefined) return known;
    const [bytes = new Uint8Array()] = await pagesOf(session, id, textsKind);
    const text = Buffer.from(bytes).toString();
    texts.set(textsKind, text);
    return text;
  }

  bitmap(key: string): Bitmap | undefined {
    const bitmap = this.#bitmaps.get(key);
    if (!bitmap) return undefined;
    this.#bitmaps.delete(key);
    this.#bitmaps.set(key, bitmap);
    return bitmap;
  }

  keepBitmap(key: string, bitmap: Bitmap): void {
    this.#bitmapBytes += bitmap.byteLength - (this.#bitmaps.get(key)?.byteLength ?? 0);
    this.#bitmaps.set(key, bitmap);
    for (const [oldest, { byteLength }] of this.#bitmaps) {
      if (this.#bitmapBytes <= bitmapBytesMax) return;
      this.#bitmaps.delete(oldest);
      this.#bitmapBytes -= byteLength;
    }
  }

  #segment(id: number): KeptSegment {
    const known = this.#segments.get(id) ?? { orders: new Map(), texts: new Map() };
    this.#segments.set(id, known);
    return known;
  }
}
