import { sql } from 'kysely';
import { type Executor, statement } from '#kit/db/index.ts';
import type { MagicLinkRow, Tables } from '../store.ts';

export type LinkRow = MagicLinkRow;
/** Who asked for a link: somebody without a token, or a user of the address with theirs. */
export type LinkAsker = MagicLinkRow['asker'];

const codeTriesMax = 5;
/** Links of an address that work at the same time, for each kind of asker. */
export const liveLinksMax = 3;
/** A literal, since with a parameter the databases would not use the partial index of unused links. */
const isUnused = sql<boolean>`used = 0`;

export const insertLink = statement<
  Tables,
  Record<'hash' | 'email' | 'codeHash', string> & {
    asker: LinkAsker;
    nowMs: number;
    expiresMs: number;
  }
>()((db, p) =>
  db.insertInto('magic_link').values({
    hash: p('hash'),
    email: p('email'),
    asker: p('asker'),
    code_hash: p('codeHash'),
    code_tries: 0,
    used: 0,
    created_at_ms: p('nowMs'),
    expires_at_ms: p('expiresMs'),
  }),
);

const linksSince = statement<Tables, { email: string; asker: LinkAsker; sinceMs: number }>()((db, p) =>
  db
    .selectFrom('magic_link')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('email', '=', p('email'))
    .where('asker', '=', p('asker'))
    .where('created_at_ms', '>', p('sinceMs')),
);

/** How many links an asker had sent to an address since then. */
export async function countLinks(
  session: Executor,
  since: { email: string; asker: LinkAsker; sinceMs: number },
): Promise<number> {
  return (await linksSince.first(session, since))?.links ?? 0;
}

/** Voids the oldest links of an asker, so that a new one is at most the third. The caller holds the lock of the address. */
export const voidOldestLinks = statement<Tables, { email: string; asker: LinkAsker }>()((db, p) =>
  db
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', 'in', (eb) =>
      eb
        .selectFrom('magic_link')
        .select('hash')
        .where('email', '=', p('email'))
        .where('asker', '=', p('asker'))
        .where(isUnused)
        .orderBy('created_at_ms', 'desc')
        .limit(100)
        .offset(liveLinksMax - 1),
    ),
);

export const voidLinks = statement<Tables, { email: string }>()((db, p) =>
  db.updateTable('magic_link').set({ used: 1 }).where('email', '=', p('email')).where(isUnused),
);

export const findLink = statement<Tables, { hash: string }>()((db, p) =>
  db.selectFrom('magic_link').selectAll().where('hash', '=', p('hash')),
);

/** Of several requests at once, only the winner changes a row. */
export const useLink = statement<Tables, { hash: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', '=', p('hash'))
    .where(isUnused)
    .where('expires_at_ms', '>', p('nowMs')),
);

/** Counts a try for every valid code of an address, and returns their links. */
export const tryCodes = statement<Tables, { email: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('magic_link')
    .set((eb) => ({ code_tries: eb('code_tries', '+', 1) }))
    .where('email', '=', p('email'))
    .where(isUnused)
    .where('expires_at_ms', '>', p('nowMs'))
    .where('code_tries', '<', codeTriesMax)
    .returningAll(),
);

/** Deletes at most 500. */
export const deleteExpiredLinks = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('magic_link')
    .where('hash', 'in', (eb) =>
      eb.selectFrom('magic_link').select('hash').where('expires_at_ms', '<', p('beforeMs')).limit(500),
    ),
);
