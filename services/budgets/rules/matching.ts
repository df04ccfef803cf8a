import { withoutAccents } from '@octavo/core/text';

const tagsMax = 20;
const payeeWordsMax = 3;

/** Tags of an expense with those of a rule behind them, as many as an expense can have. */
export function withTags(tags: readonly string[], more: readonly string[]): string[] {
  return [...new Set([...tags, ...more])].slice(0, tagsMax);
}

/** The words at the start of a bank's description that name who was paid: `LIDL` of `LIDL 4711 BERLIN`. */
export function payeeOf(description: string): string {
  const words = description.trim().split(/\s+/);
  const end = words.findIndex((word, index) => index >= payeeWordsMax || /[\d*#/]/.test(word));
  const payee = (end <= 0 ? words : words.slice(0, end)).join(' ');
  return payee.slice(0, 200).toWellFormed();
}

/** Text as it is compared; empty if nothing of it counts, such as an accent alone. */
export function comparable(text: string): string {
  return withoutAccents(text).replace(/\s+/g, ' ').trim();
}
