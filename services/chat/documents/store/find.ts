import type { Session } from '@octavo/data';
import type { ExpressionBuilder, Selectable } from 'kysely';
import type { DocumentRow, Tables } from '../../tables.ts';
import type { Document, Scope } from '../document.ts';

type Store = Session<Tables>;

/** A document of the scope with those bytes, which is there or on its way. */
export async function findByBytes(store: Store, scope: Scope, sha256: string): Promise<Document | undefined> {
  const row = await inScope(store, scope)
    .where('sha256', '=', sha256)
    .where('status', 'in', ['processing', 'indexed'])
    .executeTakeFirst();
  return row && toDocument(row);
}

/** The document with that id, which may have been read again since. */
export async function findAgain(store: Store, publicId: string): Promise<Document | undefined> {
  const row = await store.kysely
    .selectFrom('document')
    .selectAll()
    .select(libraryKeyOf)
    .where('public_id', '=', publicId)
    .where('status', '!=', 'deleting')
    .executeTakeFirst();
  return row && toDocument(row);
}

/** The documents of the scope with that name that are there. */
export async function findByName(store: Store, scope: Scope, filename: string): Promise<Document[]> {
  const rows = await inScope(store, scope)
    .where('filename', '=', filename)
    .where('status', '=', 'indexed')
    .execute();
  return rows.map(toDocument);
}

function inScope({ kysely }: Store, { library, owner }: Scope) {
  const found = kysely.selectFrom('document').selectAll().select(libraryKeyOf).where('library', '=', library);
  return owner === undefined ? found : found.where('owner', '=', owner);
}

/** The key of a document's library, as a column of a query. */
export function libraryKeyOf(eb: ExpressionBuilder<Tables, 'document'>) {
  return eb
    .selectFrom('library')
    .select('library.key')
    .whereRef('library.id', '=', 'document.library')
    .as('library_key');
}

export function toDocument(row: Selectable<DocumentRow> & { readonly library_key: string | null }): Document {
  const { public_id, media_type, chunk_count, text_length, created_at_ms, updated_at_ms, ...same } = row;
  const { lease_until_ms: _lease, embedding_model: _model, tags, warnings, replaces, ...more } = same;
  const { library_key, given_title, was_shared, reader_version, first_id, ...shown } = more;
  return {
    ...shown,
    libraryKey: library_key ?? '',
    givenTitle: given_title,
    wasShared: was_shared === 1,
    publicId: public_id,
    mediaType: media_type,
    chunkCount: chunk_count,
    textLength: text_length,
    tags: JSON.parse(tags),
    warnings: JSON.parse(warnings),
    createdAtMs: created_at_ms,
    updatedAtMs: updated_at_ms,
    replaces: replaces === 1,
    uploadNumber: first_id ?? row.id,
    readerVersion: reader_version,
  };
}
