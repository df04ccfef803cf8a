import { statement, type WriteSession } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import type { Tables } from '../database.ts';

/** What a caller got for a bulk creation. */
export interface BulkReply {
  readonly ids: readonly number[];
  readonly errors: readonly string[];
  /** When the posts were created. */
  readonly createdAtMs: number;
}

const lifetimeMs = 24 * 3_600_000;

/** The reply to an earlier request with this key in the last day. Another request with the key is a conflict. */
export async function findReply(
  session: WriteSession<Tables>,
  { key, digest, nowMs }: { key: string; digest: Uint8Array; nowMs: number },
): Promise<BulkReply | undefined> {
  const reply = await byKey.first(session, { key, since: nowMs - lifetimeMs });
  if (!reply) return undefined;
  if (Buffer.compare(reply.digest, digest) !== 0) {
    throw new AppError('conflict', 'This idempotency key was used for another request.');
  }
  const createdAtMs = reply.posts_created_at_ms ?? reply.created_at_ms;
  return { ids: JSON.parse(reply.ids), errors: JSON.parse(reply.errors), createdAtMs };
}

/** Stores a reply for a day and removes older ones. */
export async function storeReply(
  session: WriteSession<Tables>,
  reply: BulkReply & { key: string; digest: Uint8Array; nowMs: number },
): Promise<void> {
  await removeOlder.run(session, { before: reply.nowMs - lifetimeMs });
  await insert.run(session, {
    key: reply.key,
    digest: reply.digest,
    ids: JSON.stringify(reply.ids),
    errors: JSON.stringify(reply.errors),
    createdAtMs: reply.createdAtMs,
    nowMs: reply.nowMs,
  });
}

const byKey = statement<Tables, { key: string; since: number }>()((db, p) =>
  db
    .selectFrom('bulk_reply')
    .selectAll()
    .where('idempotency_key', '=', p('key'))
    .where('created_at_ms', '>', p('since')),
);

const insert = statement<
  Tables,
  { key: string; digest: Uint8Array; ids: string; errors: string; createdAtMs: number; nowMs: number }
>()((db, p) =>
  db.insertInto('bulk_reply').values({
    idempotency_key: p('key'),
    digest: p('digest'),
    ids: p('ids'),
    errors: p('errors'),
    posts_created_at_ms: p('createdAtMs'),
    created_at_ms: p('nowMs'),
  }),
);

const removeOlder = statement<Tables, { before: number }>()((db, p) =>
  db.deleteFrom('bulk_reply').where('created_at_ms', '<=', p('before')),
);
