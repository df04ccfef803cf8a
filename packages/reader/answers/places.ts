import { termsOf } from '@octavo/data/terms';
import type { Found } from '../passages/found.ts';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isCommonWord } from '../questions/question.ts';
import { hasNamedField } from './columns.ts';
import { loosely, looseWords } from './coverage.ts';
import { tellsDoer } from './question/doers.ts';
import { counts, hasDoer, hasKind } from './question/kinds.ts';
import { quoteFor } from './quote.ts';
import {
  hasName,
  lastHeading,
  type Misses,
  missesOf,
  namesIn,
  type Requirements,
  requirementsOf,
  topicsOf,
} from './requirements.ts';
import { type CandidateSentence, sentenceCandidates } from './sentence-features.ts';
import model from './sentence-model.json' with { type: 'json' };
import { isQuestionAlone } from './structure.ts';

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

/** A sentence with what it misses of the requirements, and how it stands out. */
export interface Place extends QuotedSentence {
  readonly misses: Misses;
  readonly signs: Signs;
}

/** Signs of an answer beside the words that are shared, each from 0 to 1. */
interface Signs {
  /** The entry's term is what the question is about. */
  readonly term: number;
  /** The heading asks the same. */
  readonly heading: number;
  /** A number stands before what is counted. */
  readonly counted: number;
  /** The sentence by itself has something of the kind that is asked for. */
  readonly kind: number;
  /** It tells how to do something, and that is asked for. */
  readonly howTo: number;
  /** It says who did what is asked. */
  readonly doer: number;
}

/**
 * Weights of what the sets to learn from cannot tell, as they have no structure: the share of the question's words in a sentence or in what
 * tells what it is about, requirements that are missed, signs of an answer, a row that has all words, a question, and a table of contents.
 */
const weights = {
  context: 4,
  names: 4,
  exact: 6,
  kind: 6,
  property: 2,
  defines: 4,
  question: 8,
  row: 2,
  topic: 3,
  record: 1,
  named: 2,
  reference: 3,
};
const signWeights = { term: 8, heading: 4, counted: 4, kind: 1, howTo: 1.5, doer: 3 };

/** The sentences of the first passages, those first that answer best with their headings, terms and lists. */
export function bestPlaces(found: Found): Place[] {
  const { evidence } = found;
  const required = requirementsOf(evidence);
  const names = new Map(found.ranked.map(({ passage }) => [passage, namesIn(passage.text)]));
  const documents = documentNames(names);
  const topics = topicsOf([...names.keys()], evidence);
  const shareIn = looseShareOf(evidence);
  const scored = bestSentences(found).map((sentence): Place => {
    const { unit, passage } = sentence;
    const { start, end } = quoteFor(unit, passage.text, evidence.question.text);
    const misses = missesOf(required, unit, {
      quote: passage.text.slice(start, end),
      above: passage.section,
      passage: names.get(passage) ?? new Set(),
      document: documents.get(passage.document) ?? new Set(),
    });
    const signs = signsOf({ ...sentence, quote: passage.text.slice(start, end) }, required, evidence);
    const score =
      sentence.score +
      weights.context * shareIn(unit.context) +
      weights.defines * misses.defines +
      signWeights.term * signs.term +
      signWeights.heading * signs.heading +
      signWeights.counted * signs.counted +
      signWeights.kind * signs.kind +
      signWeights.howTo * signs.howTo +
      signWeights.doer * signs.doer +
      (unit.kind === 'row' && evidence.share((stem) => unit.stems.has(stem)) > 0.99 ? weights.row : 0) +
      (unit.kind === 'row' && hasNamedField(unit.text, required.names) ? weights.named : 0) -
      (unit.kind === 'row' && unit.text.includes('\n') ? weights.record : 0) -
      weights.names * misses.names -
      weights.exact * misses.exact -
      weights.kind * misses.kind -
      weights.property * misses.property -
      (topics.length > 0 && topics.every((stem) => !hasName(unit.context, stem)) ? weights.topic : 0) -
      (reference.test(unit.text) ? weights.reference : 0) -
      (isNoAnswer(unit, passage.text) ? weights.question : 0);
    return { ...sentence, score, misses, signs };
  });
  return scored.sort((one, other) => other.score - one.score);
}

