import { termsOf } from '@octavo/data/terms';
import type { Found } from '../passages/found.ts';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isCommonWord } from '../questions/question.ts';
import { loosely, looseWords } from './coverage.ts';
import { quoteFor } from './quote.ts';
import { type Misses, missesOf, requirementsOf } from './requirements.ts';
import { type CandidateSentence, sentenceCandidates } from './sentence-features.ts';
import model from './sentence-model.json' with { type: 'json' };

const passagesMax = 10;
/** A row, or a sentence that is longer than a paragraph, is quoted only up to here. */
const quoteLengthMax = 900;

/** A sentence of a document that may answer a question. */
export interface QuotedSentence {
  readonly text: string;
  /** In the text of the document. */
  readonly start: number;
  readonly end: number;
  /** The `index` of its source. */
  readonly sourceIndex: number;
  readonly passage: Passage;
  readonly unit: CandidateSentence;
  /** Likelihood of answering; meaningful only beside those of other sentences. */
  readonly score: number;
}

/** A sentence with what it misses of the requirements. */
export interface Place extends QuotedSentence {
  readonly misses: Misses;
}

/**
 * Weights of what the sets to learn from cannot tell, as they have no structure: the share of the question's words in a sentence or in what
 * tells what it is about, the term of its entry, and requirements that are missed.
 */
const weights = { context: 4, term: 8, names: 4, exact: 6, kind: 6 };

/** The sentences of the first passages, those first that answer best with their headings, terms and lists. */
export function bestPlaces(found: Found): Place[] {
  const { evidence } = found;
  const required = requirementsOf(evidence);
  const shareIn = looseShareOf(evidence);
  const scored = bestSentences(found).map((sentence): Place => {
    const { unit, passage } = sentence;
    const { start, end } = quoteFor(unit, passage.text);
    const misses = missesOf(required, unit, {
      quote: passage.text.slice(start, end),
      above: passage.section,
    });
    const term = Math.max(0, ...formsOfTerm(unit.term).map((form) => agreement(form, evidence)));
    const score =
      sentence.score +
      weights.context * shareIn(unit.context) +
      weights.term * term -
      weights.names * misses.names -
      weights.exact * misses.exact -
      weights.kind * misses.kind;
    return { ...sentence, score, misses };
  });
  return scored.sort((one, other) => other.score - one.score);
}

/** Returns the share of a question's words that a text has; those count little that its answer says in other ways. */
function looseShareOf(evidence: Evidence): (stems: ReadonlySet<string>) => number {
  const loose = looseWords(evidence.question.text);
  const weightOf = (stem: string) => (loose.has(stem) ? loosely : 1);
  const total = evidence.weighted(weightOf) || 1;
  return (stems) => evidence.weighted((stem) => (stems.has(stem) ? weightOf(stem) : 0)) / total;
}

/** A term as it is written, and with the words that it is made of: `NumberOfPasswordPrompts`. */
function formsOfTerm(term: string): string[] {
  const plain = term.replace(/[([{<].*$/, '').split(/[,;|=]|\s{2,}/, 1)[0] ?? '';
  return [plain, plain.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')];
}

/** Share of the telling words of a text that are asked for, times the share of the question that they are; 0 to 1. */
function agreement(text: string, evidence: Evidence): number {
  const own = new Set(termsOf(text).flatMap(({ word, stem }) => (isCommonWord(word) ? [] : [stem])));
  if (own.size === 0) return 0;
  const asked = [...own].filter((stem) => evidence.wordOf(stem) !== undefined).length;
  return (asked / own.size) * Math.sqrt(evidence.share((stem) => own.has(stem)));
}

/** The sentences of the first passages, most likely answer first. */
export function bestSentences(
  { ranked, evidence }: { readonly ranked: Found['ranked']; readonly evidence: Evidence },
  learned: readonly number[] = model.weights,
): QuotedSentence[] {
  const first = ranked.slice(0, passagesMax);
  const lists = sentenceCandidates(
    first.map(({ source, passage }) => ({ passage, score: source.rerank_score ?? source.score })),
    evidence,
  );
  const sentences = first.flatMap(({ source, passage }, rank) =>
    (lists[rank] ?? []).map((unit): QuotedSentence => {
      const text = shortened(unit.text);
      return {
        text,
        sourceIndex: source.index,
        passage,
        unit,
        start: passage.start + unit.start,
        end: passage.start + unit.start + text.length,
        score: unit.features.reduce((sum, value, index) => sum + value * (learned[index] ?? 0), 0),
      };
    }),
  );
  return sentences.sort((one, other) => other.score - one.score);
}

/** Never cut between the two halves of a character. */
export function shortened(text: string): string {
  return text.slice(0, quoteLengthMax).replace(/[\ud800-\udbff]$/, '');
}
