import { stemsOf } from '@octavo/data/terms';

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
