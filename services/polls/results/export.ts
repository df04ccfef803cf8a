import { notFound } from '@octavo/core';
import { csvRecord } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import { type Poll, takesSeveral, toCounts } from '../poll.ts';
import { everything, findPoll, findQuestion, streamVotes, type Tables } from '../store.ts';

/** The results of a question as CSV, a line for each choice. Throws `not_found`. */
export async function* exportResults(database: Database<Tables>, id: number): AsyncGenerator<string> {
  const poll = await findPoll(database, id);
  if (!poll) throw notFound('question', id);
  yield* resultLines(poll, { showsCorrect: true });
}

/**
 * The lines of the results as CSV. Without `showsCorrect` they do not tell which choice is correct. Where a vote may name several choices, a
 * last column has the number of people who voted, which the percentages refer to.
 */
export function* resultLines(
  { question, choices }: Poll,
  { showsCorrect }: { showsCorrect: boolean },
): Generator<string> {
  const { total, choices: counts } = toCounts(question, choices);
  const correctHead = showsCorrect ? ['is_correct'] : [];
  const [votersHead, voters] = takesSeveral(question) ? [['voters'], [total]] : [[], []];
  const head = ['question', 'question_text', 'choice', 'choice_text', ...correctHead, 'votes', 'percent'];
  yield csvRecord([...head, ...votersHead]);
  for (const [index, { id: choice, choice_text, is_correct, votes }] of choices.entries()) {
    const correct = showsCorrect ? [String(is_correct === 1)] : [];
    const percent = counts[index]?.percent.toFixed(1) ?? '';
    const line = [question.id, question.question_text, choice, choice_text, ...correct, votes, percent];
    yield csvRecord([...line, ...voters]);
  }
}

/** Every vote on a question as CSV, oldest first. Throws `not_found`. */
export async function* exportVotes(database: Database<Tables>, id: number): AsyncGenerator<string> {
  if (!(await findQuestion(database, id, everything))) throw notFound('question', id);
  yield csvRecord(['vote', 'voted_at', 'choice', 'choice_text']);
  for await (const rows of streamVotes(database, id))
    for (const { id: vote, created_at_ms, choice, choice_text } of rows)
      yield csvRecord([vote, new Date(created_at_ms).toISOString(), choice, choice_text]);
}
