import { sql } from 'kysely';
import { type Executor, statement } from '#kit/db/index.ts';
import type { MagicLinkRow, Tables } from '../store.ts';

export type LinkRow = MagicLinkRow;

export const codeTriesMax = 5;
const liveMax = 3;
/** Written out, since a parameter would keep the databases from using the index of what is unused. */
const isUnused = sql<boolean>`used = 0`;

export const insertLink = statement<
  Tables,
  Record<'hash' | 'email' | 'codeHash', string> & {
    userId: string | null;
    nowMs: number;
    expiresMs: number;
  }
>((db, p) =>
  db.insertInto('magic_link').values({
    hash: p('hash'),
    email: p('email'),
    user_id: p('userId'),
    code_hash: p('codeHash'),
    code_tries: 0,
    used: 0,
    created_at_ms: p('nowMs'),
    expires_at_ms: p('expiresMs'),
  }),
);

const linksSince = statement<Tables, { email: string; sinceMs: number }, { links: number }>((db, p) =>
  db
    .selectFrom('magic_link')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('email', '=', p('email'))
    .where('created_at_ms', '>', p('sinceMs')),
);

/** How many links an address was sent after an instant. */
export async function countLinks(session: Executor, email: string, sinceMs: number): Promise<number> {
  return (await linksSince.first(session, { email, sinceMs }))?.links ?? 0;
}

/** Makes room for one more of the three links that an address may use, under the lock of the address: the oldest go. */
export const makeRoom = statement<Tables, { email: string }>((db, p) =>
  db
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', 'in', (eb) =>
      eb
        .selectFrom('magic_link')
        .select('hash')
        .where('email', '=', p('email'))
        .where(isUnused)
        .orderBy('created_at_ms', 'desc')
        .limit(100)
        .offset(liveMax - 1),
    ),
);

export const voidLinks = statement<Tables, { email: string }>((db, p) =>
  db.updateTable('magic_link').set({ used: 1 }).where('email', '=', p('email')).where(isUnused),
);

export const findLink = statement<Tables, { hash: string }, LinkRow>((db, p) =>
  db.selectFrom('magic_link').selectAll().where('hash', '=', p('hash')),
);

/** Uses a link up: of several who try, one changes a row. */
export const useLink = statement<Tables, { hash: string; nowMs: number }>((db, p) =>
  db
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', '=', p('hash'))
    .where(isUnused)
    .where('expires_at_ms', '>', p('nowMs')),
);

/** Counts a try against every code that an address may use, and gives those. */
export const tryCodes = statement<Tables, { email: string; nowMs: number }, LinkRow>((db, p) =>
  db
    .updateTable('magic_link')
    .set((eb) => ({ code_tries: eb('code_tries', '+', 1) }))
    .where('email', '=', p('email'))
    .where(isUnused)
    .where('expires_at_ms', '>', p('nowMs'))
    .where('code_tries', '<', codeTriesMax)
    .returningAll(),
);

/** Removes a slice of those that expired before. */
export const deleteExpiredLinks = statement<Tables, { beforeMs: number }>((db, p) =>
  db
    .deleteFrom('magic_link')
    .where('hash', 'in', (eb) =>
      eb.selectFrom('magic_link').select('hash').where('expires_at_ms', '<', p('beforeMs')).limit(500),
    ),
);
