import type { Database, Session } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';

type Store = Session<Tables>;

/** The number of a library, which is made if there is none. */
export async function libraryId(database: Database<Tables>, key: string): Promise<number> {
  const find = (store: Store) =>
    store.kysely.selectFrom('library').select('id').where('key', '=', key).executeTakeFirst();
  const known = await find(database);
  if (known) return known.id;
  return database.write(async (session) => {
    const insert = session.kysely.insertInto('library').values({ key });
    await insert.onConflict((conflict) => conflict.column('key').doNothing()).execute();
    return (await find(session))?.id as number;
  });
}

/** The tags of each document in a library. */
export async function tagsOfDocuments({ kysely }: Store, key: string): Promise<string[][]> {
  const inLibrary = kysely.selectFrom('library').select('id').where('key', '=', key);
  const found = await kysely
    .selectFrom('document')
    .select('tags')
    .where('library', 'in', inLibrary)
    .execute();
  return found.map(({ tags }) => JSON.parse(tags));
}

/** The numbers of those libraries that there are. */
export async function knownLibraries(store: Store, keys: readonly string[]): Promise<number[]> {
  const rows = await store.kysely.selectFrom('library').select('id').where('key', 'in', keys).execute();
  return rows.map(({ id }) => id);
}

/** Counts the documents of the libraries that are still being read, which no search finds yet. */
export async function countUnread({ kysely }: Store, libraries: readonly number[]): Promise<number> {
  const { total } = await kysely
    .selectFrom('document')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('library', 'in', libraries)
    .where('status', '=', 'processing')
    .executeTakeFirstOrThrow();
  return total;
}
