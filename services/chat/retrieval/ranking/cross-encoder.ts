import { boundedFetch, type Clock } from '@octavo/core';
import { backoffMs } from '@octavo/core/concurrency';

export interface CrossEncoderOptions {
  /** Such as `http://127.0.0.1:8080/v1`; `/rerank` is below it. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Undefined for servers that have one model only. */
  readonly model: string | undefined;
  readonly clock: Clock;
  readonly timeoutMs?: number;
}

/** A passage with the score that orders it so far, 0 to 1. */
export interface Rankable {
  readonly text: string;
  readonly rankScore: number;
}

/** New scores of passages, in their order. */
export interface CrossEncoded {
  /** Of the model, 0 to 1; null for passages that it was not asked about. */
  readonly score: number | null;
  readonly rankScore: number;
}

/** A reranker gave no scores, in words that follow "The reranker". */
export class RerankFailure extends Error {
  override readonly name = 'RerankFailure';
}

const passagesMax = 40;
const usualTimeoutMs = 3_000;
const responseBytesMax = 1024 * 1024;
const pause = { firstMs: 1_000, maxMs: 30_000 };
/** More than half, so that a model that is sure of a passage decides; the rest keeps the order where it sees no difference. */
const share = 0.7;

/** The API of Cohere, Jina, vLLM and llama.cpp, or that of text-embeddings-inference. */
type Dialect = 'documents' | 'texts';

/** A model that reads question and passage together, behind the `/rerank` API of a server. */
export class CrossEncoder {
  readonly name: string;
  /** Failure of the last request, in words that follow "The reranker"; undefined if it was answered, and before the first. */
  problem: string | undefined;
  /** True if a request was answered. */
  isAnswered = false;
  readonly #options: CrossEncoderOptions;
  /** Known after the first answer. */
  #dialect: Dialect | undefined;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: CrossEncoderOptions) {
    this.#options = options;
    this.name = options.model ?? 'cross-encoder';
  }

  /** Scores the first passages, best first as they came. Throws a {@link RerankFailure}; after one, at once for a while. */
  async rank(query: string, passages: readonly Rankable[]): Promise<CrossEncoded[]> {
    const { clock } = this.#options;
    if (passages.length === 0) return [];
    if (clock.now() < this.#pausedUntilMs) throw new RerankFailure('is not answering');
    try {
      const scores = await this.#scores(
        query,
        passages.slice(0, passagesMax).map(({ text }) => text),
      );
      this.problem = undefined;
      this.isAnswered = true;
      this.#failures = 0;
      return blended(passages, scores);
    } catch (error) {
      const failure = failureOf(error);
      this.problem = failure.message;
      if (clock.now() >= this.#pausedUntilMs)
        this.#pausedUntilMs = clock.now() + backoffMs(++this.#failures, pause);
      throw failure;
    }
  }

  async #scores(query: string, texts: readonly string[]): Promise<number[]> {
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? usualTimeoutMs);
    const dialects: Dialect[] = this.#dialect ? [this.#dialect] : ['documents', 'texts'];
    let status = 0;
    for (const dialect of dialects) {
      const response = await this.#request(bodyIn(dialect, this.#options.model, query, texts), signal);
      if (response.ok) {
        const scores = scoresIn(await response.json(), texts.length);
        this.#dialect = dialect;
        return scores;
      }
      await response.body?.cancel();
      status = response.status;
      // Only a body that is not understood may be understood in the other dialect.
      if (status !== 400 && status !== 422) break;
    }
    throw new RerankFailure(`answered with status ${status}`);
  }

  #request(body: object, signal: AbortSignal): Promise<Response> {
    const { baseUrl, apiKey } = this.#options;
    return boundedFetch(responseBytesMax)(`${baseUrl.replace(/\/+$/, '')}/rerank`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    });
  }
}

function bodyIn(dialect: Dialect, model: string | undefined, query: string, texts: readonly string[]) {
  if (dialect === 'texts') return { query, texts, truncate: true };
  return { ...(model !== undefined && { model }), query, documents: texts, top_n: texts.length };
}

/** One number for each passage. Throws a {@link RerankFailure} for more, fewer, or others. */
function scoresIn(body: unknown, count: number): number[] {
  const { results } = (body ?? {}) as { readonly results?: unknown };
  const list = Array.isArray(body) ? body : results;
  if (!Array.isArray(list)) throw new RerankFailure('gave something else than scores');
  const scores = new Map<number, number>();
  for (const each of list as readonly (Partial<Scored> | null)[]) {
    const { index, relevance_score: score = each?.score } = each ?? {};
    if (!Number.isInteger(index) || !Number.isFinite(score))
      throw new RerankFailure('gave a score that is no number');
    scores.set(index as number, score as number);
  }
  const ordered = Array.from({ length: count }, (_, index) => scores.get(index));
  if (list.length !== count || ordered.includes(undefined))
    throw new RerankFailure(`gave ${list.length} scores for ${count} passages`);
  return ordered as number[];
}

interface Scored {
  readonly index: number;
  readonly relevance_score: number;
  readonly score: number;
}

/** Some models give log odds. What counts is the share of the best score, as models differ in how sure they are. */
function blended(passages: readonly Rankable[], given: readonly number[]): CrossEncoded[] {
  const isOdds = given.some((score) => score < 0 || score > 1);
  const scores = given.map((score) => (isOdds ? 1 / (1 + Math.exp(-score)) : score));
  const most = Math.max(...scores) || 1;
  return passages.map(({ rankScore }, place) => {
    const score = scores[place];
    if (score === undefined) return { score: null, rankScore: (1 - share) * rankScore };
    return { score, rankScore: share * (score / most) + (1 - share) * rankScore };
  });
}

function failureOf(error: unknown): RerankFailure {
  if (error instanceof RerankFailure) return error;
  const { name } = error as { readonly name?: string };
  if (name === 'TimeoutError') return new RerankFailure('took too long');
  if (name === 'SyntaxError' || name === 'ResponseTooLarge')
    return new RerankFailure('gave something else than scores');
  return new RerankFailure('cannot be reached');
}
