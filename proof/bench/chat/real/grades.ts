import { readFileSync } from 'node:fs';

/** Question, with regular expressions of what the reply must say and must not say. */
export interface Ask {
  readonly ask: string;
  readonly says?: readonly string[];
  readonly not?: readonly string[];
}

/** A line of a file of questions. */
export interface RealQuestion extends Partial<Ask> {
  /** `near` ones are about the topic of a document, which does not have the answer. */
  readonly kind: 'answerable' | 'near' | 'everyday' | 'conversation';
  /** Turns of a conversation; all but the first are follow-ups. */
  readonly turns?: readonly Ask[];
}

/** The fields of a reply that count. */
export interface Reply {
  readonly answer: string;
  readonly kind: 'quote' | 'closest' | 'none' | 'reply' | 'generated';
  readonly abstained: boolean;
  readonly sources: readonly { readonly best: { readonly text: string } | null }[];
  readonly grounded: boolean;
  readonly metadata: { readonly confidence: number; readonly mode: 'extractive' | 'llm' };
}

export type Grade = 'right' | 'long' | 'wrong' | 'refused';

/** An answer that is longer is a dump, even if the right words are in it. */
const answerLengthMax = 1_200;

/** Sets whose questions may be looked at while the answers are improved. Each is about documents of its own. */
export const tuningSets = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
] as const;

/** The last one is looked at only when the work is done. */
export type RealSet = (typeof tuningSets)[number] | 'held-back';

export function questionsOf(set: RealSet): RealQuestion[] {
  const lines = readFileSync(new URL(`${set}/questions.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as RealQuestion);
}

export function gradeOf(
  expected: Omit<Ask, 'ask'>,
  { answer, abstained }: Pick<Reply, 'answer' | 'abstained'>,
): Grade {
  if (abstained) return 'refused';
  if (!isSaid(expected, answer)) return 'wrong';
  return answer.length > answerLengthMax ? 'long' : 'right';
}

/** Returns true if one of the three passages that people see has the right place marked. */
export function isMarked(expected: Omit<Ask, 'ask'>, { sources }: Pick<Reply, 'sources'>): boolean {
  return sources.slice(0, 3).some(({ best }) => isSaid({ says: expected.says ?? [] }, best?.text ?? ''));
}

/** Words that are divided at the end of a line count as whole, and line ends as spaces. */
function isSaid({ says = [], not = [] }: Omit<Ask, 'ask'>, answer: string): boolean {
  const text = answer.replace(/(\p{Ll})[-‐]\s*\n\s*(?=\p{Ll})/gu, '$1').replace(/\s+/g, ' ');
  const has = (pattern: string) => new RegExp(pattern, 'i').test(text);
  return says.every(has) && !not.some(has);
}
