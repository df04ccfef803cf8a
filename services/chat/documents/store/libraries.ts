import type { Database, Session, WriteSession } from '@octavo/data';
import type { Tables } from '../../tables.ts';

type Store = Session<Tables>;

/** The number of a library, which is made if there is none. */
export async function libraryId(database: Database<Tables>, key: string): Promise<number> {
  const [known] = await knownLibraries(database, [key]);
  return known ?? database.write((session) => libraryIdIn(session, key));
}

/** Like {@link libraryId}, within a transaction. */
export async function libraryIdIn(session: WriteSession<Tables>, key: string): Promise<number> {
  const insert = session.kysely.insertInto('library').values({ key });
  await insert.onConflict((conflict) => conflict.column('key').doNothing()).execute();
  const [made] = await knownLibraries(session, [key]);
  return made as number;
}

/** The tags of each document that is in no chat. */
export async function tagsOfDocuments({ kysely }: Store): Promise<string[][]> {
  const found = await kysely.selectFrom('document').select('tags').where('session', 'is', null).execute();
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
