import type { Author } from '@octavo/admin';
import { AppError, notFound } from '@octavo/core';
import { type Database, deleteRows, type Session, type WriteSession } from '@octavo/data';
import { currentRound, type DayKeys } from '../daily/index.ts';
import { record } from '../history.ts';
import { pageRoutes, quotePath } from '../routes.ts';
import type { Tables } from '../tables.ts';
import { quoteWords } from '../words.ts';
import {
  changedFields,
  contentOf,
  fingerprintOf,
  keyOf,
  mayChange,
  maySee,
  type Quote,
  type QuoteContent,
  type QuoteInput,
  withDefaults,
} from './quote.ts';
import { findQuote } from './store.ts';
import { categoryId } from './store-categories.ts';
import { dropChange, findChange, putChange } from './store-changes.ts';

/** Author of a write, with its time and place. */
export interface Writer extends Pick<Author, 'nowMs' | 'via'> {
  readonly id: number;
  readonly username: string;
  readonly isStaff: 0 | 1;
}

/** Author of a write, and the service's rules for it. */
export interface Rights {
  readonly writer: Writer;
  /** True if any account may change any quote. */
  readonly isOpenEditing: boolean;
  /** True if new quotes, and changes of published ones, wait for staff. */
  readonly isModerated: boolean;
}

export interface NewQuote extends QuoteInput {
  readonly isPublished: boolean;
}

