import { type Answer, answerOf, type Quote } from '../answers/index.ts';
import type { Passage } from '../retrieval/index.ts';

/** A reply from the contents of the library. Citations refer to the passages by position, from 1. */
export interface Reply extends Answer {
  readonly passages: readonly Passage[];
}

/** A part of a passage to quote, before its passage has a number. */
export type PassagePart = Omit<Quote, 'sourceIndex'>;

/** A reply of quotes after an introduction, whose passages are its sources. */
export function quotedReply(parts: readonly PassagePart[], introduction: string, confidence: number): Reply {
  const passages = [...new Set(parts.map(({ passage }) => passage))];
  const quotes = parts.map((part) => ({ ...part, sourceIndex: passages.indexOf(part.passage) + 1 }));
  return { ...answerOf(quotes, introduction), abstained: false, confidence, passages };
}
