import type { Database } from '@octavo/data';
import { type Found as FoundPassages, type Source, sourceOfPassage } from '@octavo/reader';
import { meaningModel } from '@octavo/reader/meaning';
import { partsOf, QueryTermWeights, type Question, toQuestion, variantsOf } from '@octavo/reader/questions';
import type { Embeddings } from '../embeddings/index.ts';
import { embeddingModel, featureOf } from '../indexing.ts';
import type { Tables } from '../tables.ts';
import { DenseScanner } from './dense/index-of-vectors.ts';
import { MeaningSearch } from './dense/meaning.ts';
import { coversAllDocuments, DenseSearch } from './dense/search.ts';
import { IndexCache } from './index-cache.ts';
import { type CrossEncoder, RerankFailure } from './ranking/cross-encoder.ts';
import { blend, type Candidate, fuse, interleave, sumCandidates } from './ranking/fusion.ts';
import { confidenceOf, type Reranked, rerank, rerankerModel } from './ranking/rerank.ts';
import { bestSentence, LazyPassage, type ReadPassage } from './ranking/reranker-features.ts';
import { VectorIndex } from './sparse-index.ts';
import { type Filters, filteredDocuments, keywordMatches, passagesOf, syncVectors } from './store.ts';
import type { Strategy } from './strategies.ts';
import type { Match } from './top-k.ts';

/** Number of candidates in each list, and of those that are read. */
const candidatesPerList = 60;
const readMax = 48;
const passagesKept = 4_000;
/** Number of passages that decide if there is an answer. */
const judgedMin = 3;
/** Confidence of the words below which passages are taken by their meaning too; see docs/decisions/031. */
const meaningBelow = 0.5;
/** Weight of vectors beside the words, before and after passages were read, and what is added where the words are unsure; see docs/decisions/048. */
export const denseShares = { retrieved: 0.7, reranked: 0.3, unsure: 0.5 };

export interface SearchRequest {
  readonly query: string;
  /** The question without its context, if that differs. */
  readonly withoutContext?: string | undefined;
  readonly strategy: Strategy;
  readonly topK: number;
  /** True to order the candidates by reading them. */
  readonly rerank: boolean;
  /** The libraries to search. */
  readonly libraries: readonly number[];
  readonly filters?: Filters | undefined;
}

export interface Found extends FoundPassages {
  /** The questions that were really searched for. */
  readonly queries: readonly string[];
  readonly strategyUsed: Strategy;
  readonly reranked: boolean;
  readonly reranker: string | null;
  /** The model whose vectors were compared. */
  readonly embeddingModel: string;
  /** Deviations from the request, in words for the client. */
  readonly warnings: readonly string[];
  readonly latencyMs: { readonly retrieval: number; readonly rerank: number };
}

/** Passages that were found and read, in the order of retrieval. */
export interface Gathered {
  readonly candidates: readonly (readonly [Candidate, LazyPassage])[];
  readonly queries: readonly string[];
  readonly evidence: QueryTermWeights;
  readonly strategyUsed: Strategy;
  readonly embeddingModel: string;
  /** Trust in the vectors of the model, 0 to 1. */
  readonly denseTrust: number;
  /** True if documents may be without vectors for good, so that the built-in ones are compared too. */
  readonly usesMeaning: boolean;
  readonly warnings: readonly string[];
}

/** A part that an administrator may connect or disconnect at any time. */
interface InUse<Part> {
  current(): Promise<Part | undefined>;
}

export interface RetrieverParts {
  readonly embeddings?: InUse<Embeddings>;
  /** The server that reads question and passage together. */
  readonly crossEncoders?: InUse<CrossEncoder>;
}

