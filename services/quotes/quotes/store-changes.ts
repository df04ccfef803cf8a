import type { Session, WriteSession } from '@octavo/data';
import type { Tables } from '../tables.ts';
import { changedFields, contentNames, type Quote, type QuoteContent } from './quote.ts';

/** The fields that an author wants to change of a published quote. */
export type WaitingChange = Partial<QuoteContent>;

type ChangeKey = { quoteId: number; userId: number };

/** The change of a quote by this author that waits for staff. */
export async function findChange(
  session: Session<Tables>,
  key: ChangeKey,
): Promise<WaitingChange | undefined> {
  const row = await session.kysely
    .selectFrom('quote_change')
    .select(contentNames)
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
  const unchanged = Object.fromEntries(contentNames.map((name) => [name, null]));
  const changed = Object.fromEntries(changedFields(before, after).map(({ name, to }) => [name, to]));
  const values = { ...unchanged, ...changed, base_text: before.text, created_at_ms: nowMs };
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
export function changeOf(row: ChangeRow): WaitingChange {
  return Object.fromEntries(
    contentNames.filter((name) => row[name] !== null).map((name) => [name, row[name]]),
  );
}

type ChangeRow = { readonly [Name in keyof QuoteContent]: QuoteContent[Name] | null };
