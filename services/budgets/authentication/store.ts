import { sql } from 'kysely';
import { statement } from '#kit/db/index.ts';
import type { MailedLinkRow, Tables } from '../tables.ts';

/** Adds an account, unless the address is taken, and returns its number. */
export const insertAccount = statement<
  Tables,
  { id: string; email: string; username: string | null; passwordHash: string; nowMs: number }
>()((db, p) =>
  db
    .insertInto('account')
    .values({
      id: p('id'),
      email: p('email'),
      username: p('username'),
      password_hash: p('passwordHash'),
      email_verified: 0,
      disabled: 0,
      notification_seq: 0,
      created_at_ms: p('nowMs'),
      updated_at_ms: p('nowMs'),
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('number'),
);

export const accountByEmail = statement<Tables, { email: string }>()((db, p) =>
  db.selectFrom('account').selectAll().where('email', '=', p('email')),
);

export const accountByNumber = statement<Tables, { owner: number }>()((db, p) =>
  db.selectFrom('account').selectAll().where('number', '=', p('owner')),
);

export const insertSession = statement<
  Tables,
  { id: string; owner: number; nowMs: number; expiresAtMs: number }
>()((db, p) =>
  db
    .insertInto('session')
    .values({ id: p('id'), owner: p('owner'), created_at_ms: p('nowMs'), expires_at_ms: p('expiresAtMs') }),
);

/** Who a token is for. */
export const accountOfSession = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .selectFrom('session')
    .innerJoin('account', 'account.number', 'session.owner')
    .select(['account.number as owner', 'account.id as userId', 'account.disabled'])
    .select('session.expires_at_ms as expiresAtMs')
    .where('session.id', '=', p('id'))
    .where('session.expires_at_ms', '>', p('nowMs')),
);

/** Those of the sessions, given as a JSON array of ids, that have not ended. */
export const openSessions = statement<Tables, { ids: string; nowMs: number }>()((db, p, dialect) =>
  db
    .selectFrom('session')
    .innerJoin('account', 'account.number', 'session.owner')
    .select(['session.id', 'account.disabled'])
    .where(
      'session.id',
      'in',
      dialect === 'sqlite'
        ? sql<string>`(SELECT value FROM json_each(${p('ids')}))`
        : sql<string>`(SELECT jsonb_array_elements_text(${p('ids')}::jsonb))`,
    )
    .where('session.expires_at_ms', '>', p('nowMs')),
);

export const deleteSession = statement<Tables, { id: string }>()((db, p) =>
  db.deleteFrom('session').where('id', '=', p('id')),
);

/** Ends all sessions of an account except one. */
export const deleteSessionsOf = statement<Tables, { owner: number; except: string }>()((db, p) =>
  db.deleteFrom('session').where('owner', '=', p('owner')).where('id', '!=', p('except')),
);

export const deleteExpiredSessions = statement<Tables, { nowMs: number }>()((db, p) =>
  db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session').select('id').where('expires_at_ms', '<', p('nowMs')).limit(1_000),
    ),
);

export const setPassword = statement<Tables, { owner: number; passwordHash: string; nowMs: number }>()(
  (db, p) =>
    db
      .updateTable('account')
      .set({ password_hash: p('passwordHash'), updated_at_ms: p('nowMs') })
      .where('number', '=', p('owner')),
);

/** Replaces a hash that was made with another cost, if it was not changed meanwhile. */
export const rehash = statement<Tables, { owner: number; from: string; to: string }>()((db, p) =>
  db
    .updateTable('account')
    .set({ password_hash: p('to') })
    .where('number', '=', p('owner'))
    .where('password_hash', '=', p('from')),
);

/** An e-mail address counts as verified only if it is still the one of the account. */
export const verifyAddress = statement<Tables, { owner: number; email: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('account')
    .set({ email_verified: 1, updated_at_ms: p('nowMs') })
    .where('number', '=', p('owner'))
    .where('email', '=', p('email')),
);

export const updateAccount = statement<
  Tables,
  { owner: number; username: string | null; email: string; verified: boolean; nowMs: number }
