import { WorkerPool } from '@octavo/core/concurrency';
import type { Match } from '../top-k.ts';
import { type Block, blockVectors, quantize, type Scan, scan } from './scan.ts';
import type { DenseTasks } from './thread.ts';

/** About 5 ms of work, in products of two values. More is done in a thread. */
const inlineMax = 5_000_000;
const idleMs = 60_000;

/** Threads that compare questions with large libraries. */
export class DenseScanner implements AsyncDisposable {
  readonly #threads = new WorkerPool<DenseTasks>(new URL('./thread.ts', import.meta.url), {
    name: 'vectors',
    idleMs,
  });

  async scan(work: Scan): Promise<Match[]> {
    if (work.size * work.dimensions <= inlineMax) return scan(work);
    return await this.#threads.run('scan', work);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#threads[Symbol.asyncDispose]();
  }
}

/**
 * The vectors of a library's chunks in memory, by the embedding service: one byte for each dimension, in blocks that a thread reads without
 * a copy. A question is compared with every one of them.
 */
export class DenseIndex {
  readonly #scanner: DenseScanner;
  readonly #dimensions: number;
  readonly #blocks: Block[] = [];
  readonly #ids: number[] = [];
  readonly #documentOf: number[] = [];
  readonly #ordinals = new Map<number, number[]>();
  #removed = 0;

  constructor(scanner: DenseScanner, dimensions: number) {
    this.#scanner = scanner;
    this.#dimensions = dimensions;
  }

  get documents(): Iterable<number> {
    return this.#ordinals.keys();
  }

  get documentCount(): number {
    return this.#ordinals.size;
  }

  get size(): number {
    return this.#ids.length - this.#removed;
  }

  /** Memory of the vectors. */
  get bytes(): number {
    return this.#blocks.length * blockVectors * this.#dimensions;
  }

  /** True if most of it is of documents that were removed. */
  get isMostlyRemoved(): boolean {
    return this.#removed > 1_000 && this.#removed > this.#ids.length / 2;
  }

  hasDocument(document: number): boolean {
    return this.#ordinals.has(document);
  }

  /** Notes a document, which may have no vector. */
  addDocument(document: number): void {
    if (!this.#ordinals.has(document)) this.#ordinals.set(document, []);
  }

  /** Vectors of another size are left out. */
  add(id: number, document: number, vector: Float32Array): void {
    if (vector.length !== this.#dimensions) return;
    const ordinal = this.#ids.length;
    const place = ordinal % blockVectors;
    if (place === 0) this.#blocks.push(emptyBlock(this.#dimensions));
    const { values, factors } = this.#blocks.at(-1) as Block;
    const into = values.subarray(place * this.#dimensions, (place + 1) * this.#dimensions);
    factors[place] = quantize(vector, into);
    this.#ids.push(id);
    this.#documentOf.push(document);
    this.addDocument(document);
    this.#ordinals.get(document)?.push(ordinal);
  }

  removeDocument(document: number): void {
    this.#removed += this.#ordinals.get(document)?.length ?? 0;
    this.#ordinals.delete(document);
  }

  /** The nearest chunks, nearest first, of all documents or of the given ones. Scores are cosines. */
  async nearest(question: Float32Array, limit: number, only?: ReadonlySet<number>): Promise<Match[]> {
    const size = this.#ids.length;
    const work = { blocks: [...this.#blocks], dimensions: this.#dimensions, size, question, limit };
    const found = await this.#scanner.scan({ ...work, wanted: this.#wanted(only) });
    // Documents may have been removed since, but none takes the place of another.
    return found.map(({ id, score }) => ({ id: this.#ids[id] as number, score }));
  }

  #wanted(only: ReadonlySet<number> | undefined): Uint8Array | undefined {
    if (!only && this.#removed === 0) return undefined;
    const bits = new Uint8Array(Math.ceil(this.#ids.length / 8));
    for (const [document, ordinals] of this.#ordinals) {
      if (only && !only.has(document)) continue;
      for (const ordinal of ordinals)
        bits[ordinal >> 3] = (bits[ordinal >> 3] as number) | (1 << (ordinal & 7));
    }
    return bits;
  }
}

function emptyBlock(dimensions: number): Block {
  return {
    values: new Int8Array(new SharedArrayBuffer(blockVectors * dimensions)),
    factors: new Float32Array(new SharedArrayBuffer(blockVectors * 4)),
  };
}
