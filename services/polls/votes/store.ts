import { type Database, keyShare, type Session, type WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import {
  countVotes,
  insertAnswers,
  insertVoter,
  openChoice,
  openChoices,
  type Tables,
  type Vote,
} from '../store.ts';

type Store = Session<Tables>;

/** Inserts one row for each choice in one statement, or none. Returns false if the question does not take this ballot now. */
async function insertSeveral(
  { kysely, dialect }: Store,
  { choices, nowMs, ...vote }: Omit<Vote, 'voter'>,
): Promise<boolean> {
  const rows = openChoices(kysely, (name) => sql.val(vote[name]))
    .where('choice.id', 'in', choices)
    .where('max_choices', '>=', choices.length)
    .select((eb) => ['choice.id', eb.cast<number>(sql.val(nowMs), 'bigint').as('nowMs')])
    .orderBy('choice.id')
    .modifyEnd(keyShare(dialect, 'choice'));
  const insert = kysely.insertInto('vote').columns(['choice', 'created_at_ms']).expression(rows);
  const inserted = await insert.returning('id').execute();
  if (inserted.length === choices.length) return true;
  const ids = inserted.map(({ id }) => id);
  await kysely.deleteFrom('vote').where('id', 'in', ids).execute();
  return false;
}

/** Counts votes on several choices in one statement, which takes their rows in order of id. */
async function countSeveral({ kysely, dialect }: Store, counts: ReadonlyMap<number, number>): Promise<void> {
  const cases = [...counts].map(([choice, count]) => sql`when ${choice} then cast(${count} as bigint)`);
  const added = sql<number>`votes + case id ${sql.join(cases, sql` `)} end`;
  const rows = kysely
    .selectFrom('choice')
    .select('id')
    .where('id', 'in', [...counts.keys()])
    .orderBy('id');
  await kysely
    .updateTable('choice')
    .set({ votes: added })
    .where('id', 'in', dialect === 'postgres' ? rows.forNoKeyUpdate() : rows)
    .execute();
}

/** `refused`: the question takes no votes now, fewer than given, or has no such choice. `duplicate`: the voter has voted. */
export type VoteOutcome = 'counted' | 'refused' | 'duplicate';

/**
 * Counts votes, each in one transaction with its rows. The counters come last, because other transactions wait for them until the end
 * of this one, and in order of id, so that two do not wait for each other.
 */
export function castVotes(database: Database<Tables>, votes: readonly Vote[]): Promise<VoteOutcome[]> {
  return database.write(async (session) => {
    const outcomes = await insertSingles(session, votes);
    const counts = new Map<number, number>();
    const extras = new Map<number, number>();
    for (const [index, vote] of votes.entries()) {
      outcomes[index] ??= await insertBallot(session, vote);
      if (outcomes[index] !== 'counted') continue;
      for (const choice of vote.choices) add(counts, choice, 1);
      if (vote.choices.length > 1) add(extras, vote.question, vote.choices.length - 1);
    }
    if (extras.size > 0) await countSeveral(session, counts);
    else for (const [choice, count] of inOrder(counts)) await countVotes.run(session, { choice, count });
    for (const [question, extra] of inOrder(extras)) await countExtra(session, question, extra);
    return outcomes as VoteOutcome[];
  });
}

/** Inserts the votes that may be repeated and name one choice, by one statement for each question. Returns their outcomes by position. */
async function insertSingles(store: Store, votes: readonly Vote[]): Promise<(VoteOutcome | undefined)[]> {
  const outcomes = new Array<VoteOutcome | undefined>(votes.length);
  const singles = [...votes.entries()].filter(
    ([, { voter, choices }]) => voter === undefined && choices.length === 1,
  );
  for (const [question, some] of Map.groupBy(singles, ([, vote]) => vote.question)) {
    const taken = await insertTaken(
      store,
      question,
      some.map(([, vote]) => vote),
    );
    for (const [index, vote] of some) outcomes[index] = taken.has(keyOf(vote)) ? 'counted' : 'refused';
  }
  return outcomes;
}

type Answers = readonly Omit<Vote, 'voter'>[];

/** Inserts votes on single choices of a question, as far as it takes them. Votes with one key have one outcome. */
async function insertTaken(store: Store, question: number, votes: Answers): Promise<ReadonlySet<string>> {
  const answers = JSON.stringify(votes.map(({ choices, now, nowMs }) => [choices[0], now, nowMs]));
  const rows = await insertAnswers.all(store, { question, answers });
  return new Set(rows.map(({ choice, created_at_ms }) => `${choice} ${created_at_ms}`));
}

function keyOf({ choices, nowMs }: Omit<Vote, 'voter'>): string {
  return `${choices[0]} ${nowMs}`;
}

function add(counts: Map<number, number>, id: number, count: number): void {
  counts.set(id, (counts.get(id) ?? 0) + count);
}

function inOrder(counts: ReadonlyMap<number, number>): [id: number, count: number][] {
  return [...counts].sort(([one], [other]) => one - other);
}

function countExtra({ kysely }: Store, question: number, count: number) {
  return kysely
    .updateTable('question')
    .set((eb) => ({ extra_votes: eb('extra_votes', '+', count) }))
    .where('id', '=', question)
    .execute();
}

async function insertBallot(store: Store, { voter, ...vote }: Vote): Promise<VoteOutcome> {
  const { question, choices, now } = vote;
  const choice = choices[0] as number;
  if (voter !== undefined) {
    const { changes } = await insertVoter.run(store, { question, choice, now, voter });
    if (changes === 0) {
      return (await openChoice.first(store, { question, choice, now })) ? 'duplicate' : 'refused';
    }
  }
  const isInserted =
    choices.length === 1
      ? (await insertTaken(store, question, [vote])).has(keyOf(vote))
      : await insertSeveral(store, vote);
  if (isInserted) return 'counted';
  // On PostgreSQL, the poll may have been closed since the voter was inserted.
  if (voter !== undefined)
    await store.kysely
      .deleteFrom('voter')
      .where('question', '=', question)
      .where('key', '=', voter)
      .execute();
  return 'refused';
}

/** Adds votes on a choice that has none, as of given times. */
export async function insertVotes(
  { kysely }: WriteSession<Tables>,
  choice: number,
  timesMs: readonly number[],
): Promise<void> {
  const rowsAtOnce = 500;
  for (let from = 0; from < timesMs.length; from += rowsAtOnce) {
    const rows = timesMs.slice(from, from + rowsAtOnce).map((created_at_ms) => ({ choice, created_at_ms }));
    await kysely.insertInto('vote').values(rows).execute();
  }
  await kysely.updateTable('choice').set({ votes: timesMs.length }).where('id', '=', choice).execute();
}
