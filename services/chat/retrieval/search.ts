import type { Database } from '#kit/db/index.ts';
import type { Embeddings } from '../embeddings/index.ts';
import { embeddingModel, featureOf } from '../indexing.ts';
import type { Tables } from '../tables.ts';
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
import { partsOf, type Strategy } from './strategies.ts';
import { variantsOf } from './variants.ts';
import { VectorIndex } from './vectors.ts';

/** How many chunks each side gives, and how many of them are read. */
const depth = 60;
const readMax = 48;
const snippetMax = 300;
const passagesKept = 4_000;
/** How many passages tell whether there is an answer. */
const judgedMin = 3;
/** How much an embedding service counts beside the words, before and after passages were read; see decisions/024. */
export const denseShares = { retrieved: 0.5, reranked: 0.4 };

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
    const judged = judge(candidates.slice(0, request.rerank ? undefined : judgedMin), evidence);
    const ordered = request.rerank ? reranked(judged) : undefined;
    const shown = (ordered ?? unjudged(candidates)).slice(0, request.topK);
    const sources = shown.map((one, index) => sourceOf(index + 1, one, evidence));
    return {
      ranked: sources.map((source, index) => ({ source, passage: (shown[index] as Scored).read.passage })),
      ...{ ...how, evidence },
      ...{ reranked: request.rerank, reranker: request.rerank ? rerankerModel : null },
      documentCount: new Set(sources.map(({ document_id }) => document_id)).size,
      confidence: confidenceOf(ordered ?? judged, evidence),
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
    const indexes = await Promise.all(libraries.map((library) => this.#libraries.indexOf(library)));
    const dense = await this.#dense?.nearest(queries, { libraries, only, limit: depth });
    const isSemantic = strategy === 'semantic' && (!dense || isWhole(dense, indexes));
    const scope = { libraries, indexes, only, hasKeywords: !isSemantic };
    const byWords = await Promise.all(queries.map((each) => this.#byWords(toQuestion(each), scope)));
    const lists = byWords.map(({ keyword, vector }, index) => {
      const matches = dense?.lists?.[index];
      if (!matches) return fuse(keyword, vector);
      const fused = fuse(keyword, vector, { matches, share: isSemantic ? 1 : denseShares.retrieved });
      const near = new Set(matches.map(({ id }) => id));
      return isSemantic ? fused.filter(({ id }) => near.has(id)) : fused;
    });
    const merged = strategy === 'multi_query' ? summed(lists) : interleave(lists);
    return {
      candidates: await this.#read(merged.slice(0, Math.max(readMax, topK))),
      ...{ queries, evidence: evidenceFor(toQuestion(query), indexes) },
      strategyUsed: strategy === 'semantic' && !isSemantic ? 'hybrid' : strategy,
      embeddingModel: this.#dense && dense?.lists ? this.#dense.model : embeddingModel,
      warnings: this.#dense && dense ? warningsFor(this.#dense.model, dense, indexes) : [],
    };
  }

  /** What a question finds by its keywords and by the built-in vectors. */
  async #byWords({ terms }: Question, { libraries, indexes, only, hasKeywords }: Scope) {
    const features = terms.map(({ stem }) => featureOf(stem));
    const within = only && new Set(only);
    const keyword = libraries.map(async (library, place) => {
      if (!hasKeywords) return [];
      const index = indexes[place] as VectorIndex;
      const wanted = terms.map((term) => ({ terms: [term], weight: index.rarityOf(featureOf(term.stem)) }));
      const query = { wanted, unwanted: [], match: 'any' } as const;
      const found = await keywordMatches(this.#database, query, { library, limit: depth, only });
      return found.filter(({ id }) => index.has(id));
    });
    return {
      keyword: (await Promise.all(keyword)).flat(),
      vector: indexes.flatMap((index) => index.nearest(features, depth, within)),
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
}

interface Scope {
  readonly libraries: readonly number[];
  /** Those of the libraries, in their order. */
  readonly indexes: readonly VectorIndex[];
  readonly only: readonly number[] | undefined;
  readonly hasKeywords: boolean;
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

interface Scored {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  /** Of the reranker; null if it was not asked. */
  readonly score: number | null;
  /** What it is ordered by. */
  readonly final: number;
}

function unjudged(candidates: Gathered['candidates']): Scored[] {
  return candidates.map(([candidate, { read }]) => {
    return { candidate, read, score: null, final: candidate.fusedScore };
  });
}

/**
 * Best first. The reranker judges the words, so an embedding service has its share beside it: where the words say little of any passage,
 * its vectors decide.
 */
function reranked(judged: readonly Judged[]): (Judged & Scored)[] {
  const weightOf = ({ score }: Judged) => Math.max(0, Math.log(score / (1 - score + Number.EPSILON)));
  const most = Math.max(decisiveWeight, ...judged.map(weightOf));
  const finalOf = (one: Judged) => {
    const { denseScore } = one.candidate;
    return denseScore === undefined
      ? one.score
      : blend(weightOf(one) / most, denseScore, denseShares.reranked);
  };
  const scored = judged.map((one) => ({ ...one, final: finalOf(one) }));
  return scored.sort((one, other) => other.final - one.final);
}

/** The log odds of a passage that the reranker is sure of. The first passage has 5 to 8 for questions that are answered. */
const decisiveWeight = 4;

function sourceOf(index: number, scored: Scored, evidence: Evidence): Source {
  const { candidate, read, score, final } = scored;
  const { chunkId, documentId, filename, title, page, section, start, end } = read.passage;
  return {
    ...{ index, id: chunkId, document_id: documentId, chunk_id: chunkId, source: filename, title, page },
    ...{ section, start, end, score: rounded(final), retrieval_score: rounded(candidate.fusedScore) },
    rerank_score: score === null ? null : rounded(score),
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
