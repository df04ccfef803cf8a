import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { isCommonWord } from '../../questions/question.ts';
import type { Unit } from '../structure.ts';
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
  /** Things are counted, so a measure in words is no answer. */
  readonly isCount: boolean;
}

const quantityPattern =
  /\bhow (?:many|much|long|old|far|often|high|large|big|tall|deep|fast|strong|heavy)\b/i;
const numberPattern =
  /\b(?:which|what)(?: is the| was the)? (?:\w+ )?(?:port|version|percentage|population)\b|\b(?:how old|(?:port|version|phone|telephone) number)\b/i;
const moneyPattern =
  /\bhow much\b.*\b(?:costs?|charged?|earn|pay|paid|spend)\b|\bwhat (?:does|do|did)\b.*\b(?:cost|charge)\b|\b(?:what|which) (?:is|are|was|were) the (?:\p{L}+ )?(?:price|cost|fee|salary|wage|rent)s? (?:of|for|to)\b/iu;
const countPattern = /\bhow many\b|^\W*(?:and )?what (?:is|was|are|were) the (?:\p{L}+ )*number of\b/iu;

/** Words behind "who" that ask for those who made something. */
const authorship =
  '(?:is|are|was|were) (?:the )?(?:(?:original|first|main) )?(?:authors?|creators?|writers?|inventors?|developers?|programmers?|designers?)\\b';
/** Asks who did something. */
const whoDid = new RegExp(
  `^\\W*(?:and )?who (?:(?:first |originally )?(?:\\p{L}+ed|wrote|made|built|led|won|began|drew|found|sang|sold|bought|written|begun)\\b|${authorship})`,
  'iu',
);

/** The kind of answer that a question asks for; with names, "who" asks for a person. */
export function askedKindOf(text: string, hasNames: boolean): AskedKind {
  return {
    isTime: questionType(text).time,
    isQuantity: quantityPattern.test(text),
    isNumber: numberPattern.test(text),
    isDate: /\b(?:what|which) (?:year|date|century|decade)\b/i.test(text),
    isMoney: moneyPattern.test(text),
    isPerson: (hasNames ? /^\W*(?:and )?who(?:se|m)?\b/i : whoDid).test(text),
    isPlace: /^\W*(?:and )?where (?:was|were|did)\b.*\b(?:born|die|buried|killed)\b/i.test(text),
    asked: new Set(stemsOf(text)),
    isCount: countPattern.test(text),
  };
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
  if (kind.isTime)
    return fresh.some((term) => isTime(term) || isQuantity(term)) || (!kind.isDate && timeWords.test(text));
  if (kind.isNumber) return fresh.some(({ word }) => /\d/.test(word));
  if (kind.isQuantity)
    return (
      fresh.some((term) => isQuantity(term) || isTime(term)) || (!kind.isCount && measureWords.test(text))
    );
  if (kind.isPlace) return namesPlace(text);
  return fresh.some((term) => isNameIn(text, term, unit !== 'sentence'));
}

/** Versions, paths and parts of a whole with an ending, as in "1/20th". */
const noAmounts = /(?<!\w)\d+(?:\.\d+){2,}|(?<![\w.:/])~?\/[\w./-]+|\b\d+\/\d+\p{L}+/gu;

function isNameIn(text: string, { word, start }: Term, isRow: boolean): boolean {
  return /\p{Lu}/u.test(text.charAt(start)) && !isCommonWord(word) && (start > 0 || isRow);
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
/** Amounts in words that stand by themselves. */
const measureWords =
  /\b(?:unlimited|no limit|forever|indefinitely|infinite|once|twice|always|never|whenever|constantly|daily|hourly|weekly|monthly|yearly|(?:each|every) time|(?:one|an?|each|every) (?:\w+ )?(?:second|minute|hour|day|week|month|year|decade|century|byte|bit|character|page|line)s?)\b/i;
const moneyWords =
  /[$€£¥] ?\d|\d ?[€£¥$]|\b(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?|cents?|free of charge|for free|gratis)\b|\b(?:price|cost|fee|charge|salary|wage|amount)s?\b\W+(?:is |of |are )?\d/i;
