import type { Found, Ranked } from '../passages/found.ts';
import type { Language } from '../wording/language.ts';
import { texts } from '../wording/texts.ts';
import { type Answered, answerOf, type Quote } from './extractive.ts';

/** A part of a question with its answer. */
export interface AnsweredPart<F extends Found = Found> extends Answered<F> {
  readonly part: string;
}

/**
 * The answer to a question by its parts: the quote of each that has one, and the names of those that have none; or else the place that comes
 * closest to each. The passages of the parts are sources by turns. The answer to the whole question stays where the parts add nothing.
 */
export function answerByParts<F extends Found, A extends Answered<F>>(
  whole: A,
  parts: readonly AnsweredPart<F>[],
  { sourcesMax, language }: { readonly sourcesMax: number; readonly language: Language },
): A {
  const told = parts.filter(({ answer }) => answer.kind === 'quote');
  if (told.length === 0 && whole.answer.kind === 'quote') return whole;
  const isAlone = told.length > 0;
  const places = distinct(
    (isAlone ? told : parts).flatMap(placeOf),
    ({ ranked, start }) => ranked.passage.start + start,
  );
  if (places.length === 0) return whole;
  const byTurns = Array.from({ length: sourcesMax }).flatMap((_, at) =>
    [...parts, whole].flatMap(({ found }) => found.ranked[at] ?? []),
  );
  const ranked = distinct([...places.map((place) => place.ranked), ...byTurns], ({ passage }) => passage.id)
    .slice(0, sourcesMax)
    .map((each, index) => ({ ...each, source: { ...each.source, index: index + 1 } }));
  const quotes = places.map(({ ranked: { passage }, start, end }): Quote => {
    const sourceIndex = ranked.findIndex((each) => each.passage.id === passage.id) + 1;
    return { passage, start, end, sourceIndex };
  });
  const words = texts[language];
  const missing = isAlone ? parts.filter((each) => !told.includes(each)) : [];
  const { text, citations } = answerOf(quotes, isAlone ? '' : `${words.closest}\n\n`);
  return {
    ...whole,
    found: {
      ...whole.found,
      ranked,
      documentCount: new Set(ranked.map(({ passage }) => passage.document)).size,
    },
    isLikely: whole.isLikely || told.length > 0,
    answer: {
      kind: isAlone ? 'quote' : 'closest',
      text: [text, ...missing.map(({ part }) => words.unanswered(part))].join('\n\n'),
      citations,
      abstained: !isAlone,
      confidence: Math.min(...(isAlone ? told : parts).map(({ answer }) => answer.confidence)),
    },
  };
}

interface QuotedPlace {
  readonly ranked: Ranked;
  readonly start: number;
  readonly end: number;
}

/** The place that is quoted first for a part. */
function placeOf({ answer: { citations }, found }: AnsweredPart): QuotedPlace[] {
  const cited = citations.find((each) => each.kind === 'document');
  const ranked = cited && found.ranked.find(({ passage }) => passage.chunkId === cited.chunk_id);
  if (!ranked) return [];
  const from = ranked.passage.start;
  return [{ ranked, start: cited.quote_start - from, end: cited.quote_end - from }];
}

function distinct<T>(all: readonly T[], keyOf: (one: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return all.filter((one) => {
    const key = keyOf(one);
    return !seen.has(key) && seen.add(key);
  });
}
