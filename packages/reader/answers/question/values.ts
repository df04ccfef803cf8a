import { stemsOf } from '@octavo/data/terms';

/** A value that a question asks for by what it is: the most or the least of something, or what is taken where nothing is set. */
export interface AskedValue {
  readonly bound: 'most' | 'least' | undefined;
  readonly isDefault: boolean;
  /** It is an amount, perhaps in words. */
  readonly isAmount: boolean;
  /** It is a number, as a unit is asked for. */
  readonly isNumber: boolean;
}

const mostAsked =
  /\bhow (?:many|much|long|large|big|far|high|often)\b.*\b(?:at (?:the )?most|at once|at the same time|simultaneously|max(?:imum|imal(?:ly)?)?)\b|\b(?:what|which) (?:is|are|was|were) (?:the )?(?:\p{L}+ )?(?:max(?:imum|imal)?|upper limit|upper bound|limit (?:of|on|for))\b/iu;
const leastAsked =
  /\bhow (?:many|much|long|large|big|far|high|often)\b.*\b(?:at (?:the )?least|min(?:imum|imal(?:ly)?)?)\b|\b(?:what|which) (?:is|are|was|were) (?:the )?(?:\p{L}+ )?(?:min(?:imum|imal)?|lower limit|lower bound)\b/iu;
/** The largest of those that are allowed is a bound; the largest city is a city. */
const allowed =
  /\b(?:can|could|may|allow(?:s|ed)?|support(?:s|ed)?|possible|accept(?:s|ed)?|permit(?:s|ted)?)\b/i;
const largest = /\b(?:largest|biggest|longest|highest|greatest)\b/i;
const smallest = /\b(?:smallest|shortest|lowest|fewest)\b/i;
const unitAsked =
  /\bin (?:milli|micro|nano|kilo|mega|giga)?(?:seconds?|minutes?|hours?|days?|bytes?|pixels?|percent)\b/i;
const amountAsked =
  /\bhow (?:many|much|long|large|big|far|high|often)\b|\b(?:sizes?|time-?outs?|time|intervals?|number|ports?|limits?|counts?|lengths?|ages?|rates?|periods?|delays?|ttl|widths?|heights?|depths?|thresholds?|percentages?|speeds?|durations?|retries|tries|attempts) (?:of|for|in|on|by|that|which|does|do|is)\b/i;

/** Returns the value that a question asks for. */
export function askedValueOf(text: string): AskedValue {
  const isAllowed = allowed.test(text);
  const isMost = mostAsked.test(text) || (isAllowed && largest.test(text));
  const isLeast = leastAsked.test(text) || (isAllowed && smallest.test(text));
  const isNumber = unitAsked.test(text);
  return {
    isNumber,
    bound: isMost ? 'most' : isLeast ? 'least' : undefined,
    isDefault: /\bdefault/i.test(text),
    isAmount: isNumber || isMost || isLeast || amountAsked.test(`${text.replace(/[?.!\s]+$/, '')} is`),
  };
}

const mostStated =
  /(?<!\p{L})(?:max(?:imum|imal|imally|imise|imize)?|at (?:the )?most|up to|(?:no|not|never) (?:be )?(?:more|larger|longer|greater|higher|bigger) than|more than|or (?:less|fewer|smaller|shorter)|limit(?:s|ed|ation|ations|ing)?|exceed(?:s|ed|ing)?|upper|largest|longest|highest|biggest|greatest|only (?:one|a|\d+)|single|ceiling|cap(?:ped|s)?|as (?:many|much|large|long) as|unlimited|any number|infinite|arbitrar(?:y|ily)|between|range[sd]?|less than|fewer than)(?!\p{L})/iu;
const leastStated =
  /(?<!\p{L})(?:min(?:imum|imal|imally)?|at least|(?:no|not|never) (?:be )?(?:less|smaller|shorter|fewer|lower) than|or (?:more|larger|longer|greater|higher)|lower|smallest|shortest|lowest|fewest|between|range[sd]?|more than|greater than|require[sd]?|needs?)(?!\p{L})/iu;
const boundInWords =
  /\b(?:unlimited|no (?:upper |size )?limits?|infinite(?:ly)?|any number|arbitrar(?:y|ily)|only one|once|twice|hourly|daily|weekly|monthly|yearly)\b/i;
