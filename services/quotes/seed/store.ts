import type { Session, WriteSession } from '@octavo/data';
import { insertUser } from '@octavo/people/accounts';
import type { Tables } from '../tables.ts';

/** True if there are quotes, none of them with one of these texts. */
export async function holdsOnlyOthers(
  { kysely }: Session<Tables>,
  texts: readonly string[],
): Promise<boolean> {
  const any = kysely.selectFrom('quote').select('id').limit(1);
  if ((await any.executeTakeFirst()) === undefined) return false;
  return (await any.where('text', 'in', texts).executeTakeFirst()) === undefined;
}

/** The id of a demo reader, who is made if there is none of that name. An account of that name that can sign in is not the demo reader. */
export async function readerId(
  session: WriteSession<Tables>,
  { name, passwordHash, nowMs }: { name: string; passwordHash: string; nowMs: number },
): Promise<number> {
  const known = await session.kysely
    .selectFrom('auth_user')
    .select(['id', 'email', 'is_staff', 'last_sign_in_at_ms'])
    .where('username_key', '=', name)
    .executeTakeFirst();
  const isPerson = known && (known.email || known.is_staff || known.last_sign_in_at_ms !== null);
  if (isPerson) return readerId(session, { name: `${name}-demo`, passwordHash, nowMs });
  if (known) return known.id;
  const { id } = await insertUser(session, {
    username: name,
    username_key: name,
    email: null,
    password_hash: passwordHash,
    is_active: 1,
    is_staff: 0,
    is_superuser: 0,
    created_at_ms: nowMs,
    password_changed_at_ms: nowMs,
  });
  return id;
}

/** The id of a quote whose text begins like this. */
export async function findByText(session: Session<Tables>, text: string): Promise<number | undefined> {
  const row = await session.kysely
    .selectFrom('quote')
    .select('id')
    .where('text', '=', text)
    .executeTakeFirst();
  return row?.id;
}

export async function addLikes(
  session: WriteSession<Tables>,
  likes: readonly { quoteId: number; userId: number; nowMs: number }[],
): Promise<void> {
  if (likes.length === 0) return;
  const rows = likes
    .toSorted((a, b) => a.nowMs - b.nowMs)
    .map(({ quoteId, userId, nowMs }) => ({ quote_id: quoteId, user_id: userId, created_at_ms: nowMs }));
  await session.kysely.insertInto('quote_like').values(rows).execute();
}

export async function addComment(
  session: WriteSession<Tables>,
  { quoteId, userId, text, nowMs }: { quoteId: number; userId: number; text: string; nowMs: number },
): Promise<void> {
  const row = { quote_id: quoteId, user_id: userId, text, created_at_ms: nowMs };
  await session.kysely.insertInto('comment').values(row).execute();
}

/** Adds open reports of the quotes whose texts begin like this. */
export async function addReports(
  session: WriteSession<Tables>,
  reports: readonly { userId: number; start: string; reason: string; note: string; nowMs: number }[],
): Promise<void> {
  for (const { userId, start, reason, note, nowMs } of reports) {
    const quote = await session.kysely
      .selectFrom('quote')
      .select('id')
      .where('text', 'like', `${start}%`)
      .executeTakeFirst();
    if (!quote) continue;
    const row = { quote_id: quote.id, user_id: userId, reason, note, status: 'open', created_at_ms: nowMs };
    await session.kysely
      .insertInto('report')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
