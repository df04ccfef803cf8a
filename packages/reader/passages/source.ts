import { type Static, Type } from '@octavo/core';
import type { Span } from '@octavo/documents';
import type { Passage } from './passage.ts';

const Place = Type.Object(
  {
    start: Type.Integer({ description: 'In the text of the document, in UTF-16 units' }),
    end: Type.Integer(),
    text: Type.String(),
  },
  { title: 'BestPlace', description: 'The sentence, row or entry that comes closest to the question' },
);
const share = Type.Number({ minimum: 0, maximum: 1 });

/** A passage that was found, as clients see it. */
export const Source = Type.Object(
  {
    index: Type.Integer({ description: 'The number in the markers of the answer, from 1' }),
    id: Type.String(),
    document_id: Type.String(),
    chunk_id: Type.String(),
    source: Type.String({ description: 'The name of the file' }),
    title: Type.String(),
    page: Type.Union([Type.Integer(), Type.Null()]),
    section: Type.String(),
    start: Type.Integer(),
    end: Type.Integer(),
    score: share,
    retrieval_score: share,
    rerank_score: Type.Union([share, Type.Null()]),
    matched_by: Type.Array(Type.Enum(['keyword', 'vector'])),
    snippet: Type.String({ description: 'The part of the passage around its best place' }),
    best: Type.Union([Place, Type.Null()]),
  },
  { title: 'Source' },
);
/** A passage that was found, as clients see it. */
export type Source = Readonly<Static<typeof Source>>;

const snippetMax = 400;
/** Text before a best place that is not at the beginning of its snippet. */
const leadMax = 120;
const wholeScores = { score: 1, retrieval_score: 1, rerank_score: null, matched_by: [] };

/** A passage as clients see it, with its best place, whose offsets are in the passage. */
export function sourceOfPassage(
  index: number,
  passage: Passage,
  {
    best,
    ...scores
  }: Partial<Pick<Source, 'score' | 'retrieval_score' | 'rerank_score' | 'matched_by'>> & {
    readonly best?: Span | undefined;
  } = {},
): Source {
  const { chunkId, documentId, filename, title, page, section, start, end } = passage;
  const ids = { index, id: chunkId, document_id: documentId, chunk_id: chunkId };
  const place = { source: filename, title, page, section, start, end };
  return withBest({ ...ids, ...place, ...wholeScores, ...scores, snippet: '', best: null }, passage, best);
}

/** The source with another best place, and the text around that. */
export function withBest(source: Source, { text, start }: Passage, best: Span | undefined): Source {
  const shown = best && { ...best, text: text.slice(best.start, best.end) };
  return {
    ...source,
    snippet: snippetAround(text, best ?? { start: 0, end: 0 }),
    best:
      shown === undefined ? null : { start: start + shown.start, end: start + shown.end, text: shown.text },
  };
}

/** The text around a place, which is whole in it. Cut between words. */
function snippetAround(text: string, { start, end }: Span): string {
  if (text.length <= snippetMax) return text;
  const isNearBeginning = end <= snippetMax;
  const lead = text.slice(Math.max(0, start - leadMax), start);
  const from = isNearBeginning ? 0 : start - lead.length + lead.search(/(?<=\s)\S|$/);
  const least = Math.max(end, from + snippetMax);
  const rest = text.slice(least);
  const to = least + (rest.length > 0 && /\S/.test(text[least - 1] ?? '') ? rest.search(/\s|$/) : 0);
  const part = text.slice(from, to).toWellFormed();
  return `${from > 0 ? '… ' : ''}${part}${to < text.length ? ' …' : ''}`;
}
