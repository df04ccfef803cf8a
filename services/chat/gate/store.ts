import type { Database, Session } from '#kit/db/index.ts';
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
