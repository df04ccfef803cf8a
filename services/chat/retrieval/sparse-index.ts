import { occurrencesOf } from '../indexing.ts';
import { type Match, TopK } from './top-k.ts';

/**
 * The vectors of a library's chunks in memory, by feature: a search looks only at the chunks that share a feature with the question.
 * Chunks are weighted by the logarithm of their frequencies and the question also by the rarity of its features ("lnc.ltc"), so
 * that vectors stay right when documents come and go.
 */
export class VectorIndex {
  readonly #postings = new Map<number, Postings>();
  readonly #ordinals = new Map<number, number[]>();
  readonly #ordinalById = new Map<number, number>();
  #ids = new Float64Array(1_024);
  #documents = new Float64Array(1_024);
  #norms = new Float32Array(1_024);
  #scores = new Float32Array(1_024);
  #touched = new Uint32Array(1_024);
  #size = 0;
  #removed = 0;

  /** Number of chunks that can be found. */
  get size(): number {
    return this.#size - this.#removed;
  }

  /** Memory of the arrays. */
  get bytes(): number {
    const own = [this.#ids, this.#documents, this.#norms, this.#scores, this.#touched];
    const arrays = own.reduce((sum, { byteLength }) => sum + byteLength, 0);
    return this.#postings.values().reduce((sum, { items }) => sum + items.byteLength, arrays);
  }

  /** True if most of it is of documents that were removed. */
  get isMostlyRemoved(): boolean {
    return this.#removed > 1_000 && this.#removed > this.#size / 2;
  }

  get documents(): Iterable<number> {
    return this.#ordinals.keys();
  }

  get documentCount(): number {
    return this.#ordinals.size;
  }

  hasDocument(document: number): boolean {
    return this.#ordinals.has(document);
  }

  /** Notes a document, which may have no chunk. */
  addDocument(document: number): void {
    if (!this.#ordinals.has(document)) this.#ordinals.set(document, []);
  }

  add(id: number, document: number, features: Uint32Array): void {
    const ordinal = this.#size++;
    if (ordinal === this.#ids.length) this.#grow();
    let squares = 0;
    for (const packed of features) {
      const weight = weightOf[packed & 255] as number;
      squares += weight * weight;
      this.#postingsOf(packed >>> 8).push(ordinal * 256 + (packed & 255));
    }
    this.#ids[ordinal] = id;
    this.#ordinalById.set(id, ordinal);
    this.#documents[ordinal] = document;
    this.#norms[ordinal] = Math.sqrt(squares) || 1;
    this.addDocument(document);
    this.#ordinals.get(document)?.push(ordinal);
  }

  removeDocument(document: number): void {
    const ordinals = this.#ordinals.get(document) ?? [];
    for (const ordinal of ordinals) {
      this.#documents[ordinal] = removedMark;
      this.#ordinalById.delete(this.#ids[ordinal] as number);
    }
    this.#removed += ordinals.length;
    this.#ordinals.delete(document);
  }

  /** Returns true if a chunk is of a document that can be found. */
  has(id: number): boolean {
    return this.#ordinalById.has(id);
  }

  /** Returns true if any chunk has a feature. */
  hasFeature(feature: number): boolean {
    return this.#postings.has(feature);
  }

  /** Returns the rarity of a feature: 0 for one that all chunks have. */
  rarityOf(feature: number): number {
    const count = this.#postings.get(feature)?.length ?? 0;
    return Math.log(1 + (this.#size - count + 0.5) / (count + 0.5));
  }

  /** Returns the share of a document's chunks that have a feature; 0 for a document that is not there. */
  shareIn(document: number, feature: number): number {
    const count = this.#ordinals.get(document)?.length ?? 0;
    const postings = this.#postings.get(feature);
    if (count === 0 || !postings) return 0;
    let having = 0;
    for (let index = 0; index < postings.length; index++)
      if (this.#documents[(postings.items[index] as number) >>> 8] === document) having++;
    return having / count;
  }

  /** The nearest chunks, nearest first, of all documents or of the given ones. Scores are cosines. */
  nearest(features: readonly number[], limit: number, only?: ReadonlySet<number>): Match[] {
    const weighted = features.map((feature) => ({ feature, rarity: this.rarityOf(feature) ** rarityPower }));
    weighted.sort((one, other) => other.rarity - one.rarity);
    const length = Math.sqrt(weighted.reduce((sum, { rarity }) => sum + rarity * rarity, 0)) || 1;
    let count = 0;
    for (const { feature, rarity } of weighted) {
      const postings = this.#postings.get(feature);
      if (!postings) continue;
      if (this.#isCommon(postings) && count > limit * enoughTimes) break;
      count = this.#accumulate(postings, rarity, count);
    }
    for (let index = 0; index < count; index++) {
      const ordinal = this.#touched[index] as number;
      this.#scores[ordinal] = (this.#scores[ordinal] as number) / ((this.#norms[ordinal] as number) * length);
    }
    return this.#take(count, limit, only);
  }

  /** Adds to the scores of chunks with a feature, and returns how many chunks have a score. */
  #accumulate({ items, length }: Postings, rarity: number, touchedCount: number): number {
    const [scores, touched] = [this.#scores, this.#touched];
    let count = touchedCount;
    for (let index = 0; index < length; index++) {
      const packed = items[index] as number;
      const ordinal = packed >>> 8;
      const score = scores[ordinal] as number;
      if (score === 0) touched[count++] = ordinal;
      scores[ordinal] = score + (weightOf[packed & 255] as number) * rarity;
    }
    return count;
  }

  /** The best of the chunks that have a score, which are without one afterwards. */
  #take(count: number, limit: number, only: ReadonlySet<number> | undefined): Match[] {
    const best = new TopK(limit);
    for (let index = 0; index < count; index++) {
      const ordinal = this.#touched[index] as number;
      const score = this.#scores[ordinal] as number;
      this.#scores[ordinal] = 0;
      const document = this.#documents[ordinal] as number;
      if (document === removedMark || (only && !only.has(document))) continue;
      best.add(this.#ids[ordinal] as number, score);
    }
    return best.sorted();
  }

  /** Returns true for a feature of such a number of chunks that it changes little once rarer features have found enough of them. */
  #isCommon(postings: Postings): boolean {
    return postings.length > Math.max(commonMin, this.#size / commonShare);
  }

  #postingsOf(feature: number): Postings {
    let postings = this.#postings.get(feature);
    if (!postings) {
      postings = new Postings();
      this.#postings.set(feature, postings);
    }
    return postings;
  }

  #grow(): void {
    const length = this.#ids.length * 2;
    this.#ids = grown(this.#ids, new Float64Array(length));
    this.#documents = grown(this.#documents, new Float64Array(length));
    this.#norms = grown(this.#norms, new Float32Array(length));
    this.#scores = grown(this.#scores, new Float32Array(length));
    this.#touched = new Uint32Array(length);
  }
}

/** Exponent of the rarity of a feature. */
const rarityPower = 1.5;
/** A feature is common if more than one in this number of chunks have it, and these are many. */
const commonShare = 12;
const commonMin = 2_000;
const enoughTimes = 5;
/** No document has this number. */
const removedMark = -1;

/** Chunks with a feature: their ordinal, and how often they have it in the lowest 8 bits. Up to 16 million chunks. */
class Postings {
  items = new Uint32Array(2);
  length = 0;

  push(packed: number): void {
    if (this.length === this.items.length) this.items = grown(this.items, new Uint32Array(this.length * 2));
    this.items[this.length++] = packed;
  }
}

function frequencyWeight(occurrences: number): number {
  return Math.log(1 + occurrences);
}

/** The weight of each stored frequency. */
const weightOf = Float32Array.from({ length: 256 }, (_, packed) => frequencyWeight(occurrencesOf(packed)));

function grown<A extends Float64Array | Float32Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
