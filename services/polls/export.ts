import { csvRecord } from '#kit/csv.ts';
import type { Database } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import { toCounts } from './poll.ts';
import { choicesOf, endOfTime, findQuestion, streamVotes, type Tables } from './store.ts';

/** The results of a question as CSV, a line for each choice. Throws `not_found`. */
export async function* exportResults(database: Database<Tables>, id: number): AsyncGenerator<string> {
  const question = await findQuestion(database, id, endOfTime);
  if (!question) throw notFound('question', id);
  const choices = await choicesOf(database, id);
  const counts = toCounts(choices).choices;
  yield csvRecord(['question', 'question_text', 'choice', 'choice_text', 'is_correct', 'votes', 'percent']);
  for (const [index, { id: choice, choice_text, is_correct, votes }] of choices.entries()) {
    const cells = [id, question.question_text, choice, choice_text, is_correct === 1, votes];
    yield csvRecord([...cells, counts[index]?.percent.toFixed(1)].map(String));
  }
}

/** Every vote on a question as CSV, oldest first. Throws `not_found`. */
export async function* exportVotes(database: Database<Tables>, id: number): AsyncGenerator<string> {
  if (!(await findQuestion(database, id, endOfTime))) throw notFound('question', id);
  yield csvRecord(['vote', 'voted_at', 'choice', 'choice_text']);
  for await (const rows of streamVotes(database, id))
    for (const { id: vote, created_at_ms, choice, choice_text } of rows)
      yield csvRecord([vote, new Date(created_at_ms).toISOString(), choice, choice_text].map(String));
}
