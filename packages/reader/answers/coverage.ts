import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { likenessTo, rarityInEnglish } from '../meaning/word-vectors.ts';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isMonthOf } from './question/dates.ts';

/** Texts that can have a word of a question, nearest first: the quote with what stands above it, and its passage. */
export interface CoveredText {
  readonly quote: string;
  readonly context: ReadonlySet<string>;
  readonly passage: Passage;
  readonly passageStems: ReadonlySet<string>;
}

/** Part of a word that counts as covered where the quote lacks it: its document is about it, or it stands near the quote. */
const coveredShares = { document: 0.8, passage: 0.5 };
/** Share of a document's passages that must have a word for the document to be about it. */
const aboutShareMin = 0.25;
/** Rarity of a word that one passage of some thousands has. */
const rarityMax = 8;
/** Weight of words that are often said in other ways. */
export const loosely = 0.4;

/** Share of a question's words, by their rarity, that neither what is quoted for it has nor what that is about. */
export function uncoveredBy(text: CoveredText, evidence: Evidence): number {
  const loose = looseWords(evidence.question.text);
  let [missing, total] = [0, 0];
  for (const { stem, lack } of lacksOf(text, evidence)) {
    const rarity = rarityOf(stem, evidence);
    total += rarity;
    missing += rarity * lack * (loose.has(stem) ? loosely : 1);
  }
  return missing / (total || 1);
}

/** The rarity of a word in the documents, which say little if they are few, and in English. */
function rarityOf(stem: string, evidence: Evidence): number {
  const inEnglish = rarityInEnglish(evidence.wordOf(stem) ?? stem) * rarityMax;
  return (evidence.rarityOf(stem) + inEnglish) / 2;
}

/** The words of a question, each with how much it lacks, from 0 to 1. */
function lacksOf(text: CoveredText, evidence: Evidence): { stem: string; lack: number }[] {
  const quote = termsOf(text.quote);
  const stems = new Set(quote.map(({ stem }) => stem));
  const words = quote.map(({ word }) => word);
  return evidence.question.terms.map((term) => {
    return { stem: term.stem, lack: 1 - coverOf(term, { ...text, stems, words }, evidence) };
  });
}

interface Compared extends CoveredText {
  readonly stems: ReadonlySet<string>;
  readonly words: readonly string[];
}

function coverOf(term: Term, text: Compared, evidence: Evidence): number {
  const { stem, word, start } = term;
  const isName = start > 0 && /^[\p{Lu}\p{N}]/u.test(evidence.question.text.slice(start));
  if (text.stems.has(stem) || text.context.has(stem) || isMonthOf(stem, text.quote)) return 1;
  const isAbout = evidence.shareIn(text.passage.document, stem) >= aboutShareMin;
  const around = isAbout ? coveredShares.document : text.passageStems.has(stem) ? coveredShares.passage : 0;
  // Names that are alike are names of different things.
  if (isName) return around;
  return Math.max(around, likenessTo(word, text.words));
}

/** Measures that `how` asks for, and what it is an instance of: the answer has a value of them, and seldom the word. */
const asked =
  /\bhow (?!many\b|much\b|do\b|does\b|did\b|can\b|could\b|to\b|is\b|are\b|should\b)(\p{L}+)|^\W*(?:and |(?:in|on|at|to|by|for|with|from|after|before|below|above) )?(?:which|what) (?!is\b|are\b|was\b|were\b|does\b|do\b|did\b)((?:\p{L}+ )*?\p{L}+) (?:do|does|did|is|are|was|were|can|could|may|must|should|will|has|have|had|\p{L}+s)\b/giu;
/** Verbs that say little. */
const plainVerbs = new Set(
  stemsOf(
    'happen take keep hold enter check apply wait work run need want come go put make turn start stop set allow let mark accord accept contain include belong exist stand support call change help handle deal stay remain appear occur look find try become write say read choose create add provide offer perform',
  ),
);

/** Stems of words of a question that its answer says in other ways, or not at all. */
export function looseWords(question: string): Set<string> {
  const loose = new Set(plainVerbs);
  for (const [, measure = '', instance = ''] of question.matchAll(asked))
    for (const stem of stemsOf(`${measure} ${instance}`)) loose.add(stem);
  return loose;
}