const defaultInWords =
  /\b(?:unlimited|no (?:upper |size )?limits?|never|none|forever|indefinitely|infinite(?:ly)?|disabled|zero|one|off|once|twice|always|hourly|daily|weekly|monthly|yearly|(?:each|every) (?:\w+ )?(?:time|second|minute|hour|day|week|month|year))\b(?!-)/i;

/** Returns true if a text states the value that is asked for. Headings above it may tell that it is a bound. */
export function statesValue(
  asked: AskedValue,
  text: string,
  above: string,
  asks: ReadonlySet<string>,
): boolean {
  const parts = text.split(/(?<=[.;!?])\s+|\n\s*\n/);
  const isAmount = (part: string, words: RegExp) =>
    hasAmount(part, asks) || (!asked.isNumber && words.test(part));
  if (asked.bound !== undefined) {
    const stated = asked.bound === 'most' ? mostStated : leastStated;
    const isAnnounced = stated.test(above);
    const isSaid = parts.some((part) => (isAnnounced || stated.test(part)) && isAmount(part, boundInWords));
    const isDefaultOfBound =
      stated.test(text) && parts.some((part) => /default/i.test(part) && isAmount(part, defaultInWords));
    if (!isSaid && !isDefaultOfBound) return false;
  }
  if (!asked.isDefault) return true;
  return parts.some((part) =>
    asked.isAmount
      ? /default/i.test(part) && isAmount(part, defaultInWords)
      : statesDefault(part, parts.length === 1),
  );
}

/** A default without what it is says nothing: "the default of the system will be used". */
function statesDefault(part: string, isWhole: boolean): boolean {
  const after = /\bdefaults?\b(.*)$/is.exec(part)?.[1];
  if (after === undefined) return isWhole && /default/i.test(part);
  return !/^\s+(?:will|would|can|may|is|are|was|were) (?:be )?(?:used|taken|applied|kept|chosen)\b/i.test(
    after,
  );
}

/** A number by itself, perhaps with a unit: no part of a version, an address, a date or a path. */
const number =
  /(?<![\w./:-])\d+(?:[.,]\d{3})*(?:\.\d+)?(?:[kmgtp]i?b?|ms|s|min|h|d|%|px|bits?|bytes?)?(?!\w|[./:-]\w)/gi;
const numberWord =
  /\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|million|billion|dozen|half|twice|(?:one|an?) (?:second|minute|hour|day|week|month|year|eighth|tenth|quarter|third))s?\b/i;

function hasAmount(text: string, asks: ReadonlySet<string>): boolean {
  const numbers = text.match(number) ?? [];
  return numbers.some((each) => !asks.has(each.replaceAll(',', '').toLowerCase())) || numberWord.test(text);
}

/** Number of the amounts of a text that count something else than what is asked for, as a share of all: "6 connections" for rules. */
export function shareOfOthers(counted: string, text: string): number {
  const amounts = [...text.matchAll(numberBeforeNoun)];
  const others = amounts.filter(
    ({ groups: { noun = '' } = {} }) => noun !== '' && !stemsOf(noun).includes(counted),
  );
  return amounts.length === 0 ? 0 : others.length / amounts.length;
}

/** A number with the noun in the plural that it counts, at most two words later. */
const numberBeforeNoun =
  /(?<![\w./:-])(?:\d+(?:[.,]\d{3})*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand)(?![\w./:-])(?: (?:or (?:more|less|fewer) )?(?:(?!of\b|and\b|in\b|to\b|is\b|or\b|for\b)\p{L}+ ){0,1}?(?<noun>\p{L}{2,}[^s\W]s)\b)?/giu;

const units =
  /^(?:milli|micro|nano|kilo|mega|giga|tera|centi)?(?:seconds|minutes|hours|days|weeks|months|years|decades|centuries|bits|bytes|characters|letters|words|lines|pages|columns|rows|pixels|points|inches|feet|yards|miles|met(?:er|re)s|grams|pounds|tons|tonnes|degrees|percents|knots|acres|hectares|times|versions|generations|blocks|sectors|digits)$/i;

/** Returns true if all amounts of a text are numbers of things, and none is a measure: "two parts". */
export function countsOnlyThings(text: string): boolean {
  const nouns = Array.from(text.matchAll(numberBeforeNoun), ({ groups }) => groups?.noun ?? '');
  return nouns.length > 0 && nouns.every((noun) => noun !== '' && !units.test(noun));
}
