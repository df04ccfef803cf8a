import { stemsOf, type Term, termsOf } from '#kit/search/terms.ts';
import { isCommonWord } from '../retrieval/index.ts';
import { isQuantity, isTime, namesPlace, questionType } from './question-type.ts';

/** Kind of answer that a question asks for, as far as its words tell; an answer has to have something of it. */
export interface AskedKind {
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
  /** Stem of what is counted: `card` in "How many cards are there?" */
  readonly counted: string | undefined;
}

const quantityPattern =
  /\bhow (?:many|much|long|old|far|often|high|large|big|tall|deep|fast|strong|heavy)\b/i;
const numberPattern =
  /\b(?:which|what)(?: is the| was the)? (?:\w+ )?(?:port|version|percentage|population)\b|\b(?:how old|(?:port|version|phone|telephone) number)\b/i;
const moneyPattern =
  /\bhow much\b.*\b(?:cost|costs|charge|earn|pay|paid|spend)\b|\bwhat (?:does|do|did)\b.*\bcost\b/i;
const countedPattern =
  /\bhow many (?<counted>(?:[\p{L}-]+ ){1,4}?)(?:of|in|on|at|per|for|to|from|by|with|are|is|were|was|do|does|did|can|could|may|must|should|will|would|have|has|had)\b/iu;

/** The kind of answer that a question asks for; with names, "who" asks for a person. */
export function askedKindOf(text: string, hasNames: boolean): AskedKind {
  const counted = countedPattern.exec(`${text.replace(/[?.!\s]+$/, '')} is`)?.groups?.counted;
  return {
    isTime: questionType(text).time,
    isQuantity: quantityPattern.test(text),
    isNumber: numberPattern.test(text),
    isDate: /\b(?:what|which) (?:year|date|century|decade)\b/i.test(text),
    isMoney: moneyPattern.test(text),
    isPerson: hasNames && /^\W*(?:and )?who(?:se|m)?\b/i.test(text),
    isPlace: /^\W*(?:and )?where (?:was|were|did)\b.*\b(?:born|die|buried|killed)\b/i.test(text),
    asked: new Set(stemsOf(text)),
    counted: counted && stemsOf(counted).at(-1),
  };
}

/** Returns true if a question asks for a time, an amount, a person or a place. */
export function asksForKind(kind: AskedKind): boolean {
  return kind.isTime || kind.isQuantity || kind.isNumber || kind.isPerson || kind.isPlace;
}

/** Returns true if a text has something of the kind that is asked for. Names at its start count if it is a row. */
export function hasKind(kind: AskedKind, given: string, isRow: boolean): boolean {
  const text = withoutReferences(given);
  if (kind.isMoney) return moneyWords.test(text);
  if (!asksForKind(kind)) return true;
  const fresh = termsOf(text).filter(({ stem }) => !kind.asked.has(stem));
  if (kind.isTime)
    return fresh.some((term) => isTime(term) || isQuantity(term)) || (!kind.isDate && timeWords.test(text));
  if (kind.isNumber) return fresh.some(({ word }) => /\d/.test(word));
  if (kind.isQuantity)
    return fresh.some((term) => isQuantity(term) || isTime(term)) || amountWords.test(text);
  if (kind.isPlace) return namesPlace(text);
  return fresh.some(
    ({ word, start }) => /\p{Lu}/u.test(text.charAt(start)) && !isCommonWord(word) && (start > 0 || isRow),
  );
}

/** Returns true if a text has a number that the question lacks just before what is counted: "101 cards", "three new ports". */
export function counts({ counted, asked }: AskedKind, given: string): boolean {
  if (counted === undefined) return false;
  const terms = termsOf(withoutReferences(given));
  const isAmount = (term: Term | undefined) =>
    term !== undefined && !asked.has(term.stem) && (isQuantity(term) || isTime(term) || term.word === 'one');
  return terms.some(
    ({ stem }, at) => stem === counted && [1, 2, 3].some((before) => isAmount(terms[at - before])),
  );
}

/** A text without numbers that count nothing: sections of manuals, as in "ssh(1)", numbers of chapters, and parts of words. */
function withoutReferences(text: string): string {
  return text
    .replace(/(?<=[\w-])\(\d\w?\)/g, ' ')
    .replace(/(?:^|(?<=\n))\s*\d+(?:\.\d+)*[.)](?=\s)/g, ' ')
    .replace(/\b(?:section|chapter|figure|table|see|page) \d+(?:\.\d+)*/gi, ' ')
    .replace(/\b(?:one|two|three|four|five|six|seven|eight|nine|ten)-(?=\p{Ll})/giu, '');
}

const timeWords =
  /\b(?:after|before|during|while|until|once|as soon as|upon|first|hourly|daily|weekly|monthly|yearly|ago|today|tomorrow|yesterday|noon|midnight|morning|evening|spring|summer|autumn|fall|winter|always|never|\w+days?|hours?|minutes?|weeks?|months?|years?)\b/i;
const amountWords =
  /\b(?:unlimited|no|all|none|once|twice|every|always|never|one|single|zero|several|daily|hourly|weekly|monthly|yearly|constantly)\b/i;
const moneyWords =
  /[$€£¥]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?|cents?|free of charge|for free|gratis)\b|\b(?:price|cost|fee|charge|salary|wage|amount)s?\b\W+(?:is |of |are )?\d/i;
