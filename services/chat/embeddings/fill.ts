import type { Clock, Log } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Tables } from '../tables.ts';
import type { EmbeddingClient } from './client.ts';
import { EmbeddingFailure } from './failure.ts';
import type { VectorSource } from './source.ts';
import {
  insertVectors,
  removeOtherModels,
  settleDimensions,
  type WaitingChunk,
  waitingChunks,
  waitingDocuments,
} from './store.ts';

/** Dependencies of filling in vectors. */
export interface FillParts {
  readonly database: Database<Tables>;
  readonly client: EmbeddingClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The number of the model. */
  readonly model: number;
}

/** Number of texts in one request. The encoder of this machine takes a tenth of a second for each. */
const batchTexts = { 'openai-compatible': 64, local: 16 } as const satisfies Record<
  VectorSource['provider'],
  number
>;
const documentsMax = 100;
const headingMax = 200;
/** Text that any service takes, to tell a text that it refuses from a request that it refuses. */
const harmlessText = 'A question.';

/**
 * Gives all chunks that have none a vector, and removes those of other models once that is done. Ends early if another model is
 * chosen. Throws an `EmbeddingFailure`.
 */
export async function fillAll(parts: FillParts, signal: AbortSignal): Promise<void> {
  for (;;) {
    const documents = await waitingDocuments(parts.database, parts.model, documentsMax);
    if (documents.length === 0) break;
    if (!(await fillDocuments(parts, documents, signal))) return;
  }
  await removeOtherModels(parts.database, parts.model);
}

/**
 * Batches reach over documents, so that many short ones cost no more requests than a long one. Returns false if another model has been
 * chosen.
 */
async function fillDocuments(
  parts: FillParts,
  documents: readonly number[],
  signal: AbortSignal,
): Promise<boolean> {
  const { database, model } = parts;
  const { source } = parts.client;
  let batch: WaitingChunk[] = [];
  let ended: number[] = [];
  const flush = async () => {
    signal.throwIfAborted();
    const texts = new Map(batch.map((chunk) => [chunk.id, textOf(chunk)]));
    const wanted = [...texts].filter(([, text]) => !source.leavesOut(text));
    const wantedTexts = wanted.map(([, text]) => text);
    const vectors = wanted.length === 0 ? [] : await vectorsOf(parts, wantedTexts, signal);
    const byChunk = new Map<number, Float32Array>([...texts.keys()].map((id) => [id, new Float32Array(0)]));
    for (const [index, [id]] of wanted.entries()) byChunk.set(id, vectors[index] as Float32Array);
    const complete = ended;
    [batch, ended] = [[], []];
    return insertVectors(database, model, { vectors: byChunk, complete });
  };
  for (const document of documents) {
    for (let after = -1; ; ) {
      const limit = batchTexts[source.provider] - batch.length;
      const chunks = await waitingChunks(database, { model, document, after, limit });
      batch.push(...chunks);
      const last = chunks.at(-1);
      if (!last || chunks.length < limit) break;
      if (!(await flush())) return false;
      after = last.place;
    }
    ended.push(document);
  }
  return flush();
}

/** Headings are part of the subject of a passage. */
function textOf({ title, section, text }: WaitingChunk): string {
  const headings = [title, section]
    .map((heading) => heading.slice(0, headingMax))
    .filter((heading) => heading !== '');
  return [...headings, text].join('\n').toWellFormed();
}

/** Vectors of texts, in their order; an empty one for a text that the service refuses even when it is cut. */
async function vectorsOf(
  parts: FillParts,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { client, database, model } = parts;
  try {
    const vectors = await client.passages(texts, signal);
    client.dimensions ??= await settleDimensions(database, model, vectors[0]?.length ?? 0);
    return vectors;
  } catch (error) {
    if (!(error instanceof EmbeddingFailure) || !error.isRefusal) throw error;
    if (texts.length > 1) {
      const middle = texts.length >> 1;
      const first = await vectorsOf(parts, texts.slice(0, middle), signal);
      return [...first, ...(await vectorsOf(parts, texts.slice(middle), signal))];
    }
    return [await vectorOfRefused(parts, texts[0] as string, signal)];
  }
}

/** Some services refuse long texts; in some scripts, a thousand characters are too long. */
async function vectorOfRefused(
  { client, log }: FillParts,
  text: string,
  signal: AbortSignal,
): Promise<Float32Array> {
  await client.passages([harmlessText], signal).catch((error: EmbeddingFailure) => {
    // It is the request that is refused, so the job has to come again.
    throw new EmbeddingFailure(error.message);
  });
  for (const share of [2, 4]) {
    const part = text.slice(0, text.length / share).toWellFormed();
    const vector = await client.passages([part], signal).catch((error: EmbeddingFailure) => {
      if (!error.isRefusal) throw error;
    });
    if (vector) return vector[0] as Float32Array;
  }
  log.warn('the source of vectors refuses a passage, which is found by its words only');
  return new Float32Array(0);
}