/** A sentence that tells where the answer stands. */
const reference =
  /\b(?:see|refer to|consult|(?:described|explained|covered|discussed|documented) in)\b[^.]{0,40}\b(?:section|chapter|appendix|below|above|page \d+)\b/i;

/** Returns the share of a question's words that a text has; those count little that its answer says in other ways. */
function looseShareOf(evidence: Evidence): (stems: ReadonlySet<string>) => number {
  const loose = looseWords(evidence.question.text);
  const weightOf = (stem: string) => (loose.has(stem) ? loosely : 1);
  const total = evidence.weighted(weightOf) || 1;
  return (stems) => evidence.weighted((stem) => (stems.has(stem) ? weightOf(stem) : 0)) / total;
}

/** The names in all passages that were found of each document. */
function documentNames(names: ReadonlyMap<Passage, ReadonlySet<string>>): Map<number, Set<string>> {
  const documents = new Map<number, Set<string>>();
  for (const [{ document }, own] of names)
    documents.set(document, (documents.get(document) ?? new Set<string>()).union(own));
  return documents;
}

/** A line of a table of contents, as "- 1.4 Ferries", and the start of the next one. */
const sectionLine = /^[-*•]?\s*\d+(?:\.\d+)+\.?\s+\S.{0,100}$/;
const numberedNext = /^\s*[-*•]?\s*\d+(?:\.\d+)*\.?\s/;

/** Returns true for a question without an answer below it, and for a line of a table of contents. */
function isNoAnswer({ text, end, place }: CandidateSentence, passage: string): boolean {
  const isAsked = isQuestionAlone(passage.slice(place.start, place.end));
  if (isAsked || /\?$/.test(text))
    return !/^(?![-*•\d(])[^?]{120}/.test(passage.slice(isAsked ? place.end : end).trimStart());
  if (sectionLine.test(text) && numberedNext.test(passage.slice(end))) return true;
  return /^\s*\d+(?:\.\d+)*\.?\s*$/.test(text) || (text.match(/\?\s+\d+\./g)?.length ?? 0) > 1;
}

function signsOf(
  { unit, passage, quote }: QuotedSentence & { readonly quote: string },
  { kind }: Requirements,
  evidence: Evidence,
): Signs {
  const isFirst = unit.start < headedMax;
  return {
    term: Math.max(0, ...formsOfTerm(unit.term).map((form) => agreement(form, evidence))),
    heading: isFirst ? agreement(lastHeading(passage.section), evidence) ** 2 : 0,
    counted: counts(kind, unit.text) || (unit.term !== '' && counts(kind, quote)) ? 1 : 0,
    kind: hasKind(kind, unit.text, unit.kind) && hasDoer(kind, unit.text) ? 1 : 0,
    howTo: asksHowTo.test(evidence.question.text) && tellsHowTo(unit) ? 1 : 0,
    doer:
      kind.isDoer && tellsDoer(evidence.question.text, unit.text, `${unit.term} ${passage.section}`) ? 1 : 0,
  };
}

const asksHowTo = /^\W*(?:and )?how (?:do|can|could|should|would|to|must|may)\b/i;
/** Verbs in the imperative that give instructions, and the purpose that a recipe begins with. */
const recipe =
  /^(?:[-*•‣]|\d+[.)])?\s*(?:to \p{Ll}+|(?:if|when) you (?:want|need|wish|would like)|you (?:can|may|have to|must|should)|use|run|type|press|set|add|click|enter|choose|select|edit|open|execute|specify|put|install|create|call|start|change|see)\b/iu;

function tellsHowTo({ text, term }: CandidateSentence): boolean {
  return recipe.test(text) || /^-/.test(term);
}

/** Only what stands just below a heading is what it announces. */
const headedMax = 600;

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
