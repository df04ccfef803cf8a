import type { Database, Session } from '@octavo/data';
import { readerVersion } from '@octavo/documents';
import type { Citation } from '@octavo/reader';
import type { Tables } from '../../tables.ts';
import type { Document } from '../document.ts';
import { libraryKeyOf, toDocument } from './find.ts';
import { documents, type Reach, within } from './list.ts';

type Store = Session<Tables>;

/** The first document after a number that an earlier version of the reader has read, or failed to. */
export async function nextOutdated({ kysely }: Store, after = 0): Promise<Document | undefined> {
  const row = await kysely
    .selectFrom('document')
    .selectAll()
    .select(libraryKeyOf)
    .where('status', 'in', ['indexed', 'failed'])
    .where('reader_version', '<', readerVersion)
    .where('id', '>', after)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && toDocument(row);
}

/** Notes that this version has read a document, with the warnings or the error. Nothing happens if it was changed in the meantime. */
export async function noteReading(
  database: Database<Tables>,
  { id, status }: Document,
  outcome: { readonly warnings: readonly string[] } | { readonly error: string },
): Promise<void> {
  const changed = 'error' in outcome ? outcome : { warnings: JSON.stringify(outcome.warnings) };
  await database.write(({ kysely }) =>
    kysely
      .updateTable('document')
      .set({ ...changed, reader_version: readerVersion })
      .where('id', '=', id)
      .where('status', '=', status)
      .execute(),
  );
}

/** Number of the documents that a person may see, and of those that this version has read. */
export async function countReadings(store: Store, reach: Reach): Promise<{ total: number; read: number }> {
  const { total, read } = await documents(store)
    .clearSelect()
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      fn.countAll<number>().filterWhere('document.reader_version', '>=', readerVersion).as('read'),
    ])
    .where('document.status', 'in', ['indexed', 'failed'])
    .where(within(reach))
    .executeTakeFirstOrThrow();
  return { total: Number(total), read: Number(read) };
}

/** The warnings of the documents that are cited, each with the name of its file. */
export async function warningsOfQuoted({ kysely }: Store, citations: readonly Citation[]): Promise<string[]> {
  const cited = citations.flatMap((each) => (each.kind === 'document' ? [each.document_id] : []));
  if (cited.length === 0) return [];
  const rows = await kysely
    .selectFrom('document')
    .select(['filename', 'warnings'])
    .where('public_id', 'in', [...new Set(cited)])
    .where('warnings', '!=', '[]')
    .orderBy('public_id')
    .execute();
  return rows.flatMap(({ filename, warnings }) =>
    (JSON.parse(warnings) as string[]).map((warning) => `${filename}: ${warning}`),
  );
}
