import { asksAlone } from './follow-up.ts';
import { toQuestion } from './question.ts';

/** Values that are measured and that tables name. */
const howMuch =
  /^how (?:high|large|big|great|much|low) (is|was|are|were) (?=(?:(?:the|an?|our) )?(?:[\p{L}-]+ )?(?:tax(?:es)?|fees?|rates?|prices?|costs?|salary|salaries|wages?|incomes?|rents?|fines?|shares?|scores?|temperatures?|populations?|turnout|unemployment|deposits?|premiums?|budgets?|debts?|revenues?|profits?|turnovers?)\b)/iu;
/** With fewer telling words, a question is about what was said before it. */
const termsMin = 2;

/**
 * Shorter questions that ask the same, likeliest first: the last one of several sentences, or what stands behind a colon; without words in
 * brackets; and for a value by its name in place of its measure, since tables name their values.
 */
export function shorterQuestions(question: string): readonly string[] {
  const last = lastQuestion(question);
  const named = last.replace(/\s*\([^()]*\)/g, '').replace(howMuch, 'what $1 ');
  return [...new Set([last, named])].filter((each) => each !== question);
}

function lastQuestion(text: string): string {
  const parts = text.split(/(?<=[.!?:;])\s+|\s+[–—-]\s+|\n+/).map((part) => part.trim());
  const last = parts.findLast(
    (part) => (asksAlone.test(part) || part.endsWith('?')) && toQuestion(part).terms.length >= termsMin,
  );
  return last ?? text;
}
