import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { isCommonWord } from '../../questions/question.ts';
import type { Unit } from '../structure.ts';
import { isQuantity, isTime, namesPlace, questionType } from './question-type.ts';

/** Kind of answer that a question asks for, as far as its words tell; an answer has to have something of it. */
export interface AskedKind {
  readonly isTime: boolean;
  /** Something has happened, so a condition is no answer. */
  readonly isPast: boolean;
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
  /\bhow much\b.*\b(?:costs?|charged?|earn|pay|paid|spend)\b|\bwhat (?:does|do|did)\b.*\b(?:cost|charge)\b|\b(?:what|which) (?:is|are|was|were) the (?:\p{L}+ )?(?:price|cost|fee|salary|wage|rent)s? (?:of|for|to)\b/iu;
const countedPattern =
  /\bhow many (?<counted>(?:[\p{L}-]+ ){1,4}?)(?:of|in|on|at|per|for|to|from|by|with|are|is|were|was|do|does|did|can|could|may|must|should|will|would|have|has|had)\b/iu;

/** Words behind "who" that ask for those who made something. */
const authorship =
  '(?:is|are|was|were) (?:the )?(?:(?:original|first|main) )?(?:authors?|creators?|writers?|inventors?|developers?|programmers?|designers?)\\b';
/** Asks who did something. */
const whoDid = new RegExp(
  `^\\W*(?:and )?who (?:(?:first |originally )?(?:\\p{L}+ed|wrote|made|built|led|won|began|drew|found|sang|sold|bought|written|begun)\\b|${authorship})`,
  'iu',
);

const numberOfPattern =
  /^\W*(?:and )?what (?:is|was|are|were) the (?:\p{L}+ )*number of (?<counted>(?:[\p{L}-]+ ){1,3}?)(?:of|in|on|at|per|for|to|from|by|with|that|which|is)\b/iu;

/** The kind of answer that a question asks for; with names, "who" asks for a person. */
export function askedKindOf(text: string, hasNames: boolean): AskedKind {
  const whole = `${text.replace(/[?.!\s]+$/, '')} is`;
  const counted = countedPattern.exec(whole)?.groups?.counted ?? numberOfPattern.exec(whole)?.groups?.counted;
  return {
    isTime: questionType(text).time,
    isPast: /^\W*(?:and )?when (?:was|were|did)\b/i.test(text),
    isQuantity: quantityPattern.test(text),
    isNumber: numberPattern.test(text),
    isDate: /\b(?:what|which) (?:year|date|century|decade)\b/i.test(text),
    isMoney: moneyPattern.test(text),
    isPerson: (hasNames ? /^\W*(?:and )?who(?:se|m)?\b/i : whoDid).test(text),
    isPlace: /^\W*(?:and )?where (?:was|were|did)\b.*\b(?:born|die|buried|killed)\b/i.test(text),
    asked: new Set(stemsOf(text)),
    counted: counted && stemsOf(headOf(counted))[0],
  };
}

/** The first word in the plural, as a verb may follow it: `people` in "How many people play chess?" */
function headOf(counted: string): string {
  const words = counted.trim().split(/\s+/);
  return (
    words.find((word) => /(?:[^s]s|people|men|women|children|feet|data)$/i.test(word)) ?? words.at(-1) ?? ''
  );
}

/** Returns true if a question asks for a time, an amount, a person or a place. */
export function asksForKind(kind: AskedKind): boolean {
  return kind.isTime || kind.isQuantity || kind.isNumber || kind.isPerson || kind.isPlace;
}

/** Returns true if a text has something of the kind that is asked for. Names at its start count unless it is a sentence. */
export function hasKind(kind: AskedKind, given: string, unit: Unit['kind']): boolean {
  const text = withoutReferences(given);
  if (kind.isMoney) return moneyWords.test(text);
  if (!asksForKind(kind)) return true;
  const telling = kind.isQuantity ? text.replace(noAmounts, ' ') : text;
  const fresh = termsOf(telling).filter(({ stem }) => !kind.asked.has(stem));
  if (kind.isPast) return fresh.some(isTime) || pastTimes.test(text);
  if (kind.isTime)
    return fresh.some((term) => isTime(term) || isQuantity(term)) || (!kind.isDate && timeWords.test(text));
  if (kind.isNumber) return fresh.some(({ word }) => /\d/.test(word));
  if (kind.isQuantity)
    return (
      fresh.some((term) => isQuantity(term) || isTime(term)) ||
      (kind.counted === undefined ? measureWords.test(text) : countsInWords(kind.counted, text))
    );
  if (kind.isPlace) return namesPlace(text);
  return fresh.some((term) => isNameIn(text, term, unit !== 'sentence'));
}

/** Versions, paths and parts of a whole with an ending, as in "1/20th". */
const noAmounts = /(?<!\w)\d+(?:\.\d+){2,}|(?<![\w.:/])~?\/[\w./-]+|\b\d+\/\d+\p{L}+/gu;

function isNameIn(text: string, { word, start }: Term, isRow: boolean): boolean {
  return /\p{Lu}/u.test(text.charAt(start)) && !isCommonWord(word) && (start > 0 || isRow);
}

/** Returns true if an amount in words stands just before what is counted: "no limit", "a single file", "all ports". */
function countsInWords(counted: string, text: string): boolean {
  const terms = termsOf(text);
  return terms.some(
    ({ stem }, at) =>
      stem === counted && terms.slice(Math.max(0, at - 3), at).some(({ word }) => amountWords.test(word)),
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
  /\b(?:after|before|during|while|until|once|as soon as|upon|first|hourly|daily|weekly|monthly|yearly|ago|today|tomorrow|yesterday|noon|midnight|morning|evening|spring|summer|autumn|fall|winter|beginning|(?:start|end) of|boot|reboot|startup|shutdown|always|never|\w+days?|hours?|minutes?|weeks?|months?|years?)\b/i;
/** Times ago, and days that are written as numbers. */
const pastTimes =
  /\b(?:in|since|until|by|from|about|around|year|ad|before|after) (?:the )?\d{3,4}s?\b|\b(?:1\d|20)\d0s\b|\b(?:century|centuries|decade|ago|yesterday|today)\b|\b\d+ (?:days?|weeks?|months?|years?) (?:ago|before|later|after)\b|\b\d{4}-\d\d-\d\d\b|\b\d\d?[./]\d\d?[./]\d{2,4}\b/i;
/** Amounts in words that stand by themselves. */
const measureWords =
  /\b(?:unlimited|no limit|forever|indefinitely|infinite|once|twice|always|never|whenever|constantly|daily|hourly|weekly|monthly|yearly|(?:each|every) time|(?:one|an?|each|every) (?:\w+ )?(?:second|minute|hour|day|week|month|year|decade|century|byte|bit|character|page|line)s?)\b/i;
const amountWords =
  /\b(?:unlimited|no|all|none|once|twice|every|always|never|one|single|zero|several|daily|hourly|weekly|monthly|yearly|constantly)\b/i;
const moneyWords =
  /[$€£¥] ?\d|\d ?[€£¥$]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?|cents?|free of charge|for free|gratis)\b|\b(?:price|cost|fee|charge|salary|wage|amount)s?\b\W+(?:is |of |are )?\d/i;
