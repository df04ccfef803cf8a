import { AppError } from '#kit/errors.ts';
import { percentages } from '#kit/percentages.ts';

/** Longest text of a question or a choice, in code points. */
export const textMax = 200;
export const pageSize = 20;

/** When the results show, and in words. */
export const resultsWords = {
  always: 'Always',
  after_vote: 'After you vote',
  after_close: 'When the poll closes',
} as const;
export type ResultsMode = keyof typeof resultsWords;
export const resultsModes = Object.keys(resultsWords) as ResultsMode[];

/** How often somebody may vote, by what may vote only once. */
export const duplicatesWords = {
  none: 'As often as they like',
  session: 'Once per browser',
  address: 'Once per address',
} as const;
export type DuplicatesMode = keyof typeof duplicatesWords;
export const duplicatesModes = Object.keys(duplicatesWords) as DuplicatesMode[];

/** Times are texts of `kit/drf/date-time.ts`, which are in the order of time. */
export interface Question {
  readonly id: number;
  readonly question_text: string;
  readonly pub_date: string;
  readonly closes_at: string | null;
  /** When its results show. */
  readonly results: ResultsMode;
  /** What may vote only once. */
  readonly duplicates: DuplicatesMode;
}

export interface Choice {
  readonly id: number;
  readonly question: number;
  readonly choice_text: string;
  /** 1 or 0. */
  readonly is_correct: number;
  readonly votes: number;
}

/** A question with its choices in order of id. */
export interface Poll {
  readonly question: Question;
  readonly choices: readonly Choice[];
}

/** The results in numbers: percentages add up to 100.0. */
export interface Counts {
  readonly total: number;
  readonly choices: readonly { readonly choice: number; readonly votes: number; readonly percent: number }[];
}

export function toCounts(choices: readonly Pick<Choice, 'id' | 'votes'>[]): Counts {
  const percents = percentages(choices.map(({ votes }) => votes));
  return {
    total: choices.reduce((sum, { votes }) => sum + votes, 0),
    choices: choices.map(({ id, votes }, index) => ({ choice: id, votes, percent: percents[index] ?? 0 })),
  };
}

/** A question as one visitor sees it at one time. */
export interface Standing {
  readonly isClosed: boolean;
  readonly showsResults: boolean;
  /** Whether the visitor may know which choice is correct. */
  readonly showsCorrect: boolean;
}

/** What is wrong with the times of a question, to be said at `closes_at`. */
export function closeProblem({ pub_date, closes_at }: Pick<Question, 'pub_date' | 'closes_at'>) {
  const isEarly = closes_at !== null && closes_at < pub_date;
  return isEarly ? 'The poll must not close before it is published.' : undefined;
}

export function isClosedAt({ closes_at }: Question, now: string): boolean {
  return closes_at !== null && closes_at <= now;
}

export function standingOf(
  question: Question,
  { hasVoted, now }: { hasVoted: boolean; now: string },
): Standing {
  const isClosed = isClosedAt(question, now);
  const mayPeek = hasVoted && question.results !== 'after_close';
  return {
    isClosed,
    showsResults: isClosed || mayPeek || question.results === 'always',
    showsCorrect: isClosed || mayPeek,
  };
}

/** Whether a choice was right; null if the question has no correct choice. */
export function isRight(choices: readonly Choice[], choiceId: number): boolean | null {
  const correct = choices.find((choice) => choice.is_correct === 1);
  return correct ? correct.id === choiceId : null;
}

export const pollClosed = () => new AppError('forbidden', 'This poll is closed.', { reason: 'POLL_CLOSED' });
export const alreadyVoted = () =>
  new AppError('forbidden', 'You have already voted.', { reason: 'ALREADY_VOTED' });
