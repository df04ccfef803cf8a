import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import type { Passage } from './passage.ts';
import type { Source } from './source.ts';

/** A passage with all of its text, best first. */
export interface Ranked {
  readonly source: Source;
  readonly passage: Passage;
  /** Passages of the document just before and after it, in their order, where a model is to read them too. */
  readonly neighbors?: readonly Passage[];
}

/** Passages that were found for a question, best first. */
export interface Found {
  readonly ranked: readonly Ranked[];
  /** Number of documents with passages. */
  readonly documentCount: number;
  /** Confidence that the first passages answer the question, 0 to 1. */
  readonly confidence: number;
  /** Rarity of the question's words, for the search for its answer in the passages. */
  readonly evidence: Evidence;
}
