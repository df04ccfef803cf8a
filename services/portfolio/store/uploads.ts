import type { Session, WriteSession } from '@octavo/data';
import type { Tables, UploadRow } from './store.ts';

/** Adds an upload, and deletes those that have expired. */
export async function addUpload(
  { kysely }: WriteSession<Tables>,
  row: Omit<UploadRow, 'result'>,
  nowMs: number,
): Promise<void> {
  await kysely.deleteFrom('import_upload').where('expires_at_ms', '<=', nowMs).execute();
  await kysely
    .insertInto('import_upload')
    .values({ ...row, result: null })
    .execute();
}

/** The upload of a user; undefined if it has expired. */
export function findUpload(
  { kysely }: Session<Tables>,
  { id, userId, nowMs }: { id: string; userId: number; nowMs: number },
) {
  return kysely
    .selectFrom('import_upload')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
}

export function deleteUpload({ kysely }: Session<Tables>, id: string) {
  return kysely.deleteFrom('import_upload').where('id', '=', id).execute();
}

/** Keeps the result in place of the file. */
export function finishUpload(
  { kysely }: WriteSession<Tables>,
  { id, result, expiresAtMs }: { id: string; result: string; expiresAtMs: number },
) {
  return kysely
    .updateTable('import_upload')
    .set({ result, content: '', expires_at_ms: expiresAtMs })
    .where('id', '=', id)
    .execute();
}

export function deleteUploadsOf({ kysely }: Pick<Session<Tables>, 'kysely'>, userId: number) {
  return kysely.deleteFrom('import_upload').where('user_id', '=', userId).execute();
}
