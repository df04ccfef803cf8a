import { AppError } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import type { Tables } from '../database.ts';

/** Response of a bulk creation. */
export interface BulkReply {
  readonly ids: readonly number[];
  readonly errors: readonly string[];
  /** Time at which the posts were created. */
  readonly createdAtMs: number;
}

const lifetimeMs = 24 * 3_600_000;

/** The reply to an earlier request with this key in the last day. Another request with the key is a conflict. */
export async function findReply(
  session: WriteSession<Tables>,
  { key, digest, nowMs }: { key: string; digest: Uint8Array; nowMs: number },
): Promise<BulkReply | undefined> {
  const reply = await session.kysely
    .selectFrom('bulk_reply')
    .selectAll()
    .where('idempotency_key', '=', key)
    .where('created_at_ms', '>', nowMs - lifetimeMs)
    .executeTakeFirst();
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
  await session.kysely
    .deleteFrom('bulk_reply')
    .where('created_at_ms', '<=', reply.nowMs - lifetimeMs)
    .execute();
  await session.kysely
    .insertInto('bulk_reply')
    .values({
      idempotency_key: reply.key,
      digest: reply.digest,
      ids: JSON.stringify(reply.ids),
      errors: JSON.stringify(reply.errors),
      posts_created_at_ms: reply.createdAtMs,
      created_at_ms: reply.nowMs,
    })
    .execute();
}
