import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { testFolder, writesDuring } from '@octavo/testing';
import { sql } from 'kysely';
import { removeOtherModels } from '../embeddings/store.ts';
import type { Tables } from '../tables.ts';
import { removeDocument } from './store/removal.ts';

const chunks = 5_000;
/** Far fewer than the slices, and more than the writes that wait for one transaction. */
const writesMin = 5;

test('others write while a large document is removed', async () => {
  await using database = await openLibrary();
  const written = await writesDuring(removeDocument(database, 1), () => touchSession(database));
  assert.ok(written >= writesMin, `${written} writes of others`);
  assert.deepEqual(await countsOf(database), { documents: 0, chunks: 0, vectors: 0 });
});

test('others write while the vectors of a former model are removed', async () => {
  await using database = await openLibrary();
  const written = await writesDuring(removeOtherModels(database, 2), () => touchSession(database));
  assert.ok(written >= writesMin, `${written} writes of others`);
  assert.deepEqual(await countsOf(database), { documents: 1, chunks, vectors: 0 });
});

/** A document of many chunks, each with a vector of the first of two models. */
async function openLibrary(): Promise<Database<Tables>> {
  const database = await openDatabase<Tables>({
    name: 'chat',
    url: undefined,
    folder: testFolder('chat-removal'),
    migrations: new URL('../migrations/', import.meta.url),
    log: silentLog,
  });
  await database.write(async ({ kysely }) => {
    await kysely.insertInto('library').values({ id: 1, key: 'shared' }).execute();
    const document = {
      id: 1,
      public_id: 'ferries',
      library: 1,
      owner: 'alice',
      session: null,
      filename: 'ferries.txt',
      media_type: 'text/plain',
      size: 1,
      sha256: '',
      title: 'Ferries',
      status: 'deleting',
      error: null,
      pages: null,
      chunk_count: chunks,
      text_length: 1,
      tags: '[]',
      warnings: '[]',
      lease_until_ms: 0,
      created_at_ms: 0,
      updated_at_ms: 0,
    } as const;
    await kysely.insertInto('document').values(document).execute();
    const model = { requested: 0, dimensions: 1, used_at_ms: 0 };
    await kysely
      .insertInto('embedding_model')
      .values([1, 2].map((id) => ({ ...model, id, name: `model ${id}`, choice: id })))
      .execute();
    await sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${chunks})
      insert into chunk (id, public_id, document, place, section, start_offset, end_offset, text, features)
      select i, 'chunk ' || i, 1, i, '', 0, 1, 'Ferries wait in fog.', x'00' from n`.execute(kysely);
    await sql`insert into chunk_embedding (chunk, model, vector) select id, 1, x'00' from chunk`.execute(
      kysely,
    );
    const session = {
      id: 'session',
      owner: 'bob',
      title: '',
      metadata: '{}',
      created_at_ms: 0,
      updated_at_ms: 0,
    };
    await kysely.insertInto('session').values(session).execute();
  });
  return database;
}

function touchSession(database: Database<Tables>): Promise<unknown> {
  return database.write(({ kysely }) =>
    kysely
      .updateTable('session')
      .set(({ eb }) => ({ updated_at_ms: eb('updated_at_ms', '+', 1) }))
      .execute(),
  );
}

async function countsOf({ kysely }: Database<Tables>) {
  const countOf = async (table: 'document' | 'chunk' | 'chunk_embedding') => {
    const { count } = await kysely
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  return {
    documents: await countOf('document'),
    chunks: await countOf('chunk'),
    vectors: await countOf('chunk_embedding'),
  };
}
