import type { Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { JobQueue } from '@octavo/data/jobs';
import type { Tables } from '../tables.ts';
import { EmbeddingClient, type EmbeddingOptions } from './client.ts';
import { type FillParts, fillAll } from './fill.ts';
import { type EmbeddingMetrics, noMetrics } from './metrics.ts';
import { chooseModel, dimensionsOf, findModel, hasWork, isChosen } from './store.ts';

export interface EmbeddingsParts extends Omit<EmbeddingOptions, 'metrics'> {
  readonly database: Database<Tables>;
  readonly log: Log;
  /** Absent where there are no metrics. */
  readonly metrics?: EmbeddingMetrics;
  /** True to use the existing vectors, without making the model the one that documents get. */
  readonly isOnlyRead?: boolean;
}

/** Interval of the search for documents of other processes, and for those whose job was lost. */
const sweepMs = 5_000;
/** A service may be down for days, and documents get their vectors when it is back. */
const attemptsMax = 1_000_000;

/** The vectors of an embedding service: of questions as they are asked, and of documents in the background. */
export class Embeddings {
  readonly client: EmbeddingClient;
  /** The number of the model. */
  readonly modelId: number;
  readonly #parts: FillParts;
  /** The encoder of this machine takes memory, so documents wait until the chat is used. */
  #isInUse: boolean;
  #queue: JobQueue | undefined;

  constructor(parts: FillParts) {
    this.client = parts.client;
    this.modelId = parts.model;
    this.#parts = parts;
    this.#isInUse = parts.client.source.provider !== 'local';
  }

  /** The size of vectors; undefined as long as there is none. Another process may have settled it. */
  async dimensions(): Promise<number | undefined> {
    this.client.dimensions ??= (await dimensionsOf(this.#parts.database, this.modelId)) || undefined;
    return this.client.dimensions;
  }

  /** Gives documents their vectors in the background until disposed of. */
  work(queue: JobQueue): AsyncDisposable {
    this.#queue = queue;
    const worker = queue.work({ kind: this.#kind, concurrency: 1, attemptsMax }, async (_job, signal) => {
      if (await this.#isChosen()) await fillAll(this.#parts, signal);
    });
    const failure = 'documents without vectors could not be looked for';
    const sweeping = runEvery(sweepMs, () => this.#sweep(), {
      log: this.#parts.log,
      failure,
      startsNow: true,
    });
    return {
      async [Symbol.asyncDispose]() {
        await sweeping[Symbol.asyncDispose]();
        await worker[Symbol.asyncDispose]();
      },
    };
  }

  /** Reason why documents get no vectors now, as a sentence; undefined if nothing is known to be wrong. */
  get problem(): string | undefined {
    const { source, problem } = this.client;
    return problem === undefined ? undefined : `${source.title} ${problem}.`;
  }

  /** True if documents that have no vectors get some without being asked for. */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** Notes a question or an upload, without which the encoder of this machine does not start. */
  use(): void {
    this.#isInUse = true;
  }

  /** Begins with a document that was added; the sweep finds those that are added while the last job ends. */
  async wake(): Promise<void> {
    this.use();
    await this.#queue?.add([{ id: this.#kind, kind: this.#kind, payload: new Uint8Array() }]);
  }

  /** Gives all documents their vectors now. */
  fill(signal: AbortSignal): Promise<void> {
    return fillAll(this.#parts, signal);
  }

  get #kind(): string {
    return `embedding-${this.modelId}`;
  }

  async #sweep(): Promise<void> {
    if (this.#isInUse && (await this.#isChosen()) && (await hasWork(this.#parts.database, this.modelId)))
      await this.wake();
  }

  #isChosen(): Promise<boolean> {
    const { database, clock } = this.#parts;
    return isChosen(database, this.modelId, clock.now());
  }
}

/** Opens the vectors of a model, which becomes the one that documents get. */
export async function openEmbeddings({
  database,
  log,
  metrics = noMetrics,
  isOnlyRead = false,
  ...options
}: EmbeddingsParts): Promise<Embeddings> {
  const { clock, source } = options;
  const { model: name, dimensions: requested = 0 } = source;
  const wanted = { name, requested };
  const { id, dimensions } = isOnlyRead
    ? await findModel(database, wanted)
    : await chooseModel(database, wanted, clock.now());
  const client = new EmbeddingClient({ ...options, metrics });
  client.dimensions ??= dimensions === 0 ? undefined : dimensions;
  return new Embeddings({ database, client, clock, log, model: id });
}
