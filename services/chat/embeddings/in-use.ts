import { runEvery } from '@octavo/core/concurrency';
import type { JobQueue } from '@octavo/data/jobs';
import type { Registry } from 'prom-client';
import { type Embeddings, type EmbeddingsParts, openEmbeddings } from './embeddings.ts';
import { createEmbeddingMetrics } from './metrics.ts';
import type { VectorSource } from './source.ts';
import { type Progress, progressOf } from './store.ts';

export interface EmbeddingsInUseOptions extends Omit<EmbeddingsParts, 'source' | 'metrics'> {
  /** Absent where there are no metrics. */
  readonly metrics?: Registry;
  /** The source to use now; the same object as long as it does not change. Undefined if vectors are off. */
  source(): Promise<VectorSource | undefined>;
}

/** Interval at which a process looks for a source that another process has connected. */
const watchMs = 5_000;

/** The embeddings in use. Their source may change at any time, which makes another model the one that documents get. */
export class EmbeddingsInUse {
  readonly #options: Omit<EmbeddingsParts, 'source'>;
  readonly #source: EmbeddingsInUseOptions['source'];
  #known: Embeddings | undefined;
  #reopening: Promise<void> | undefined;
  #queue: JobQueue | undefined;
  #worker: AsyncDisposable | undefined;

  constructor({ metrics, source, ...options }: EmbeddingsInUseOptions) {
    const none = { chunks: 0, embedded: 0 };
    const progress = async () => (this.#known ? this.progress() : none);
    const counted = metrics && createEmbeddingMetrics(metrics, progress);
    this.#options = { ...options, ...(counted && { metrics: counted }) };
    this.#source = source;
  }

  /** The embeddings as they were last known, without asking the database. */
  get known(): Embeddings | undefined {
    return this.#known;
  }

  /** The embeddings of the source to use now; undefined if vectors are off. */
  async current(): Promise<Embeddings | undefined> {
    if ((await this.#source()) !== this.#known?.client.source) {
      this.#reopening ??= this.#reopen().finally(() => {
        this.#reopening = undefined;
      });
      await this.#reopening;
    }
    return this.#known;
  }

  /** Chunks that can be found, and those with vectors of the model in use. */
  async progress(): Promise<Progress> {
    const { database } = this.#options;
    return progressOf(database, this.#known?.modelId ?? -1);
  }

  /** Gives documents their vectors in the background until disposed of, by another model as soon as that is chosen. */
  work(queue: JobQueue): AsyncDisposable {
    this.#queue = queue;
    this.#worker = this.#known?.work(queue);
    const watching = runEvery(watchMs, () => this.current(), {
      log: this.#options.log,
      failure: 'it is not known which embeddings are connected',
    });
    const stop = async () => {
      this.#queue = undefined;
      await watching[Symbol.asyncDispose]();
      await this.#reopening;
      await this.#worker?.[Symbol.asyncDispose]();
    };
    return { [Symbol.asyncDispose]: stop };
  }

  async #reopen(): Promise<void> {
    const source = await this.#source();
    if (source === this.#known?.client.source) return;
    this.#known = source && (await openEmbeddings({ ...this.#options, source }));
    const former = this.#worker;
    this.#worker = this.#queue && this.#known?.work(this.#queue);
    await former?.[Symbol.asyncDispose]();
  }
}
