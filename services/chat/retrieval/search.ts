import type { Database } from '#kit/db/index.ts';
import { embeddingModel, featureOf } from '../indexing.ts';
import type { Tables } from '../tables.ts';
import { Evidence } from './evidence.ts';
import { bestSentence, LazyPassage, type ReadPassage } from './features.ts';
import { type Candidate, fuse, interleave, type MatchedBy } from './fusion.ts';
import { Libraries } from './libraries.ts';
import { type Question, toQuestion } from './question.ts';
import { confidenceOf, judge, rerankerModel } from './rerank.ts';
import { type Filters, filteredDocuments, keywordMatches, type Passage, passagesOf } from './store.ts';
import { partsOf, type Strategy } from './strategies.ts';
import { variantsOf } from './variants.ts';
import type { Match } from './vectors.ts';

/** How many chunks each side gives, and how many of them are read. */
const depth = 60;
const readMax = 48;
const snippetMax = 300;
const passagesKept = 4_000;
/** How many passages tell whether there is an answer. */
const judgedMin = 3;

export interface SearchRequest {
  readonly query: string;
  /** The question without its context, if that differs. */
  readonly asked?: string | undefined;
  readonly strategy: Strategy;
  readonly topK: number;
  /** Whether what was found is put in order by reading it. */
  readonly rerank: boolean;
  /** The libraries to search. */
  readonly libraries: readonly number[];
  readonly filters?: Filters | undefined;
}

/** A passage that was found, as clients see it. */
export interface Source {
  readonly index: number;
  readonly id: string;
  readonly document_id: string;
  readonly chunk_id: string;
  readonly source: string;
  readonly title: string;
  readonly page: number | null;
  readonly section: string;
  readonly start: number;
  readonly end: number;
  readonly score: number;
  readonly retrieval_score: number;
  readonly rerank_score: number | null;
  readonly matched_by: readonly MatchedBy[];
  readonly snippet: string;
}

/** A passage with all of its text, best first. */
export interface Ranked {
  readonly source: Source;
  readonly passage: Passage;
}

export interface Found {
  readonly ranked: readonly Ranked[];
  /** The questions that were really searched for. */
  readonly queries: readonly string[];
  readonly strategyUsed: Strategy;
  readonly reranked: boolean;
  readonly reranker: string | null;
  readonly embeddingModel: string;
  /** How many documents the passages are from. */
  readonly documentCount: number;
  /** How sure it is that the first passages answer the question, 0 to 1. */
  readonly confidence: number;
  /** How rare the words of the question are, for whoever looks for its answer in the passages. */
  readonly evidence: Evidence;
  readonly latencyMs: { readonly retrieval: number; readonly rerank: number };
}

/** What was found and read, in the order of retrieval. */
export interface Gathered {
  readonly candidates: readonly (readonly [Candidate, LazyPassage])[];
  readonly queries: readonly string[];
  readonly evidence: Evidence;
}

/** Finds the passages of documents that answer a question. */
export class Retriever {
  readonly #database: Database<Tables>;
  readonly #libraries: Libraries;
  /** Those that were read last, by the numbers of their chunks. */
  readonly #passages = new Map<number, LazyPassage>();

  constructor(database: Database<Tables>) {
    this.#database = database;
    this.#libraries = new Libraries(database);
  }

  /** Reads the vectors of the largest libraries into memory. A question that is asked meanwhile waits for its own library only. */
  preload(): Promise<void> {
    return this.#libraries.preload();
  }

  async search(request: SearchRequest): Promise<Found> {
    const startMs = performance.now();
    const gathered = await this.gather(request);
    const gatheredMs = performance.now();
    const { queries, evidence } = gathered;
    const judged = judge(gathered.candidates.slice(0, request.rerank ? undefined : judgedMin), evidence);
    if (request.rerank) judged.sort((one, other) => other.score - one.score);
    const shown = request.rerank
      ? judged.slice(0, request.topK)
      : unjudged(gathered.candidates.slice(0, request.topK));
    const sources = shown.map((one, index) => sourceOf(index + 1, one, evidence));
    return {
      ranked: sources.map((source, index) => ({ source, passage: (shown[index] as Scored).read.passage })),
      ...{ queries, evidence, embeddingModel, strategyUsed: request.strategy },
      ...{ reranked: request.rerank, reranker: request.rerank ? rerankerModel : null },
      documentCount: new Set(sources.map(({ document_id }) => document_id)).size,
      confidence: confidenceOf(judged, evidence),
      latencyMs: { retrieval: gatheredMs - startMs, rerank: performance.now() - gatheredMs },
    };
  }