/** Writes a quote and makes its category if it is new. Throws `conflict` if the author has said this already. */
export function createQuote(
  database: Database<Tables>,
  content: QuoteInput,
  { writer, isModerated, dayKeys }: Rights & { dayKeys: DayKeys },
): Promise<Quote> {
  const quote = { ...content, isPublished: !isModerated || writer.isStaff === 1 };
  return database.write(async (session) => {
    const id = await insertQuote(session, quote, { writer, nowMs: writer.nowMs, dayKeys });
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
  { isPublished, ...input }: NewQuote,
  { writer, nowMs, dayKeys }: { writer?: Pick<Writer, 'id' | 'isStaff'>; nowMs: number; dayKeys: DayKeys },
): Promise<number> {
  const quote = withDefaults(input);
  const fingerprint = fingerprintOf(quote);
  await lockFingerprint(session, fingerprint);
  const round = await currentRound(session);
  const row = {
    ...(await contentRow(session, quote)),
    is_published: Number(isPublished),
    created_by: writer?.id ?? null,
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
  if (!inserted) throw await alreadyHere(session, fingerprint, writer);
  if (isPublished) await indexQuote(session, inserted.id);
  return inserted.id;
}

/**
 * Changes some of a quote, or lets the change wait for staff. Throws `not_found`, `forbidden` unless the writer may change it, and
 * `conflict` if the author has said the new text already.
 */
export function changeQuote(
  database: Database<Tables>,
  id: number,
  changes: Partial<QuoteContent>,
  rights: Rights,
): Promise<{ isWaiting: boolean }> {
  const { writer, isModerated } = rights;
  const key = { quoteId: id, userId: writer.id };
  return database.write(async (session) => {
    await session.lock(`quote ${id}`);
    const before = await changeable(session, id, rights);
    const after = { ...before, ...(await findChange(session, key)), ...changes };
    const fields = changedFields(before, after);
    const isWaiting = fields.length > 0 && isModerated && writer.isStaff === 0 && before.isPublished === 1;
    if (fields.length > 0) await checkDuplicate(session, after, writer);
    if (isWaiting) await putChange(session, { before, after, userId: writer.id, nowMs: writer.nowMs });
    else {
      await dropChange(session, key);
      if (fields.length === 0) return { isWaiting };
      await writeContent(session, after, writer.nowMs);
      const change = { model: 'quotes/quote', id, title: after.text, action: 'change', fields };
      await record(session, change, writer);
    }
    return { isWaiting };
  });
}

/** Writes the current text of a quote. */
export async function writeContent(
  session: WriteSession<Tables>,
  quote: Quote,
  nowMs: number,
): Promise<void> {
  await session.kysely
    .updateTable('quote')
    .set({ ...(await contentRow(session, quote)), updated_at_ms: nowMs })
    .where('id', '=', quote.id)
    .execute();
  if (quote.isPublished === 1) await indexQuote(session, quote.id);
}

/** The columns of what readers write, and of what follows from it. */
async function contentRow(session: WriteSession<Tables>, quote: QuoteContent) {
  const { category, ...columns } = contentOf(quote);
  return {
    ...columns,
    author_key: keyOf(quote.author),
    category_id: await categoryId(session, category),
    fingerprint: fingerprintOf(quote),
  };
}

/** Deletes a quote with its likes, comments and reports. Throws like {@link changeQuote}. */
export async function deleteQuote(database: Database<Tables>, id: number, rights: Rights): Promise<void> {
  await changeable(database, id, rights);
  await deleteRows(database, { table: 'quote', column: 'id', keys: [id] }, async (session) => {
    const { text } = await changeable(session, id, rights);
    await session.kysely.deleteFrom('quote').where('id', '=', id).execute();
    const change = { model: 'quotes/quote', id, title: text, action: 'delete', fields: [] };
    await record(session, change, rights.writer);
  });
}

/** Puts the words of a quote into the index as it is now, or takes them out if it is not published. */
export async function indexQuote(session: WriteSession<Tables>, id: number): Promise<void> {
  const quote = await findQuote(session, id);
  if (quote?.isPublished) await quoteWords.put(session, id, quote);
  else await quoteWords.remove(session, id);
}

/** The quote with this id, if the writer may change it. Throws `not_found` and `forbidden`. */
export async function changeable(
  session: Session<Tables>,
  id: number,
  { writer, isOpenEditing }: Rights,
): Promise<Quote> {
  const quote = await findQuote(session, id);
  if (!quote || !maySee(quote, writer)) throw notFound('quote', id);
  if (!mayChange(quote, writer, isOpenEditing)) throw forbidden();
  return quote;
}

/** The error of a reader who may see a quote but not change it. */
export function forbidden(): AppError {
  return new AppError('forbidden', 'You do not have permission to perform this action.');
}

/** Throws `conflict` if another quote is the same. */
export async function checkDuplicate(
  session: WriteSession<Tables>,
  quote: Quote,
  reader: Pick<Writer, 'id' | 'isStaff'>,
): Promise<void> {
  const fingerprint = fingerprintOf(quote);
  await lockFingerprint(session, fingerprint);
  const known = await byFingerprint(session, fingerprint);
  if (known && known.id !== quote.id) throw await alreadyHere(session, fingerprint, reader);
}

/** Locks a fingerprint; of two that write the same quote at once, the second sees the first. */
function lockFingerprint(session: WriteSession<Tables>, fingerprint: string): Promise<void> {
  return session.lock(`fingerprint ${fingerprint}`);
}

/** Names the quote that is the same, unless it waits for staff and is none of the reader's. */
async function alreadyHere(
  session: WriteSession<Tables>,
  fingerprint: string,
  reader: Pick<Writer, 'id' | 'isStaff'> | undefined,
): Promise<AppError> {
  const known = await byFingerprint(session, fingerprint);
  const text =
    known && maySee(known, reader)
      ? `This quote is already here: ${quotePath(pageRoutes.quote, known.id)}.`
      : 'This quote was already submitted.';
  return new AppError('conflict', text, { reason: 'DUPLICATE_QUOTE', fields: { text } });
}

function byFingerprint(session: Session<Tables>, fingerprint: string) {
  return session.kysely
    .selectFrom('quote')
    .select(['id', 'is_published as isPublished', 'created_by as createdBy'])
    .where('fingerprint', '=', fingerprint)
    .$castTo<Pick<Quote, 'id' | 'isPublished' | 'createdBy'>>()
    .executeTakeFirst();
}
