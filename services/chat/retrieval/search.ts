import type { Database } from '#kit/db/index.ts';
import type { Embeddings } from '../embeddings/index.ts';
import { embeddingModel, featureOf } from '../indexing.ts';
import type { Tables } from '../tables.ts';
import type { Match } from './best.ts';
import { type DenseFound, DenseSearch } from './dense-search.ts';
import { Evidence } from './evidence.ts';
import { bestSentence, LazyPassage, type ReadPassage } from './features.ts';
import { blend, type Candidate, fuse, interleave, type MatchedBy, summed } from './fusion.ts';
import { Libraries } from './libraries.ts';
import { type Question, toQuestion } from './question.ts';
import { confidenceOf, type Judged, judge, rerankerModel } from './rerank.ts';
import {
  type Filters,
  filteredDocuments,
  keywordMatches,
  type Passage,
  passagesOf,
  syncVectors,
} from './store.ts';
import { partsOf, type Strategy, variantsOf } from './strategies.ts';
import { VectorIndex } from './vectors.ts';

/** How many chunks each side gives, and how many of them are read. */
const depth = 60;
const readMax = 48;
const snippetMax = 300;
const passagesKept = 4_000;
/** How many passages tell whether there is an answer. */
const judgedMin = 3;
/** How much an embedding service counts beside the words, before and after passages were read; see decisions/024. */
export const denseShares = { retrieved: 0.6, reranked: 0.5 };

export interface SearchRequest {
  readonly query: string;
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
  /** The model whose vectors were compared. */
  readonly embeddingModel: string;
  /** What did not go as it was asked for, in words for whoever asks. */
  readonly warnings: readonly string[];
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
  readonly strategyUsed: Strategy;
  readonly embeddingModel: string;
  readonly warnings: readonly string[];
}

