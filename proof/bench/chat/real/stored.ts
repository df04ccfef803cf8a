import { silentLog } from '@octavo/core/log';
import { type Database, healthMigrations, openDatabase } from '@octavo/data';
import { oidcMigrations } from '@octavo/people/sign-in';
import { startProcess, stopProcess } from '../../../../apps/octavo/testing.ts';
import { Retriever } from '../../../../services/chat/retrieval/index.ts';
import type { Tables } from '../../../../services/chat/tables.ts';
import type { RealSet } from './grades.ts';
import { readLibrary } from './library.ts';

/** Uploads the documents of a set to a chat with its data in a folder. */
export async function storeLibrary(folder: string, packages: string, set: RealSet): Promise<void> {
  const settings = {
    OCTAVO_DATA: folder,
    LOG_LEVEL: 'error',
    UPLOAD_RATE_LIMIT: '0',
    CHAT_EMBEDDINGS: 'off',
  };
  const { url, child } = await startProcess('chat', settings);
  try {
    for (const { name, content } of readLibrary(packages, set)) {
      const body = new FormData();
      body.append('file', new Blob([content]), name);
      const response = await fetch(`${url}/api/upload`, { method: 'POST', body });
      if (response.status !== 201) throw new Error(`${name}: ${await response.text()}`);
    }
  } finally {
    await stopProcess(child);
  }
}

/** A library that was stored in a folder. The caller closes the database. */
export interface StoredLibrary {
  readonly database: Database<Tables>;
  readonly library: number;
  readonly retriever: Retriever;
}

/** Opens the library that was stored in a folder. */
export async function openLibrary(folder: string): Promise<StoredLibrary> {
  const migrations = new URL('../../../../services/chat/migrations/', import.meta.url);
  const database = await openDatabase<Tables>({
    name: 'chat',
    url: undefined,
    folder,
    log: silentLog,
    migrations: [healthMigrations, oidcMigrations, migrations],
  });
  const { id } = await database.kysely.selectFrom('library').select('id').executeTakeFirstOrThrow();
  return { database, library: id, retriever: new Retriever(database) };
}
