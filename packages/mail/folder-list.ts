import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileOf } from './folder.ts';

/** An e-mail in a folder, parsed for display. */
export interface SavedMail {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly date: Date;
  readonly text: string;
  readonly html: string;
}

const idShape = /^[A-Za-z0-9_-][A-Za-z0-9._-]*@[A-Za-z0-9.-]+$/;

/** The newest e-mails of a folder, newest first; empty if there is no such folder. */
export async function listSavedMails(folder: string, limit = 50): Promise<SavedMail[]> {
  const names = await readdir(folder).catch(unlessMissing);
  const files = await Promise.all(
    (names ?? []).filter((name) => name.endsWith('.eml')).map((name) => ageOf(folder, name)),
  );
  const newest = files.filter((file) => file !== undefined).sort((one, other) => other.atMs - one.atMs);
  const mails = await Promise.all(newest.slice(0, limit).map(({ id }) => readSavedMail(folder, id)));
  return mails.filter((mail) => mail !== undefined);
}

/** The e-mail with this id; undefined if there is none. */
export async function readSavedMail(folder: string, id: string): Promise<SavedMail | undefined> {
  if (!idShape.test(id)) return undefined;
  const source = await readFile(fileOf(folder, id)).catch(unlessMissing);
  if (source === undefined) return undefined;
  const { default: PostalMime } = await import('postal-mime');
  const { from, to, subject = '', date, text = '', html = '' } = await PostalMime.parse(source);
  return {
    id,
    from: from?.address ?? '',
    to: to?.map(({ address }) => address).join(', ') ?? '',
    subject,
    date: new Date(date ?? 0),
    text: text.trimEnd(),
    html,
  };
}

async function ageOf(folder: string, name: string): Promise<{ id: string; atMs: number } | undefined> {
  const stats = await stat(join(folder, name)).catch(unlessMissing);
  return stats && { id: name.slice(0, -'.eml'.length), atMs: stats.mtimeMs };
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