/** Finds the passages of documents that answer a question. */
export class Retriever implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #libraries: IndexCache<VectorIndex>;
  readonly #parts: RetrieverParts;
  readonly #scanner = new DenseScanner();
  /** Search by the embeddings that were last in use. */
  #dense: DenseSearch | undefined;
  /** Search for documents that the encoder of this machine has not read. */
  readonly #meaning: MeaningSearch;
  /** Those that were read last, by the numbers of their chunks. */
  readonly #passages = new Map<number, LazyPassage>();

  constructor(database: Database<Tables>, parts: RetrieverParts = {}) {
    this.#parts = parts;
    this.#database = database;
    this.#libraries = new IndexCache(database, {
      create: () => new VectorIndex(),
      sync: (library, index) => syncVectors(database, library, index),
    });
    this.#meaning = new MeaningSearch(database, this.#scanner);
  }

  /** Reads the vectors of the largest libraries into memory. A question during this time waits for its own library only. */
  async preload(): Promise<void> {
    await this.#libraries.preload();
    await ((await this.#denseSearch()) ?? this.#meaning).preload();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scanner[Symbol.asyncDispose]();
  }

  /** Search by the embeddings in use, if there are any. */
  async #denseSearch(): Promise<DenseSearch | undefined> {
    const embeddings = await this.#parts.embeddings?.current();
    if (this.#dense?.embeddings !== embeddings)
      this.#dense = embeddings && new DenseSearch(this.#database, this.#scanner, embeddings);
    return this.#dense;
  }

  async search(request: SearchRequest): Promise<Found> {
    const startMs = performance.now();
    const gathered = await this.gather(request);
    const gatheredMs = performance.now();
    const { candidates, evidence, denseTrust, usesMeaning: _, ...rest } = gathered;
    const judged = rerank(candidates.slice(0, request.rerank ? undefined : judgedMin), evidence);
    const ordered = request.rerank ? reranked(judged, evidence, denseTrust) : undefined;
    const confidence = confidenceOf(ordered ?? judged, evidence);
    const byWords = ordered ?? unjudged(candidates.slice(0, request.topK));
    const near = await this.#nearMeaning(request, gathered, confidence);
    const merged = near.length === 0 ? byWords : byTurns(byWords, near, request.strategy === 'semantic');
    const { all, reranker, problem } = await this.#crossEncoded(request, merged);
    const shown = all.slice(0, request.topK);
    const sources = shown.map((one, index) => sourceOf(index + 1, one, evidence));
    return {
      ranked: sources.map((source, index) => ({ source, passage: (shown[index] as Scored).read.passage })),
      ...rest,
      ...(near.length > 0 && { embeddingModel: meaningModel }),
      evidence,
      reranked: request.rerank,
      reranker,
      warnings: problem === undefined ? gathered.warnings : [...gathered.warnings, problem],
      documentCount: new Set(sources.map(({ document_id }) => document_id)).size,
      confidence,
      latencyMs: { retrieval: gatheredMs - startMs, rerank: performance.now() - gatheredMs },
    };
  }

  /** The passages in the order of the cross-encoder, if there is one and it answers; else as they were, with the reason. */
  async #crossEncoded({ query, rerank: isWanted }: SearchRequest, found: readonly Scored[]) {
    const encoder = isWanted ? await this.#parts.crossEncoders?.current() : undefined;
    if (!isWanted || !encoder) return { all: found, reranker: isWanted ? rerankerModel : null };
    const passages = found.map(({ read: { passage }, rankScore }) => {
      const above = passage.section || passage.title;
      return { text: `${above}\n${passage.text}`.trim(), rankScore };
    });
    try {
      const scored = await encoder.rank(query, passages);
      const all = found.map((one, place) => ({ ...one, ...scored[place] }));
      return { all: all.sort((one, other) => other.rankScore - one.rankScore), reranker: encoder.name };
    } catch (error) {
      if (!(error instanceof RerankFailure)) throw error;
      const problem = `The reranker ${error.message}. Passages are in the order of ${rerankerModel}.`;
      return { all: found, reranker: rerankerModel, problem };
    }
  }

  /** Passages with a similar meaning, if the words of the question say little or the strategy asks for it. */
  async #nearMeaning(
    { query, strategy, libraries, filters, topK }: SearchRequest,
    { queries, embeddingModel: model, usesMeaning }: Gathered,
    confidence: number,
  ): Promise<Scored[]> {
    if (!usesMeaning || model !== embeddingModel) return [];
    if (strategy !== 'semantic' && confidence >= meaningBelow) return [];
    const only = filters && (await filteredDocuments(this.#database, libraries, filters));
    // No more than are shown, as each has to be read.
    const limit = topK;
    const asked = strategy === 'decomposed' ? queries : [query];
    const scope = { libraries, only, limit };
    const lists = await Promise.all(asked.map((each) => this.#meaning.nearest(each, scope)));
    const candidates = interleave(lists.map((matches) => matches.map(nearCandidate)));
    const read = await this.#read(candidates.slice(0, limit));
    return read.map(([candidate, passage]) => ({
      candidate,
      read: passage.read,
      score: null,
      rankScore: candidate.fusedScore,
    }));
  }

  /** Finds the candidates of a question before they are ordered by reading them. */
  async gather({
    query,
    withoutContext,
    strategy,
    topK,
    libraries,
    filters,
  }: SearchRequest): Promise<Gathered> {
    const only = filters && (await filteredDocuments(this.#database, libraries, filters));
    const queries =
      strategy === 'multi_query'
        ? variantsOf(query, withoutContext)
        : strategy === 'decomposed'
          ? partsOf(query)
          : [query];
    const indexes = await Promise.all(libraries.map((library) => this.#libraries.indexOf(library)));
    const searchWords = (hasKeywords: boolean) => {
      const scope = { libraries, indexes, only, hasKeywords };
      return Promise.all(queries.map((each) => this.#lexicalMatches(toQuestion(each), scope)));
    };
    const search = await this.#denseSearch();
    // Words are searched while vectors are compared, unless only the vectors tell if words are wanted.
    const [dense, alongside] = await Promise.all([
      search?.nearest(queries, { libraries, only, limit: candidatesPerList }),
      strategy === 'semantic' ? undefined : searchWords(true),
    ]);
    // Who does not ask for meaning need not know that the encoder of this machine has not been there.
    const isTold = strategy === 'semantic' || search?.isService === true;
    const isSemantic = strategy === 'semantic' && (!dense || coversAllDocuments(dense, indexes));
    const byWords = alongside ?? (await searchWords(!isSemantic));
    const lists = byWords.map(({ keyword, vector }, index) => {
      const matches = dense?.lists?.[index];
      if (!matches) return fuse(keyword, vector);
      const share = isSemantic ? 1 : denseShares.retrieved * (dense.trusts[index] ?? 1);
      const fused = fuse(keyword, vector, { matches, share });
      const near = new Set(matches.map(({ id }) => id));
      return isSemantic ? fused.filter(({ id }) => near.has(id)) : fused;
    });
    const merged = strategy === 'multi_query' ? sumCandidates(lists) : interleave(lists);
    return {
      candidates: await this.#read(merged.slice(0, Math.max(readMax, topK))),
      queries,
      evidence: evidenceFor(toQuestion(query), indexes),
      strategyUsed: strategy === 'semantic' && !isSemantic ? 'hybrid' : strategy,
      embeddingModel: search && dense?.lists ? search.model : embeddingModel,
      denseTrust: isSemantic ? 1 : (dense?.trusts[0] ?? 1),
      usesMeaning: search?.isService !== true,
      warnings: search && dense && isTold ? search.warningsFor(dense, indexes) : [],
    };
  }

  /** Finds candidates by the question's keywords and the built-in vectors. */
  async #lexicalMatches({ terms }: Question, { libraries, indexes, only, hasKeywords }: Scope) {
    const features = terms.map(({ stem }) => featureOf(stem));
    const within = only && new Set(only);
    const keyword = libraries.map(async (library, place) => {
      if (!hasKeywords) return [];
      const index = indexes[place] as VectorIndex;
      const wanted = terms.map((term) => ({ terms: [term], weight: index.rarityOf(featureOf(term.stem)) }));
      const query = { wanted, unwanted: [], match: 'any' } as const;
      const found = await keywordMatches(this.#database, query, { library, limit: candidatesPerList, only });
      return found.filter(({ id }) => index.has(id));
    });
    return {
      keyword: (await Promise.all(keyword)).flat(),
      vector: indexes.flatMap((index) => index.nearest(features, candidatesPerList, within)),
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

function evidenceFor(question: Question, indexes: readonly VectorIndex[]): QueryTermWeights {
  const filled = indexes.filter((index) => index.size > 0);
  return new QueryTermWeights(question, {
    rarityOf(stem) {
      const feature = featureOf(stem);
      return filled.length === 0 ? 1 : Math.min(...filled.map((index) => index.rarityOf(feature)));
    },
    isKnown: (stem) => filled.some((index) => index.hasFeature(featureOf(stem))),
    shareIn: (document, stem) =>
      Math.max(0, ...filled.map((each) => each.shareIn(document, featureOf(stem)))),
  });
}

interface Scored {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  /** Of the reranker; null if it was not asked. */
  readonly score: number | null;
  /** Score that orders the passages. */
  readonly rankScore: number;
}

function unjudged(candidates: Gathered['candidates']): Scored[] {
  return candidates.map(([candidate, { read }]) => {
    return { candidate, read, score: null, rankScore: candidate.fusedScore };
  });
}

function nearCandidate({ id, score }: Match): Candidate {
  const found = { id, score: 0, fusedScore: score, cosine: 0, keywordScore: 0, vectorScore: 0 };
  return { ...found, matchedBy: ['vector'], denseScore: undefined };
}

/** The passages of two lists by turns; scores never rise. */
function byTurns(byWords: readonly Scored[], near: readonly Scored[], isNearFirst: boolean): Scored[] {
  const known = new Map(byWords.map((one) => [one.candidate.id, one]));
  const same = near.map((one) => known.get(one.candidate.id) ?? one);
  const [first, second] = isNearFirst ? [same, byWords] : [byWords, same];
  const merged = new Map<number, Scored>();
  for (let place = 0; place < Math.max(first.length, second.length); place++)
    for (const one of [first[place], second[place]])
      if (one && !merged.has(one.candidate.id)) merged.set(one.candidate.id, one);
  let least = 1;
  return [...merged.values()].map((one) => {
    least = Math.min(least, one.rankScore);
    return { ...one, rankScore: least };
  });
}

/**
 * Best first. The reranker judges the words, so an embedding service has its share beside it: where the words say little of any passage,
 * its vectors decide; where they are sure, it counts as far as it knows the passages that they found, as a weak model does not.
 */
function reranked(
  judged: readonly Reranked[],
  evidence: QueryTermWeights,
  denseTrust: number,
): (Reranked & Scored)[] {
  const byWords = judged.toSorted((one, other) => other.score - one.score);
  const first = byWords.slice(0, agreeingPassages).map(({ candidate }) => candidate.denseScore);
  if (first.every((score) => score === undefined))
    return byWords.map((one) => ({ ...one, rankScore: one.score }));
  const agreement = first.reduce<number>((sum, score) => sum + (score ?? 0), 0) / first.length;
  const confidence = confidenceOf(byWords, evidence);
  const trust = denseTrust * (1 - confidence * (1 - agreement));
  const share = (denseShares.reranked + denseShares.unsure * (1 - confidence) ** 2) * trust;
  // As the log odds where these are high, and never the same for two passages where they are low.
  const weightOf = ({ score }: Reranked) => -Math.log(1 - score + Number.EPSILON);
  const most = Math.max(decisiveWeight, ...judged.map(weightOf));
  const scored = judged.map((one) => {
    const { denseScore } = one.candidate;
    const rankScore = blend(weightOf(one) / most, denseScore, share);
    return { ...one, rankScore: denseScore === undefined ? one.score : rankScore };
  });
  return scored.sort((one, other) => other.rankScore - one.rankScore);
}

/** Number of passages, first by the words, that a good model is expected to know. */
const agreeingPassages = 3;
/** The log odds of a passage that the reranker is sure of. The first passage has 5 to 8 for questions that are answered. */
const decisiveWeight = 4;

function sourceOf(
  index: number,
  { candidate, read, score, rankScore }: Scored,
  evidence: QueryTermWeights,
): Source {
  const scores = {
    score: rounded(rankScore),
    retrieval_score: rounded(candidate.fusedScore),
    rerank_score: score === null ? null : rounded(score),
    matched_by: [...candidate.matchedBy],
  };
  return sourceOfPassage(index, read.passage, { ...scores, best: bestSentence(read, evidence) });
}

function rounded(score: number): number {
  return Math.round(Math.max(0, Math.min(1, score)) * 10_000) / 10_000;
}
