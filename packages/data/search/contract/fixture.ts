import { randomBytes } from 'node:crypto';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { type Database, openDatabase, type WriteSession } from '../../db/index.ts';
import { normalizedText, SubstringIndex, storedNormalized, WordIndex } from '../index.ts';

export interface Tables {
  note: { id: number; title: string; body: string; normalized: string | null; indexed?: number };
}

export interface Note {
  readonly id: number;
  readonly title: string;
  readonly body: string;
}

export const substrings = new SubstringIndex({
  table: 'note',
  text: normalizedText({ table: 'note', columns: ['title', 'body'], stored: 'normalized' }),
});

export const words = new WordIndex({ table: 'note_words', weights: { title: 1_000, body: 1 } });

export function openNotes(url: string | undefined): Promise<Database<Tables>> {
  return openDatabase<Tables>({
    name: `t_${randomBytes(6).toString('hex')}`,
    url,
    folder: testFolder('search'),
    migrations: new URL('./migrations/', import.meta.url),
    log: silentLog,
  });
}

export async function addNotes(database: Database<Tables>, notes: readonly Note[]): Promise<void> {
  await database.write(async (session) => {
    for (const note of notes) await addNote(session, note);
  });
}

export async function addNote(session: WriteSession<Tables>, note: Note): Promise<void> {
  const normalized = storedNormalized([note.title, note.body]);
  await session.kysely
    .insertInto('note')
    .values({ ...note, normalized })
    .execute();
  await words.put(session, note.id, note);
}

export async function changeNote(database: Database<Tables>, { id, ...texts }: Note): Promise<void> {
  const normalized = storedNormalized([texts.title, texts.body]);
  await database.write(async (session) => {
    await session.kysely
      .updateTable('note')
      .set({ ...texts, normalized })
      .where('id', '=', id)
      .execute();
    await words.put(session, id, texts);
  });
}

export async function deleteNote(database: Database<Tables>, id: number): Promise<void> {
  await database.write((session) => session.kysely.deleteFrom('note').where('id', '=', id).execute());
}
