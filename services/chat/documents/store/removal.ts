import type { Database } from '@octavo/data';
import { sql } from 'kysely';
import type { Tables } from '../../tables.ts';

/** Chunks of one transaction. */
const sliceChunks = 500;

/** Removes a hidden document and all that was made of it, in slices, so that other writes go on. */
export async function removeDocument(database: Database<Tables>, document: number): Promise<void> {
  await clearChunks(database, document);
  await database.write(async ({ kysely }) => {
    const removed = await kysely
      .deleteFrom('document')
      .where('id', '=', document)
      .returning('library')
      .executeTakeFirst();
    if (!removed) return;
    // The last document of a session that was deleted before it takes their library along.
    await kysely
      .deleteFrom('library')
      .where('id', '=', removed.library)
      .where('key', 'like', 'session:%')
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('document').select('id').whereRef('document.library', '=', 'library.id'))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('session')
              .select('session.id')
              .where(sql<boolean>`'session:' || session.id = library.key`),
          ),
        ),
      )
      .execute();
  });
}

/** Removes the chunks of a document that no answer finds, in slices, so that other writes go on. */
export async function clearChunks(database: Database<Tables>, document: number): Promise<void> {
  for (let removed = 1; removed > 0; ) {
    const result = await database.write(({ kysely }) =>
      kysely
        .deleteFrom('chunk')
        .where('id', 'in', (from) =>
          from.selectFrom('chunk').select('id').where('document', '=', document).limit(sliceChunks),
        )
        .executeTakeFirst(),
    );
    removed = Number(result.numDeletedRows);
  }
}
