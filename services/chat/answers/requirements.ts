import { stemsOf, termsOf } from '#kit/search/terms.ts';
import { type Evidence, isCommonWord } from '../retrieval/index.ts';
import { isQuantity, isTime, questionType } from './question-type.ts';
import type { CandidateSentence } from './sentence-features.ts';

/** Demands of a question on its answer, beside being about the same. */
export interface Requirements {
  /** Stems of names, which must be in the sentence or its headings and context. */
  readonly names: readonly string[];
  /** Numbers and options, which must be in the sentence itself or be its term. */
  readonly exact: readonly string[];
  readonly isTime: boolean;
  readonly isQuantity: boolean;
  /** An amount in words is no answer. */
  readonly isNumber: boolean;
  readonly isDate: boolean;
  readonly isMoney: boolean;
  readonly isPerson: boolean;
  readonly isPlace: boolean;
  /** Stems of the question, which an answer has to add something to. */
  readonly asked: ReadonlySet<string>;
  /** Stems of the term to define. */
  readonly defined: readonly string[];
}

const numberAlone = /(?<![\p{L}\d])\d+(?:[.,]\d+)*(?!\p{L})/gu;
const optionPattern = /(?<![\w-])--?[A-Za-z][\w-]*/g;
const defining =
  /^\W*(?:what|who) (?:is|are|was|were|does|do)\s+(?:(?:the|a|an)\s+)?(.+?)(?:\s+(?:do|mean|stand for|about))?\s*[?.!]*$/i;
const quantityPattern =
  /\bhow (?:many|much|long|old|far|often|high|large|big|tall|deep|fast|strong|heavy)\b/i;
const numberPattern =
  /\b(?:which|what)(?: is the| was the)? (?:\w+ )?(?:port|version|percentage|population)\b|\b(?:how old|(?:port|version|phone|telephone) number)\b/i;
const moneyPattern =
  /\bhow much\b.*\b(?:cost|costs|charge|earn|pay|paid|spend)\b|\bwhat (?:does|do|did)\b.*\bcost\b/i;

export function requirementsOf({ question }: Evidence): Requirements {
  const { text, terms } = question;
  const written = terms.map((term) => ({ ...term, form: text.slice(term.start, term.end) }));
  const options = [...text.matchAll(optionPattern)].map(([option]) => option);
  const first = termsOf(text)[0];
  const isName = ({ form, start }: { form: string; start: number }) =>
    (/^\p{Lu}/u.test(form) && start !== first?.start) || /^\p{L}+\p{Lu}|\p{L}\d|\d\p{L}/u.test(form);
  const type = questionType(text);
  const about = defining.exec(text)?.[1] ?? '';
  const names = written
    .filter((term) => isName(term) && /^\p{L}{2}/u.test(term.word))
    .map(({ stem }) => stem);
  return {
    names,
    exact: [
      ...Array.from(text.matchAll(numberAlone), ([number]) => number.replaceAll(',', '')),
      ...options,
      ...(/\bdefault/i.test(text) ? ['default'] : []),
    ],
    isTime: type.time,
    isQuantity: quantityPattern.test(text),
    isNumber: numberPattern.test(text),
    isDate: /\b(?:what|which) (?:year|date|century|decade)\b/i.test(text),
    isMoney: moneyPattern.test(text),
    isPerson: names.length > 0 && /^\W*(?:and )?who(?:se|m)?\b/i.test(text),
    isPlace: /^\W*(?:and )?where (?:was|were|did)\b.*\b(?:born|die|buried|killed)\b/i.test(text),
    asked: new Set(stemsOf(text)),
    defined: stemsOf(about)
      .filter((stem) => terms.some((term) => term.stem === stem))
      .slice(0, 4),
  };
}

/** Shares of the requirements that a sentence misses, each from 0 to 1; and whether it begins like a definition. */
export interface Misses {
  readonly names: number;
  readonly exact: number;
  readonly kind: number;
  readonly defines: number;
}

