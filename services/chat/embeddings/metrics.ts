import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Progress } from './store.ts';

export type Purpose = 'question' | 'passages';
type Outcome = 'ok' | 'refused' | 'failed';

/** Metrics of the embedding service. */
export interface EmbeddingMetrics {
  requested(purpose: Purpose, outcome: Outcome, durationMs: number): void;
  cacheHits(count: number): void;
}

export const noMetrics: EmbeddingMetrics = { requested: () => {}, cacheHits: () => {} };

/** `progress` is asked whenever metrics are read. */
export function createEmbeddingMetrics(
  registry: Registry,
  progress: () => Promise<Progress>,
): EmbeddingMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'chat_embedding_requests_total',
    help: 'Requests to the embedding service.',
    registers,
    labelNames: ['purpose', 'outcome'],
  });
  const seconds = new Histogram({
    name: 'chat_embedding_seconds',
    help: 'Duration of requests to the embedding service.',
    registers,
    labelNames: ['purpose'],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  const hits = new Counter({
    name: 'chat_embedding_cache_hits_total',
    help: 'Questions whose vector was known.',
    registers,
  });
  new Gauge({
    name: 'chat_embedding_chunks',
    help: 'Chunks with and without a vector of the model.',
    registers,
    labelNames: ['state'],
    async collect() {
      const { chunks, embedded } = await progress().catch(() => ({ chunks: 0, embedded: 0 }));
      this.set({ state: 'embedded' }, embedded);
      this.set({ state: 'waiting' }, chunks - embedded);
    },
  });
  for (const purpose of ['question', 'passages'] as const)
    for (const outcome of ['ok', 'refused', 'failed'] as const) requests.inc({ purpose, outcome }, 0);
  return {
    requested(purpose, outcome, durationMs) {
      requests.inc({ purpose, outcome });
      seconds.observe({ purpose }, durationMs / 1_000);
    },
    cacheHits: (count) => hits.inc(count),
  };
}
