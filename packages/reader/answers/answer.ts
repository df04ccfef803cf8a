/** Source of a part of an answer. Offsets are in UTF-16 units. */
export interface DocumentCitation {
  readonly kind: 'document';
  readonly answer_start: number;
  readonly answer_end: number;
  /** The `index` of its source. */
  readonly source_index: number;
  readonly document_id: string;
  readonly chunk_id: string;
  /** Exactly the text of the document from `quote_start` to `quote_end`. */
  readonly quote: string;
  readonly quote_start: number;
  readonly quote_end: number;
  /** Share of the sentence that the quote supports, 0 to 1. */
  readonly support: number;
}

/** A value of the domain data API that a part of an answer is from. */
export interface ApiCitation {
  readonly kind: 'api';
  readonly answer_start: number;
  readonly answer_end: number;
  readonly step: number;
  /** A JSON Pointer into `api_data`. */
  readonly pointer: string;
  readonly quote: string;
  readonly support: number;
}

/** Source of a part of an answer, in a document or in a record of data. */
export type Citation = DocumentCitation | ApiCitation;

/**
 * Kinds of answers: one place that answers; up to three places that may; nothing; a reply to what is no question about the documents, or
 * about all of one; and what a model wrote.
 */
export const answerKinds = ['quote', 'closest', 'none', 'reply', 'generated'] as const;
/** One of the kinds of answers. */
export type AnswerKind = (typeof answerKinds)[number];

/** An answer in words, with where each part comes from. */
export interface Answer {
  readonly kind: AnswerKind;
  readonly text: string;
  readonly citations: readonly Citation[];
  /** True if nothing was found that is known to answer the question. */
  readonly abstained: boolean;
  /** Likelihood that it answers the question, as it was with questions by others. */
  readonly confidence: number;
}
