import type { Evidence, Found, Passage } from '../retrieval/index.ts';
import type { Answer, DocumentCitation } from './answer.ts';
import { sentenceCandidates } from './sentence-features.ts';
import model from './sentence-model.json' with { type: 'json' };

const sentencesMax = 3;
const passagesMax = 5;
/** A further sentence must be nearly as likely to answer as the first one. */
const furtherShare = 0.25;
/** A heading or a row is quoted only up to here. */
const sentenceLengthMax = 600;

export const nothingFound = 'The documents do not say anything about this.';

/** A sentence of a document that may answer a question. */
export interface QuotedSentence {
  readonly text: string;
  /** In the text of the document. */
  readonly start: number;
  readonly end: number;
  /** The `index` of its source. */
  readonly sourceIndex: number;
  readonly passage: Passage;
  /** How likely it is to answer; meaningful only beside those of other sentences. */
  readonly score: number;
}

/** Quotes the sentences that are most likely to answer the question. It never says anything that is not in a document. */
export function extractiveAnswer(found: Found): Answer {
  const { confidence } = found;
  const [best, ...others] = bestSentences(found).filter(({ text }) => shownText(text) !== '');
  if (!best || confidence < 0.5) {
    return { text: nothingFound, citations: [], abstained: true, confidence };
  }
  const further = others.filter(({ score }) => score >= best.score + Math.log(furtherShare));
  return { ...composed([best, ...further.slice(0, sentencesMax - 1)]), abstained: false, confidence };
}

/** The sentences of the first passages, most likely answer first. */
export function bestSentences(
  { ranked, evidence }: { readonly ranked: Found['ranked']; readonly evidence: Evidence },
  weights: readonly number[] = model.weights,
): QuotedSentence[] {
  const first = ranked.slice(0, passagesMax);
  const lists = sentenceCandidates(
    first.map(({ source, passage }) => ({ passage, score: source.rerank_score ?? source.score })),
    evidence,
  );
  const sentences = first.flatMap(({ source, passage }, rank) =>
    (lists[rank] ?? []).map(({ start, text, features }): QuotedSentence => {
      const quoted = shortened(text);
      return {
        ...{ text: quoted, sourceIndex: source.index, passage },
        ...{ start: passage.start + start, end: passage.start + start + quoted.length },
        score: features.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), 0),
      };
    }),
  );
  return sentences.sort((one, other) => other.score - one.score);
}

/** Never cut between the two halves of a character. */
function shortened(text: string): string {
  return text.slice(0, sentenceLengthMax).replace(/[\ud800-\udbff]$/, '');
}

const images = /!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?/g;
const loadingTags =
  /<\/?(?:img|image|picture|iframe|script|video|audio|source|object|embed|link|svg|style|form|input|base|meta)\b[^>]*>?/gi;
const foreignMarkers = /\[(\s*A?\d{1,3}(?:\s*[,;]\s*A?\d{1,3})*\s*)\]/g;

/** A quote as answers show it: without images, and with numbers in brackets that cannot be taken for those of sources. */
function shownText(quote: string): string {
  return quote.replace(images, '$1').replace(loadingTags, '').replace(foreignMarkers, '($1)').trim();
}

/** The sentences as one text, each with the number of its source. */
function composed(sentences: readonly QuotedSentence[]): Pick<Answer, 'text' | 'citations'> {
  let text = '';
  const citations = sentences.map((sentence): DocumentCitation => {
    if (text !== '') text += ' ';
    const answer_start = text.length;
    text += shownText(sentence.text);
    const answer_end = text.length;
    text += ` [${sentence.sourceIndex}]`;
    return {
      ...{ kind: 'document', answer_start, answer_end, source_index: sentence.sourceIndex },
      ...{ document_id: sentence.passage.documentId, chunk_id: sentence.passage.chunkId },
      ...{ quote: sentence.text, quote_start: sentence.start, quote_end: sentence.end, support: 1 },
    };
  });
  return { text, citations };
}
