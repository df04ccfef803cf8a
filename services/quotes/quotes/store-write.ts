import type { Database, WriteSession } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import { currentRound, type DayKeys } from '../daily/index.ts';
import { record } from '../history.ts';
import { pageRoutes, quotePath } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { quoteWords } from '../words.ts';
import { fingerprintOf, keyOf, type Quote, type QuoteContent } from './quote.ts';
import { findQuote } from './store.ts';
import { categoryId } from './store-categories.ts';

/** Who writes, and when. */
export interface Writer {
  readonly id: number;
  readonly username: string;
  readonly nowMs: number;
}

/** Who writes, and which quotes they may change. */
export interface Rights {
  readonly writer: Writer;
  mayChange(quote: Quote): boolean;
}

export interface NewQuote extends QuoteContent {
  readonly isPublished: boolean;
}

/** Writes a quote and makes its category if it is new. Throws `conflict` if the author has said this already. */
export function createQuote(
  database: Database<Tables>,
  quote: NewQuote,
  { writer, dayKeys }: { writer: Writer; dayKeys: DayKeys },
): Promise<Quote> {
  return database.write(async (session) => {
    const id = await insertQuote(session, quote, { createdBy: writer.id, nowMs: writer.nowMs, dayKeys });
    await record(
      session,
      { model: 'quotes/quote', id, title: quote.text, action: 'add', fields: [] },
      writer,
    );
    return (await findQuote(session, id)) as Quote;
  });
}

/** Writes a quote in the transaction of a session, without history. */
export async function insertQuote(
  session: WriteSession<Tables>,
  quote: NewQuote,
  { createdBy, nowMs, dayKeys }: { createdBy: number | null; nowMs: number; dayKeys: DayKeys },
): Promise<number> {
  const fingerprint = fingerprintOf(quote);
  await lockFingerprint(session, fingerprint);
  const round = await currentRound(session);
  const row = {
    text: quote.text,
    author: quote.author,
    author_key: keyOf(quote.author),
    category_id: await categoryId(session, quote.category),
    source: quote.source,
    attribution: quote.attribution,
    fingerprint,
    is_published: Number(quote.isPublished),
    created_by: createdBy,
    created_at_ms: nowMs,
    updated_at_ms: nowMs,
    day_round: round,
    day_key: dayKeys(fingerprint, round),
  };
  const inserted = await session.kysely
    .insertInto('quote')
    .values(row)
    .onConflict((conflict) => conflict.column('fingerprint').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!inserted) throw await alreadyHere(session, fingerprint);
  if (quote.isPublished) await indexQuote(session, inserted.id);
  return inserted.id;
}

/**
 * Changes some of a quote. Throws `not_found`, `forbidden` unless the writer may change it, and `conflict` if the author has said the new
 * text already.
 */
export function changeQuote(
  database: Database<Tables>,
  id: number,
  changes: Partial<QuoteContent>,
  { writer, mayChange }: Rights,
): Promise<Quote> {
  return database.write(async (session) => {
    await session.lock(`quote ${id}`);
    const before = await allowed(session, id, mayChange);
    const after = { ...before, ...changes };
    const fields = changedFields(before, after);
    if (fields.length === 0) return before;
    const fingerprint = fingerprintOf(after);
    if (await isTaken(session, fingerprint, id)) throw await alreadyHere(session, fingerprint);
    await session.kysely
      .updateTable('quote')
      .set({
        text: after.text,
        author: after.author,
        author_key: keyOf(after.author),
        category_id: await categoryId(session, after.category),
        source: after.source,
        attribution: after.attribution,
        fingerprint,
        updated_at_ms: writer.nowMs,
      })
      .where('id', '=', id)
      .execute();
    if (before.isPublished === 1) await indexQuote(session, id);
    await record(session, { model: 'quotes/quote', id, title: after.text, action: 'change', fields }, writer);
    return (await findQuote(session, id)) as Quote;
  });
}

/** Deletes a quote with its likes, comments and reports. Throws like {@link changeQuote}. */
export function deleteQuote(
  database: Database<Tables>,
  id: number,
  { writer, mayChange }: Rights,
): Promise<void> {
  return database.write(async (session) => {
    const { text } = await allowed(session, id, mayChange);
    await session.kysely.deleteFrom('quote').where('id', '=', id).execute();
    await record(session, { model: 'quotes/quote', id, title: text, action: 'delete', fields: [] }, writer);
  });
}

/** Puts the words of a quote into the index as it is now, or takes them out if it is not published. */
export async function indexQuote(session: WriteSession<Tables>, id: number): Promise<void> {
  const quote = await findQuote(session, id);
  if (quote?.isPublished) await quoteWords.put(session, id, quote);
  else await quoteWords.remove(session, id);
}

async function allowed(
  session: WriteSession<Tables>,
  id: number,
  mayChange: (quote: Quote) => boolean,
): Promise<Quote> {
  const quote = await findQuote(session, id);
  if (!quote) throw notFound('quote', id);
  if (!mayChange(quote)) throw forbidden();
  return quote;
}

/** The error of somebody who may see a quote but not change it. */
export function forbidden(): AppError {
  return new AppError('forbidden', 'You do not have permission to perform this action.');
}

async function isTaken(session: WriteSession<Tables>, fingerprint: string, id: number): Promise<boolean> {
  await lockFingerprint(session, fingerprint);
  const row = await session.kysely
    .selectFrom('quote')
    .select('id')
    .where('fingerprint', '=', fingerprint)
    .where('id', '!=', id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Of two that write the same quote at once, the second sees the first. */
function lockFingerprint(session: WriteSession<Tables>, fingerprint: string): Promise<void> {
  return session.lock(`fingerprint ${fingerprint}`);
}

async function alreadyHere(session: WriteSession<Tables>, fingerprint: string): Promise<AppError> {
  const row = await session.kysely
    .selectFrom('quote')
    .select('id')
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst();
  const where = quotePath(pageRoutes.quote, row?.id ?? 0);
  return new AppError('conflict', 'This quote is already here.', {
    reason: 'DUPLICATE_QUOTE',
    fields: { text: `This quote is already here: ${where}.` },
  });
}

const labels = {
  text: 'Text',
  author: 'Author',
  category: 'Category',
  source: 'Source',
  attribution: 'Attribution',
} as const;

function changedFields(before: QuoteContent, after: QuoteContent) {
  const names = Object.keys(labels) as (keyof typeof labels)[];
  return names
    .filter((name) =>
      name === 'category' ? keyOf(before[name]) !== keyOf(after[name]) : before[name] !== after[name],
    )
    .map((name) => ({ label: labels[name], from: before[name], to: after[name] }));
}