export function missesOf(required: Requirements, unit: CandidateSentence, quote: string): Misses {
  const { names, exact, defined } = required;
  const hasExact = (each: string) =>
    each === 'default'
      ? /default/i.test(quote)
      : each.startsWith('-')
        ? containsOption(`${unit.term} ${quote}`, each)
        : containsNumber(`${unit.term} ${quote}`, each);
  return {
    names: shareOf(names, (stem) => !hasName(unit.context, stem)),
    exact: shareOf(exact, (each) => !hasExact(each)),
    kind: hasKind(required, unit, quote) ? 0 : 1,
    defines: defined.length > 0 && beginsWith(unit.text, defined) ? 1 : 0,
  };
}

const prefixMin = 5;

/** Names are also met by words that begin like them, such as German by Germany. */
export function hasName(stems: ReadonlySet<string>, name: string): boolean {
  if (stems.has(name)) return true;
  if (name.length < prefixMin) return false;
  const prefix = name.slice(0, Math.max(prefixMin, name.length - 2));
  for (const stem of stems) if (stem.startsWith(prefix)) return true;
  return false;
}

function hasKind(required: Requirements, unit: CandidateSentence, quote: string): boolean {
  const { isTime: asksTime, isQuantity: asksQuantity, isPerson, isPlace, asked } = required;
  if (required.isMoney) return moneyWords.test(quote);
  if (!asksTime && !asksQuantity && !isPerson && !isPlace && !required.isNumber) return true;
  const fresh = termsOf(quote).filter(({ stem }) => !asked.has(stem));
  if (asksTime)
    return (
      fresh.some((term) => isTime(term) || isQuantity(term)) || (!required.isDate && timeWords.test(quote))
    );
  if (required.isNumber) return fresh.some(({ word }) => /\d/.test(word));
  if (asksQuantity) return fresh.some((term) => isQuantity(term) || isTime(term)) || amountWords.test(quote);
  return fresh.some(
    ({ word, start }) =>
      /\p{Lu}/u.test(quote.charAt(start)) && !isCommonWord(word) && (start > 0 || unit.kind !== 'sentence'),
  );
}

const timeWords =
  /\b(?:after|before|during|while|until|once|as soon as|upon|first|hourly|daily|weekly|monthly|yearly|ago|today|tomorrow|yesterday|noon|midnight|morning|evening|spring|summer|autumn|fall|winter|always|never|\w+days?|hours?|minutes?|weeks?|months?|years?)\b/i;
const amountWords =
  /\b(?:unlimited|no|all|none|once|twice|every|always|never|one|single|zero|several|daily|hourly|weekly|monthly|yearly|constantly)\b/i;
const moneyWords =
  /[$€£¥]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?|cents?|free of charge|for free|gratis)\b|\b(?:price|cost|fee|charge|salary|wage|amount)s?\b\W+(?:is |of |are )?\d/i;

/** Returns true if a question asks for something of a kind, and a sentence by itself has it with all words of the question. */
export function isComplete(required: Requirements, unit: CandidateSentence, evidence: Evidence): boolean {
  const { isTime, isQuantity, isNumber, isPerson, isPlace } = required;
  if (!(isTime || isQuantity || isNumber || isPerson || isPlace)) return false;
  return evidence.share((stem) => unit.stems.has(stem)) > 0.99 && hasKind(required, unit, unit.text);
}

function beginsWith(text: string, stems: readonly string[]): boolean {
  const own = stemsOf(text.slice(0, 120)).slice(0, stems.length + 2);
  return stems.every((stem) => own.includes(stem));
}

function containsOption(text: string, option: string): boolean {
  return [...text.matchAll(optionPattern)].some(([each]) => each === option);
}

const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

/** A number as a word of its own; 01 is 1, and 3 is three. */
function containsNumber(text: string, number: string): boolean {
  const wanted = number.replace(/^0+(?=\d)/, '');
  const inWords = numberWords[Number(wanted)];
  if (inWords !== undefined && new RegExp(`\\b${inWords}\\b`, 'i').test(text)) return true;
  const found = text.matchAll(/\d+(?:[.,]\d+)*/g);
  return [...found].some(([each]) => each.replaceAll(',', '').replace(/^0+(?=\d)/, '') === wanted);
}

function shareOf<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.length === 0 ? 0 : items.filter(test).length / items.length;
}
