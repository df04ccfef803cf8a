import type { Session, WriteSession } from '@octavo/data';
import type { Tables } from '../tables.ts';
import { type Attribution, changedFields, type Quote, type QuoteContent } from './quote.ts';

/** The fields that an author wants to change of a published quote. */
export type WaitingChange = Partial<QuoteContent>;

type ChangeKey = { quoteId: number; userId: number };

export const changeColumns = ['text', 'author', 'category', 'source', 'attribution'] as const;

/** The change of a quote by this author that waits for staff. */
export async function findChange(
  session: Session<Tables>,
  key: ChangeKey,
): Promise<WaitingChange | undefined> {
  const row = await session.kysely
    .selectFrom('quote_change')
    .select(changeColumns)
    .where('quote_id', '=', key.quoteId)
    .where('user_id', '=', key.userId)
    .executeTakeFirst();
  return row && changeOf(row);
}

/** Keeps a change until staff approves it, in place of an earlier one by the same author. */
export async function putChange(
  session: WriteSession<Tables>,
  { before, after, userId, nowMs }: { before: Quote; after: QuoteContent; userId: number; nowMs: number },
): Promise<void> {
  const changed = new Set<string>(changedFields(before, after).map(({ name }) => name));
  const changedTo = <Name extends keyof QuoteContent>(name: Name) => (changed.has(name) ? after[name] : null);
  const values = {
    base_text: before.text,
    text: changedTo('text'),
    author: changedTo('author'),
    category: changedTo('category'),
    source: changedTo('source'),
    attribution: changedTo('attribution'),
    created_at_ms: nowMs,
  };
  await session.kysely
    .insertInto('quote_change')
    .values({ ...values, quote_id: before.id, user_id: userId })
    .onConflict((conflict) => conflict.columns(['quote_id', 'user_id']).doUpdateSet(values))
    .execute();
}

export async function dropChange(session: WriteSession<Tables>, key: ChangeKey): Promise<void> {
  await session.kysely
    .deleteFrom('quote_change')
    .where('quote_id', '=', key.quoteId)
    .where('user_id', '=', key.userId)
    .execute();
}

/** The fields of a row that are not left as they are. */
export function changeOf(
  row: Readonly<Record<(typeof changeColumns)[number], string | null>>,
): WaitingChange {
  const { text, author, category, source, attribution } = row;
  return {
    ...(text !== null && { text }),
    ...(author !== null && { author }),
    ...(category !== null && { category }),
    ...(source !== null && { source }),
    ...(attribution !== null && { attribution: attribution as Attribution }),
  };
}
