import type { Answer } from '../answers/answer.ts';
import { answerOf, type Quote } from '../answers/extractive.ts';
import type { Passage } from '../passages/passage.ts';
import { type Source, sourceOfPassage } from '../passages/source.ts';

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
  return { ...answerOf(quotes, introduction), kind: 'reply', abstained: false, confidence, passages };
}

/** The passages of a reply, each with what is quoted of it first. */
export function sourcesOf({ passages, citations }: Reply): Source[] {
  return passages.map((passage, place) => {
    const cited = citations.find((each) => each.kind === 'document' && each.source_index === place + 1);
    const quote = cited?.kind === 'document' ? cited : undefined;
    const best = quote && { start: quote.quote_start - passage.start, end: quote.quote_end - passage.start };
    return sourceOfPassage(place + 1, passage, { best });
  });
}
