import type { Database, Session, WriteSession } from '@octavo/data';
import type { Owner } from '../owner.ts';
import type { Tables } from '../tables.ts';

/** Keeps the name of a person, in place of an earlier one. */
export async function rememberName(
  database: Database<Tables>,
  account: string,
  given: string,
): Promise<void> {
  const name = given.slice(0, 200);
  await database.write(({ kysely }) =>
    kysely
      .insertInto('person')
      .values({ account, name })
      .onConflict((conflict) => conflict.column('account').doUpdateSet({ name }))
      .execute(),
  );
}

/** Keeps that a person has left, in place of the name. */
export async function markLeft(
  { kysely }: Pick<WriteSession<Tables>, 'kysely'>,
  account: string,
  nowMs: number,
): Promise<void> {
  await kysely
    .insertInto('person')
    .values({ account, name: '', left_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('account').doUpdateSet({ name: '', left_at_ms: nowMs }))
    .execute();
}

/** People who have left in the last day. */
export function leftPeople({ kysely }: Session<Tables>) {
  return kysely.selectFrom('person').select('account').where('left_at_ms', 'is not', null).execute();
}

export function forgetLeft({ kysely }: Session<Tables>, beforeMs: number) {
  return kysely.deleteFrom('person').where('left_at_ms', '<=', beforeMs).execute();
}

const prefix = 'person:';

/** The names of those owners who are people and have one. */
export async function namesOf(
  { kysely }: Session<Tables>,
  owners: readonly Owner[],
): Promise<ReadonlyMap<Owner, string>> {
  const people = new Set(owners.filter((owner) => owner.startsWith(prefix)));
  if (people.size === 0) return new Map();
  const accounts = [...people].map((owner) => owner.slice(prefix.length));
  const rows = await kysely.selectFrom('person').selectAll().where('account', 'in', accounts).execute();
  return new Map(rows.map(({ account, name }) => [`${prefix}${account}`, name]));
}
