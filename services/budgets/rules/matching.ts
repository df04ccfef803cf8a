import { withoutAccents } from '@octavo/core/text';

/** The part of a rule that an import applies. */
export interface Categorization {
  readonly contains: string;
  readonly category: string;
  readonly tags: readonly string[];
}

interface Categorized {
  readonly description: string;
  readonly category: string | null;
  readonly tags: readonly string[];
}

const tagsMax = 20;
const payeeWordsMax = 3;

/** Returns a function that finds the first rule that fits a description. */
export function ruleFinder<R extends Pick<Categorization, 'contains'>>(
  rules: readonly R[],
): (description: string) => R | undefined {
  const prepared = rules
    .map((rule) => ({ rule, part: comparable(rule.contains) }))
    .filter(({ part }) => part !== '');
  return (description) => {
    if (prepared.length === 0) return undefined;
    const text = comparable(description);
    return prepared.find(({ part }) => text.includes(part))?.rule;
  };
}

/** Returns a function that gives an expense without a category that of the first rule that fits, and its tags. */
export function categorizer(rules: readonly Categorization[]): <E extends Categorized>(expense: E) => E {
  const find = ruleFinder(rules);
  return (expense) => {
    const rule = expense.category === null ? find(expense.description) : undefined;
    if (!rule) return expense;
    return { ...expense, category: rule.category, tags: withTags(expense.tags, rule.tags) };
  };
}

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