  /** What a question finds before it is put in order by reading it. */
  async gather({ query, asked, strategy, topK, libraries, filters }: SearchRequest): Promise<Gathered> {
    const only = filters && (await filteredDocuments(this.#database, libraries, filters));
    const queries =
      strategy === 'multi_query'
        ? variantsOf(query, asked)
        : strategy === 'decomposed'
          ? partsOf(query)
          : [query];
    const scope = { libraries, only, hasKeywords: strategy !== 'semantic' };
    const lists = await Promise.all(queries.map((each) => this.#candidates(toQuestion(each), scope)));
    const merged = strategy === 'multi_query' ? summed(lists) : interleave(lists);
    const candidates = await this.#read(merged.slice(0, Math.max(readMax, topK)));
    return { candidates, queries, evidence: await this.#evidenceFor(toQuestion(query), libraries) };
  }

  async #read(candidates: readonly Candidate[]): Promise<[Candidate, LazyPassage][]> {
    const unread = candidates.map(({ id }) => id).filter((id) => !this.#passages.has(id));
    const passages = await passagesOf(this.#database, unread);
    const fresh = new Map([...passages].map(([id, passage]) => [id, new LazyPassage(passage)] as const));
    const read = candidates.flatMap((candidate): [Candidate, LazyPassage][] => {
      const passage = this.#passages.get(candidate.id) ?? fresh.get(candidate.id);
      return passage ? [[candidate, passage]] : [];
    });
    for (const [{ id }, passage] of read) {
      this.#passages.delete(id);
      this.#passages.set(id, passage);
    }
    for (const id of this.#passages.keys()) {
      if (this.#passages.size <= passagesKept) break;
      this.#passages.delete(id);
    }
    return read;
  }

  async #candidates(
    question: Question,
    { libraries, only, hasKeywords }: Scope,
  ): Promise<readonly Candidate[]> {
    const found = await Promise.all(
      libraries.map(async (library) => {
        const vectors = await this.#libraries.vectorsOf(library);
        const features = question.terms.map(({ stem }) => featureOf(stem));
        const vector = vectors.nearest(features, depth, only && new Set(only));
        const wanted = question.terms.map((term) => ({ terms: [term] }));
        const query = { wanted, unwanted: [], match: 'any' } as const;
        const keyword = hasKeywords
          ? await keywordMatches(this.#database, query, { library, limit: depth, only })
          : [];
        return { keyword: keyword.filter(({ id }) => vectors.has(id)), vector };
      }),
    );
    const merged = (lists: readonly (readonly Match[])[]) => lists.flat();
    return fuse(merged(found.map(({ keyword }) => keyword)), merged(found.map(({ vector }) => vector)));
  }

  async #evidenceFor(question: Question, libraries: readonly number[]): Promise<Evidence> {
    const indexes = await Promise.all(libraries.map((library) => this.#libraries.vectorsOf(library)));
    const filled = indexes.filter((index) => index.size > 0);
    return new Evidence(question, {
      rarityOf(stem) {
        const feature = featureOf(stem);
        return filled.length === 0 ? 1 : Math.min(...filled.map((index) => index.rarityOf(feature)));
      },
      isKnown: (stem) => filled.some((index) => index.hasFeature(featureOf(stem))),
    });
  }
}

interface Scope {
  readonly libraries: readonly number[];
  readonly only: readonly number[] | undefined;
  readonly hasKeywords: boolean;
}

/** How much the question itself counts beside all of its variants, as measured with `octavo chat eval`. */
const questionShare = 0.95;

/** What a chunk is to a question that did not find it. */
const unlike = { keywordScore: 0, vectorScore: 0, cosine: 0 };

/**
 * A chunk that several phrasings find is worth the sum of what it is to each. What it is to the question itself, the first of them, is kept
 * for whoever reads it.
 */
function summed([own = [], ...others]: readonly (readonly Candidate[])[]): Candidate[] {
  if (others.length === 0) return [...own];
  const shared = (candidate: Candidate) => ({ ...candidate, score: candidate.score * questionShare });
  const merged = new Map(own.map((candidate) => [candidate.id, shared(candidate)]));
  const share = (1 - questionShare) / others.length;
  for (const candidate of others.flat()) {
    const known = merged.get(candidate.id) ?? { ...candidate, ...unlike, score: 0 };
    merged.set(candidate.id, { ...known, score: known.score + candidate.score * share });
  }
  return [...merged.values()].sort((one, other) => other.score - one.score || one.id - other.id);
}

interface Scored {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  /** Absent if it was not reranked. */
  readonly score?: number;
}

function unjudged(candidates: Gathered['candidates']): Scored[] {
  return candidates.map(([candidate, { read }]) => ({ candidate, read }));
}

function sourceOf(index: number, { candidate, read, score }: Scored, evidence: Evidence): Source {
  const { chunkId, documentId, filename, title, page, section, start, end } = read.passage;
  const retrieval = rounded(candidate.score);
  const rerank = score === undefined ? null : rounded(score);
  return {
    ...{ index, id: chunkId, document_id: documentId, chunk_id: chunkId, source: filename, title, page },
    ...{ section, start, end, score: rerank ?? retrieval, retrieval_score: retrieval, rerank_score: rerank },
    ...{ matched_by: candidate.matchedBy, snippet: snippetOf(read, evidence) },
  };
}

/** What follows from the sentence that has most of the question. */
function snippetOf(read: ReadPassage, evidence: Evidence): string {
  const { text } = read.passage;
  if (text.length <= snippetMax) return text;
  const from = bestSentence(read, evidence)?.start ?? 0;
  const part = text.slice(from, from + snippetMax).toWellFormed();
  return `${from > 0 ? '… ' : ''}${part}${from + snippetMax < text.length ? ' …' : ''}`;
}

function rounded(score: number): number {
  return Math.round(Math.max(0, Math.min(1, score)) * 10_000) / 10_000;
}
