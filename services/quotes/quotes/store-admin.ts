import type { WriteSession } from '@octavo/data';
import { currentRound, type DayKeys, joinRound } from '../daily/index.ts';
import { record } from '../history.ts';
import type { Tables } from '../tables.ts';
import { changedFields, contentNames, fingerprintOf, keyOf, type Quote } from './quote.ts';
import { findQuote } from './store.ts';
import { freeSlug } from './store-categories.ts';
import { changeOf } from './store-changes.ts';
import { checkDuplicate, indexQuote, type Writer, writeContent } from './store-write.ts';

/** Returns the columns of a quote that the admin writes besides its fields. */
export async function quoteColumns(
  session: WriteSession<Tables>,
  options: {
    content: Pick<Quote, 'text' | 'author'>;
    /** Creator of the quote; undefined for a change. */
    addedBy: number | undefined;
    nowMs: number;
    dayKeys: DayKeys;
  },
): Promise<Readonly<Record<string, string | number>>> {
  const { content, addedBy, nowMs, dayKeys } = options;
  const fingerprint = fingerprintOf(content);
  const columns = { fingerprint, author_key: keyOf(content.author), updated_at_ms: nowMs };
  if (addedBy === undefined) return columns;
  const round = await currentRound(session);
  const day = { day_round: round, day_key: dayKeys(fingerprint, round) };
  return { ...columns, ...day, created_by: addedBy, created_at_ms: nowMs };
}

/** Returns the columns of a category that the admin writes besides its fields. */
export async function categoryColumns(
  session: WriteSession<Tables>,
  { name, slug }: { name: string; slug: string },
): Promise<Readonly<Record<string, string>>> {
  await session.lock('category');
  return { name_key: keyOf(name), slug: slug === '' ? await freeSlug(session, name) : slug };
}

/** Publishes quotes, which join the round of the quote of the day that runs. */
export async function publish(
  session: WriteSession<Tables>,
  { ids, nowMs, dayKeys }: { ids: readonly number[]; nowMs: number; dayKeys: DayKeys },
): Promise<void> {
  await setPublished(session, { ids, isPublished: 1, nowMs });
  await joinRound(session, ids, dayKeys);
}

/** Takes quotes out of sight. */
export async function withdraw(
  session: WriteSession<Tables>,
  { ids, nowMs }: { ids: readonly number[]; nowMs: number },
): Promise<void> {
  await setPublished(session, { ids, isPublished: 0, nowMs });
}

async function setPublished(
  session: WriteSession<Tables>,
  { ids, isPublished, nowMs }: { ids: readonly number[]; isPublished: 0 | 1; nowMs: number },
): Promise<void> {
  if (ids.length === 0) return;
  await session.kysely
    .updateTable('quote')
    .set({ is_published: isPublished, updated_at_ms: nowMs })
    .where('id', 'in', [...ids])
    .execute();
  for (const id of ids) await indexQuote(session, id);
}

/** Adds a quote that the admin saved to the round and the search index. */
export async function afterSave(session: WriteSession<Tables>, id: number, dayKeys: DayKeys): Promise<void> {
  await joinRound(session, [id], dayKeys);
  await indexQuote(session, id);
}

/** Publishes changes that waited. Throws `conflict` if the author of a quote has said its new text already. */
export async function approveChanges(
  session: WriteSession<Tables>,
  ids: readonly number[],
  writer: Writer,
): Promise<void> {
  for (const { id, quoteId, username, ...row } of await waiting(session, ids)) {
    await session.lock(`quote ${quoteId}`);
    const before = await findQuote(session, quoteId);
    if (!before) continue;
    const after = { ...before, ...changeOf(row) };
    const fields = changedFields(before, after);
    if (fields.length > 0) {
      await checkDuplicate(session, after, writer);
      await writeContent(session, after, writer.nowMs);
      const action = `Approve the change of ${username}`;
      await record(
        session,
        { model: 'quotes/quote', id: quoteId, title: after.text, action, fields },
        writer,
      );
    }
    await deleteChanges(session, [id]);
  }
}

export async function deleteChanges(session: WriteSession<Tables>, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await session.kysely
    .deleteFrom('quote_change')
    .where('id', 'in', [...ids])
    .execute();
}

/** Waiting changes in the order of quotes, so that two who approve at once lock them in the same order. */
function waiting(session: WriteSession<Tables>, ids: readonly number[]) {
  if (ids.length === 0) return Promise.resolve([]);
  return session.kysely
    .selectFrom('quote_change')
    .innerJoin('auth_user', 'auth_user.id', 'quote_change.user_id')
    .select(['quote_change.id', 'quote_id as quoteId', 'username', ...contentNames])
    .where('quote_change.id', 'in', [...ids])
    .orderBy('quote_id')
    .orderBy('quote_change.id')
    .execute();
}

/** Puts the words of a category's quotes into the index again, after its name has changed. */
export async function indexCategory(session: WriteSession<Tables>, categoryId: number): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await session.kysely
      .selectFrom('quote')
      .select('id')
      .where('category_id', '=', categoryId)
      .where('is_published', '=', 1)
      .where('id', '>', after)
      .orderBy('id')
      .limit(500)
      .execute();
    for (const { id } of rows) await indexQuote(session, id);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