/** Finds the passages of documents that answer a question. */
export class Retriever implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #libraries: Libraries<VectorIndex>;
  readonly #dense: DenseSearch | undefined;
  /** Those that were read last, by the numbers of their chunks. */
  readonly #passages = new Map<number, LazyPassage>();

  constructor(database: Database<Tables>, embeddings?: Embeddings) {
    this.#database = database;
    this.#libraries = new Libraries(database, {
      create: () => new VectorIndex(),
      sync: (library, index) => syncVectors(database, library, index),
    });
    this.#dense = embeddings && new DenseSearch(database, embeddings);
  }

  /** Reads the vectors of the largest libraries into memory. A question that is asked meanwhile waits for its own library only. */
  async preload(): Promise<void> {
    await this.#libraries.preload();
    await this.#dense?.preload();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dense?.[Symbol.asyncDispose]();
  }

  async search(request: SearchRequest): Promise<Found> {
    const startMs = performance.now();
    const gathered = await this.gather(request);
    const gatheredMs = performance.now();
    const { candidates, evidence, ...how } = gathered;
    const judged = ordered(
      judge(candidates.slice(0, request.rerank ? undefined : judgedMin), evidence),
      request,
    );
    const shown: readonly Scored[] = request.rerank
      ? judged.slice(0, request.topK)
      : candidates.slice(0, request.topK).map(([candidate, { read }]) => ({ candidate, read }));
    const sources = shown.map((one, index) => sourceOf(index + 1, one, evidence));
    return {
      ranked: sources.map((source, index) => ({ source, passage: (shown[index] as Scored).read.passage })),
      ...{ ...how, evidence },
      ...{ reranked: request.rerank, reranker: request.rerank ? rerankerModel : null },
      documentCount: new Set(sources.map(({ document_id }) => document_id)).size,
      confidence: confidenceOf(judged, evidence),
      latencyMs: { retrieval: gatheredMs - startMs, rerank: performance.now() - gatheredMs },
    };
  }

  /** What a question finds before it is put in order by reading it. */
  async gather({ query, strategy, topK, libraries, filters }: SearchRequest): Promise<Gathered> {
    const only = filters && (await filteredDocuments(this.#database, libraries, filters));
    const queries =
      strategy === 'multi_query' ? variantsOf(query) : strategy === 'decomposed' ? partsOf(query) : [query];
    const indexes = await Promise.all(libraries.map((library) => this.#libraries.indexOf(library)));
    const searching = this.#dense?.nearest(queries, { libraries, only, limit: depth });
    // Words need no other service, so they are searched meanwhile, unless vectors alone may be enough.
    const needsWords = strategy !== 'semantic' || (searching && !isWhole(await searching, indexes));
    const scope = { libraries, only, hasKeywords: needsWords ?? false };
    const words = Promise.all(queries.map((each) => this.#wordMatches(toQuestion(each), scope)));
    const [dense, found] = await Promise.all([searching, words]);
    const isSemantic = strategy === 'semantic' && !needsWords;
    const lists = found.map(({ keyword, vector }, index) => {
      const matches = dense?.lists?.[index];
      if (!matches) return fuse(keyword, vector);
      const near = new Set(matches.map(({ id }) => id));
      const fused = fuse(keyword, vector, { matches, share: isSemantic ? 1 : denseShares.retrieved });
      return isSemantic ? fused.filter(({ id }) => near.has(id)) : fused;
    });
    const merged = strategy === 'multi_query' ? summed(lists) : interleave(lists);
    return {
      candidates: await this.#read(merged.slice(0, Math.max(readMax, topK))),
      ...{ queries, evidence: evidenceFor(toQuestion(query), indexes) },
      strategyUsed: strategy === 'semantic' && needsWords ? 'hybrid' : strategy,
      embeddingModel: this.#dense && dense?.lists ? this.#dense.model : embeddingModel,
      warnings: this.#dense && dense ? warningsFor(this.#dense.model, dense, indexes) : [],
    };
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

  async #wordMatches(
    question: Question,
    { libraries, only, hasKeywords }: Scope,
  ): Promise<{ keyword: Match[]; vector: Match[] }> {
    const found = await Promise.all(
      libraries.map(async (library) => {
        const vectors = await this.#libraries.indexOf(library);
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
    return {
      keyword: found.flatMap(({ keyword }) => keyword),
      vector: found.flatMap(({ vector }) => vector),
    };
  }
}

/** Whether all documents have vectors of the service, and these were searched. */
function isWhole({ lists, documentCount }: DenseFound, indexes: readonly VectorIndex[]): boolean {
  const documents = indexes.reduce((sum, index) => sum + index.documentCount, 0);
  return documentCount >= documents && (lists !== undefined || documents === 0);
}

function warningsFor(model: string, found: DenseFound, indexes: readonly VectorIndex[]): string[] {
  if (found.problem !== undefined) return [found.problem];
  if (isWhole(found, indexes)) return [];
  return [`Not all documents have vectors of ${model} yet. The others were found by their words.`];
}

function evidenceFor(question: Question, indexes: readonly VectorIndex[]): Evidence {
  const filled = indexes.filter((index) => index.size > 0);
  return new Evidence(question, {
    rarityOf(stem) {
      const feature = featureOf(stem);
      return filled.length === 0 ? 1 : Math.min(...filled.map((index) => index.rarityOf(feature)));
    },
    isKnown: (stem) => filled.some((index) => index.hasFeature(featureOf(stem))),
  });
}

interface Scope {
  readonly libraries: readonly number[];
  readonly only: readonly number[] | undefined;
  readonly hasKeywords: boolean;
}

interface Scored {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  /** Of the reranker; absent if it was not asked. */
  readonly score?: number;
}

/** Best first. What the reranker says of the words is weighed against the vectors of an embedding service. */
function ordered(judged: Judged[], { rerank }: SearchRequest): Judged[] {
  return rerank ? judged.sort((one, other) => finalScore(other) - finalScore(one)) : judged;
}

function finalScore({ candidate, score }: Scored): number {
  if (score === undefined) return candidate.fusedScore;
  return blend(score, candidate.denseScore, denseShares.reranked);
}

function sourceOf(index: number, scored: Scored, evidence: Evidence): Source {
  const { candidate, read, score } = scored;
  const { chunkId, documentId, filename, title, page, section, start, end } = read.passage;
  const retrieval = rounded(candidate.fusedScore);
  const rerank = score === undefined ? null : rounded(score);
  return {
    ...{ index, id: chunkId, document_id: documentId, chunk_id: chunkId, source: filename, title, page },
    ...{ section, start, end, score: rounded(finalScore(scored)) },
    ...{ retrieval_score: retrieval, rerank_score: rerank },
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
