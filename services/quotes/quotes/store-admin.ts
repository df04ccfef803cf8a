import type { WriteSession } from '#kit/db/index.ts';
import { currentRound, type DayKeys } from '../daily/index.ts';
import type { Tables } from '../tables.ts';
import { fingerprintOf, keyOf, type Quote } from './quote.ts';
import { freeSlug } from './store-categories.ts';
import { indexQuote } from './store-write.ts';

export { indexQuote };

/** What the admin writes of a quote besides its fields. */
export async function quoteColumns(
  session: WriteSession<Tables>,
  options: {
    content: Pick<Quote, 'text' | 'author'>;
    /** Who adds it; undefined if it is changed. */
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

/** What the admin writes of a category besides its fields. */
export async function categoryColumns(
  session: WriteSession<Tables>,
  { name, slug }: { name: string; slug: string },
): Promise<Readonly<Record<string, string>>> {
  await session.lock('category');
  return { name_key: keyOf(name), slug: slug === '' ? await freeSlug(session, name) : slug };
}

/** Publishes quotes or withdraws them. */
export async function setPublished(
  session: WriteSession<Tables>,
  { ids, isPublished, nowMs }: { ids: readonly number[]; isPublished: boolean; nowMs: number },
): Promise<void> {
  await session.kysely
    .updateTable('quote')
    .set({ is_published: Number(isPublished), updated_at_ms: nowMs })
    .where('id', 'in', [...ids])
    .execute();
  for (const id of ids) await indexQuote(session, id);
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
