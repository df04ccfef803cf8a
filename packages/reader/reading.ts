import type { Answer } from './answers/answer.ts';
import type { Documents } from './everyday/documents.ts';
import type { Found } from './passages/found.ts';
import type { Source } from './passages/source.ts';
import type { Language } from './wording/language.ts';

/** A question as it was asked. */
export interface AskedQuestion {
  readonly text: string;
  /** Language of the words around the answer. */
  readonly language: Language;
  /** Number of passages that are shown. */
  readonly sourcesMax: number;
}

/** Finds what is read. The searcher knows the libraries, the filters and the strategy, and may find more than a reader has to know. */
export interface Search<F extends Found = Found> {
  /** Finds the passages for a question. */
  passages(query: PassagesQuery): Promise<F>;
  /** The documents that may be asked; only for replies about them. */
  documents(): Promise<Documents>;
  /** Rewrites a question that goes on from those before it into one that stands alone; undefined if it cannot. */
  rewritten?(question: string): Promise<string | undefined>;
  /** Resolves to the part of a question that is for documents, if other data answers the rest, else to undefined. */
  partForDocuments(question: string): Promise<string | undefined>;
}

/** A question in one of its senses. */
export interface PassagesQuery {
  readonly text: string;
  /** The question without what comes from those before it. */
  readonly asked: string;
  readonly limit: number;
}

/** A question as it was read, with its answer. */
export type Reading<F extends Found = Found> = PassageReading<F> | ReplyReading;

interface CommonReading {
  /** The question as it is meant: without courtesies, and with what it takes from those before it. */
  readonly question: string;
  /** Kind, words, citations and confidence of the answer that is given without a model. */
  readonly answer: Answer;
  /** Passages that are shown, best first, each with its best place. */
  readonly sources: readonly Source[];
}

/** Passages were searched, and quoted as far as they may answer. */
export interface PassageReading<F extends Found = Found> extends CommonReading {
  readonly kind: 'passages';
  /** The search in the sense that has the best answer; its passages are the sources. */
  readonly found: F;
  /** True if the documents are likely to answer, also where the answer does not stand alone. */
  readonly isLikely: boolean;
  /** True if the passages are for a part of the question, and other data is for the rest. */
  readonly isPart: boolean;
}

/** A reply to what is no question about what documents say, such as a greeting, or to one about the documents themselves. */
export interface ReplyReading extends CommonReading {
  readonly kind: 'reply';
}
