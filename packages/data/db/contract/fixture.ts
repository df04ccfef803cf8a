import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { type Database, type DatabaseOptions, openDatabase, statement } from '../index.ts';

export interface Tables {
  author: { id: number; handle: string };
  note: Note;
  sample: {
    id: number;
    whole: number | null;
    ratio: number | null;
    flag: number | null;
    bytes: Uint8Array | null;
    json: string | null;
  };
}

export interface Note {
  id: number;
  author_id: number;
  slug: string;
  lang: string;
  body: string;
}

export const noteById = statement<Tables, { id: number }>()((db, p) =>
  db.selectFrom('note').selectAll().where('id', '=', p('id')),
);

export const allNotes = statement<Tables>()((db) => db.selectFrom('note').selectAll().orderBy('id'));

/** Every note, for streams. */
export function notesIn({ kysely }: Database<Tables>) {
  return kysely.selectFrom('note').selectAll().orderBy('id');
}

export const countNotes = statement<Tables>()((db) =>
  db.selectFrom('note').select((expression) => expression.fn.countAll<number>().as('count')),
);

export const insertNote = statement<Tables, Note>()((db, p) =>
  db.insertInto('note').values({
    id: p('id'),
    author_id: p('author_id'),
    slug: p('slug'),
    lang: p('lang'),
    body: p('body'),
  }),
);

/** A note of Alice whose unique columns follow from its id. */
export function note(id: number, changes: Partial<Note> = {}): Note {
  return { id, author_id: 1, slug: `note-${id}`, lang: 'en', body: `The text of note ${id}`, ...changes };
}

/** PostgreSQL at an address, or SQLite without one; or what leads to it. */
export type Server = string | undefined | Pick<DatabaseOptions, 'url' | 'pooler' | 'directUrl'>;

/** A place for one database of the contract tests; disposing it closes every database opened there. */
export class Place implements AsyncDisposable {
  readonly options: DatabaseOptions;
  readonly #databases: Database<Tables>[] = [];

  constructor(server: Server) {
    this.options = {
      name: `t_${randomBytes(6).toString('hex')}`,
      ...(typeof server === 'object' ? server : { url: server }),
      folder: testFolder('db'),
      migrations: new URL('./migrations/', import.meta.url),
      log: silentLog,
    };
  }

  /** Opens the database, or opens it once more. */
  async open(changes: Partial<DatabaseOptions> = {}): Promise<Database<Tables>> {
    const database = await openDatabase<Tables>({ ...this.options, ...changes });
    this.#databases.push(database);
    return database;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const database of this.#databases) await database[Symbol.asyncDispose]();
  }
}

/** A database with some notes. */
export async function openWithNotes(place: Place, count: number): Promise<Database<Tables>> {
  const database = await place.open();
  await database.write(async (session) => {
    for (let id = 1; id <= count; id++) await insertNote.run(session, note(id));
  });
  return database;
}

export async function idsOf(database: Database<Tables>): Promise<number[]> {
  return (await allNotes.all(database, {})).map(({ id }) => id);
}

/** A folder of migrations to change in a test. */
export class Steps {
  readonly #path = testFolder('migrations');

  get folder(): URL {
    return pathToFileURL(this.#path);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#path, name), text);
  }

  remove(name: string): void {
    rmSync(join(this.#path, name));
  }
}