>()((db, p) =>
  db
    .updateTable('account')
    .set({
      username: p('username'),
      email: p('email'),
      email_verified: p('verified') as never,
      updated_at_ms: p('nowMs'),
    })
    .where('number', '=', p('owner'))
    .returningAll(),
);

export const deleteAccount = statement<Tables, { owner: number }>()((db, p) =>
  db.deleteFrom('account').where('number', '=', p('owner')),
);

// Links in mails

export const insertLink = statement<
  Tables,
  Pick<MailedLinkRow, 'id' | 'owner' | 'kind' | 'email'> & { nowMs: number; expiresAtMs: number }
>()((db, p) =>
  db.insertInto('mailed_link').values({
    id: p('id'),
    owner: p('owner'),
    kind: p('kind'),
    email: p('email'),
    created_at_ms: p('nowMs'),
    expires_at_ms: p('expiresAtMs'),
  }),
);

export const countRecentLinks = statement<
  Tables,
  { owner: number; kind: MailedLinkRow['kind']; sinceMs: number }
>()((db, p) =>
  db
    .selectFrom('mailed_link')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('owner', '=', p('owner'))
    .where('kind', '=', p('kind'))
    .where('created_at_ms', '>', p('sinceMs')),
);

export const findLink = statement<Tables, { id: string }>()((db, p) =>
  db.selectFrom('mailed_link').selectAll().where('id', '=', p('id')),
);

/** Of several requests with the same link, one gets it. */
export const takeLink = statement<Tables, { id: string; kind: MailedLinkRow['kind']; nowMs: number }>()(
  (db, p) =>
    db
      .deleteFrom('mailed_link')
      .where('id', '=', p('id'))
      .where('kind', '=', p('kind'))
      .where('expires_at_ms', '>', p('nowMs'))
      .returning(['owner', 'email']),
);

export const deleteLinksOf = statement<Tables, { owner: number; kind: MailedLinkRow['kind'] }>()((db, p) =>
  db.deleteFrom('mailed_link').where('owner', '=', p('owner')).where('kind', '=', p('kind')),
);

export const markSent = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('mailed_link')
    .set({ sent_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** Links whose mail was not sent, although it was written some time ago. */
export const unsentLinks = statement<Tables, { beforeMs: number; nowMs: number }>()((db, p) =>
  db
    .selectFrom('mailed_link')
    .select('id')
    .where(sql<boolean>`sent_at_ms IS NULL`)
    .where('created_at_ms', '<', p('beforeMs'))
    .where('expires_at_ms', '>', p('nowMs'))
    .limit(100),
);

export const deleteExpiredLinks = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('mailed_link')
    .where('id', 'in', (eb) =>
      eb.selectFrom('mailed_link').select('id').where('expires_at_ms', '<', p('beforeMs')).limit(1_000),
    ),
);

// Idempotency-Keys of requests without a session

export const findAnonymousKey = statement<Tables, { keyHash: string; sinceMs: number }>()((db, p) =>
  db
    .selectFrom('anonymous_key')
    .select(['digest', 'result'])
    .where('key_hash', '=', p('keyHash'))
    .where('created_at_ms', '>', p('sinceMs')),
);

/** Replaces one that has expired. */
export const putAnonymousKey = statement<
  Tables,
  { keyHash: string; owner: number | null; digest: string; result: string; nowMs: number }
>()((db, p) => {
  const values = {
    owner: p('owner'),
    digest: p('digest'),
    result: p('result'),
    created_at_ms: p('nowMs'),
  };
  return db
    .insertInto('anonymous_key')
    .values({ key_hash: p('keyHash'), ...values })
    .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(values));
});

/** Deletes at most 1,000 of the keys that have expired. */
export const sweepAnonymousKeys = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('anonymous_key')
    .where('key_hash', 'in', (eb) =>
      eb
        .selectFrom('anonymous_key')
        .select('key_hash')
        .where('created_at_ms', '<', p('beforeMs'))
        .limit(1_000),
    ),
);
