import { AppError, type Entity, labelled, partsOf, Type } from '@octavo/core';

/** Longest text of a question or a choice, in code points. */
export const textMax = 200;
export const pageSize = 20;
/** Most choices that one vote may name, whatever the question allows. */
export const choicesMax = 20;

/** Times at which the results show, in words. */
export const resultsWords = {
  always: 'Always',
  after_vote: 'After you vote',
  after_close: 'When the poll closes',
} as const;

/** Labels of the limits on repeated votes. */
export const duplicatesWords = {
  none: 'As often as you like',
  session: 'Once per browser',
  address: 'Once per address',
} as const;

/** The people who find a question, in words. */
export const visibilityWords = {
  listed: 'On the list of polls',
  link: 'Only with the link',
  hidden: 'Hidden',
} as const;

/** The fields of a question: the API and the admin take them from here. */
export const questionFields = {
  question_text: Type.String({
    label: 'Question',
    maxLength: textMax,
    examples: ['Which season do you like best?'],
  }),
  pub_date: Type.String({
    label: 'Published',
    format: 'date-time',
    description: 'Only staff see the question before this time.',
  }),
  closes_at: Type.Optional(
    Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      label: 'Closes',
      description:
        'The poll accepts no votes after this time. If it is empty, the poll stays open, and results that show when it closes stay hidden.',
    }),
  ),
  results: Type.Optional(
    labelled(resultsWords, {
      label: 'Show the results',
      description: 'When visitors see the results.',
    }),
  ),
  duplicates: Type.Optional(
    labelled(duplicatesWords, { label: 'Votes allowed', description: 'Limit on repeated votes.' }),
  ),
  max_choices: Type.Optional(
    Type.Integer({
      label: 'Answers per vote',
      description:
        'How many choices a voter may pick, 1 to 20. With several, percentages are shares of the people who voted.',
      minimum: 1,
      maximum: choicesMax,
      default: 1,
    }),
  ),
  visibility: Type.Optional(
    labelled(visibilityWords, {
      label: 'Show the poll',
      description:
        'Who finds the poll. With the link only, it is on no list and hidden from search engines. Its address ends in a number that can be guessed, so put no secret in it.',
    }),
  ),
};

/** The label of a field of a question, on all pages. */
export function labelOf(field: keyof typeof questionFields): string {
  return partsOf(field, questionFields[field]).label;
}

/** Times are texts of `packages/core/text/date-time.ts`, which are in the order of time. */
export interface Question extends Entity<typeof questionFields> {
  /** Votes on choices beyond the first of each ballot. It is smaller by the votes of choices that were deleted. */
  readonly extra_votes: number;
  /** The account that made it; null for those of strangers and of accounts that were deleted. */
  readonly owner: number | null;
}

/** The fields of a choice, besides its question. */
export const choiceFields = {
  choice_text: Type.String({ label: 'Choice', maxLength: textMax, examples: ['Autumn'] }),
  is_correct: Type.Optional(
    Type.Boolean({
      label: 'Correct',
      description: 'At most one choice of a question is correct.',
      default: false,
    }),
  ),
};

export interface Choice extends Entity<typeof choiceFields> {
  readonly question: number;
  readonly votes: number;
}

/** A question with its choices in order of id. */
export interface Poll {
  readonly question: Question;
  readonly choices: readonly Choice[];
}

/**
 * The results in numbers. `total` counts ballots: people who voted, who may have picked several choices. Percentages are shares of it; where
 * each ballot has one choice they add up to 100.0.
 */
export interface Counts {
  readonly total: number;
  readonly choices: readonly { readonly choice: number; readonly votes: number; readonly percent: number }[];
}

type Ballots = Pick<Question, 'max_choices' | 'extra_votes'>;

/** True if a vote may name several choices. */
export function takesSeveral({ max_choices }: Pick<Question, 'max_choices'>): boolean {
  return max_choices > 1;
}

export function toCounts(question: Ballots, choices: readonly Pick<Choice, 'id' | 'votes'>[]): Counts {
  const votes = choices.map((choice) => choice.votes);
  const sum = votes.reduce((all, each) => all + each, 0);
  const total = takesSeveral(question) ? sum - question.extra_votes : sum;
  const percents = takesSeveral(question) ? votes.map((each) => share(each, total)) : percentages(votes);
  return {
    total,
    choices: choices.map(({ id, votes }, index) => ({ choice: id, votes, percent: percents[index] ?? 0 })),
  };
}

/** The share in percent, rounded to one decimal. */
function share(part: number, total: number): number {
  return total === 0 ? 0 : Math.round((part * 1_000) / total) / 10;
}

/**
 * Percentages with one decimal that add up to 100.0, by largest remainder; zeros if all counts are 0.
 * @param counts whole numbers; of equal remainders, the first gets the rest
 */
function percentages(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, each) => sum + each, 0);
  if (total === 0) return counts.map(() => 0);
  const tenths = counts.map((each) => Math.floor((each * 1_000) / total));
  const remainders = counts.map((each) => (each * 1_000) % total);
  const rest = 1_000 - tenths.reduce((sum, each) => sum + each, 0);
  const byRemainder = remainders
    .map((remainder, index) => ({ remainder, index }))
    .sort((one, other) => other.remainder - one.remainder);
  for (const { index } of byRemainder.slice(0, rest)) tenths[index] = (tenths[index] ?? 0) + 1;
  return tenths.map((each) => each / 10);
}

/** A question as one visitor sees it at one time. */
export interface PollState {
  readonly isClosed: boolean;
  readonly showsResults: boolean;
  /** True if the visitor may know the correct choice. */
  readonly showsCorrect: boolean;
}

/** Returns the problem with the times of a question, for the field `closes_at`. */
export function closeProblem({ pub_date, closes_at }: Pick<Question, 'pub_date' | 'closes_at'>) {
  const isEarly = closes_at !== null && closes_at < pub_date;
  return isEarly ? 'The poll must not close before it is published.' : undefined;
}

/** Returns the problem with a change of a choice, for the field `question`: its ballots were counted for the question that it is of. */
export function moveProblem(before: Pick<Choice, 'question' | 'votes'>, question: number | undefined) {
  const isMoved = question !== undefined && question !== before.question;
  return isMoved && before.votes > 0 ? 'This choice has votes and cannot be moved.' : undefined;
}

export function isClosedAt({ closes_at }: Question, now: string): boolean {
  return closes_at !== null && closes_at <= now;
}

export function stateFor(
  question: Question,
  { hasVoted, now }: { hasVoted: boolean; now: string },
): PollState {
  const isClosed = isClosedAt(question, now);
  const mayPeek = hasVoted && question.results !== 'after_close';
  return {
    isClosed,
    showsResults: isClosed || mayPeek || question.results === 'always',
    showsCorrect: isClosed || mayPeek,
  };
}

/** Returns true if the correct choice was picked, and no other; null if the question has none. */
export function isRight(choices: readonly Choice[], picked: readonly number[]): boolean | null {
  const correct = choices.find((choice) => choice.is_correct === 1);
  return correct ? picked.length === 1 && picked[0] === correct.id : null;
}

export const pollClosed = () => new AppError('forbidden', 'This poll is closed.', { reason: 'POLL_CLOSED' });
export const alreadyVoted = () =>
  new AppError('forbidden', 'You have already voted.', { reason: 'ALREADY_VOTED' });
