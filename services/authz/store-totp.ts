import { statement } from '#kit/db/index.ts';

export interface TotpTables {
  totp: TotpRow;
  totp_failure: FailureRow;
}

/** The authenticator app of an account. */
export interface TotpRow {
  uid: number;
  /** Encrypted. */
  secret: string;
  enabled: number;
  /** The step of the last code that was accepted; codes of earlier steps no longer count. */
  last_step: number;
  /** Wrong codes since the last correct one. */
  failures: number;
  created_at_ms: number;
}

interface FailureRow {
  id: string;
  uid: number;
  network: string;
  at_ms: number;
}

export const findTotp = statement<TotpTables, { uid: number }>()((db, p) =>
  db.selectFrom('totp').selectAll().where('uid', '=', p('uid')),
);

/** Stores a secret to be confirmed; it replaces a pending one, but changes nothing if TOTP is enabled. */
export const putPendingTotp = statement<TotpTables, { uid: number; secret: string; nowMs: number }>()(
  (db, p) =>
    db
      .insertInto('totp')
      .values({
        uid: p('uid'),
        secret: p('secret'),
        enabled: 0,
        last_step: 0,
        failures: 0,
        created_at_ms: p('nowMs'),
      })
      .onConflict((conflict) =>
        conflict
          .column('uid')
          .doUpdateSet((eb) => ({
            secret: eb.ref('excluded.secret'),
            last_step: 0,
            failures: 0,
            created_at_ms: eb.ref('excluded.created_at_ms'),
          }))
          .where('totp.enabled', '=', 0),
      ),
);

/** Accepts a code once: steps only go forward. The first code enables TOTP. */
export const acceptTotpStep = statement<TotpTables, { uid: number; secret: string; step: number }>()(
  (db, p) =>
    db
      .updateTable('totp')
      .set({ enabled: 1, last_step: p('step'), failures: 0 })
      .where('uid', '=', p('uid'))
      .where('secret', '=', p('secret'))
      .where('last_step', '<', p('step')),
);

export const countTotpFailure = statement<TotpTables, { uid: number; secret: string }>()((db, p) =>
  db
    .updateTable('totp')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('uid', '=', p('uid'))
    .where('secret', '=', p('secret')),
);

export const deleteTotp = statement<TotpTables, { uid: number }>()((db, p) =>
  db.deleteFrom('totp').where('uid', '=', p('uid')),
);

export const insertTotpFailure = statement<
  TotpTables,
  { id: string; uid: number; network: string; nowMs: number }
>()((db, p) =>
  db
    .insertInto('totp_failure')
    .values({ id: p('id'), uid: p('uid'), network: p('network'), at_ms: p('nowMs') }),
);

/** The failures of an account between two times, latest first. */
export const findTotpFailures = statement<TotpTables, { uid: number; afterMs: number; untilMs: number }>()(
  (db, p) =>
    db
      .selectFrom('totp_failure')
      .select(['network', 'at_ms'])
      .where('uid', '=', p('uid'))
      .where('at_ms', '>', p('afterMs'))
      .where('at_ms', '<=', p('untilMs'))
      .orderBy('at_ms', 'desc'),
);

export const clearTotpFailures = statement<TotpTables, { uid: number; network: string }>()((db, p) =>
  db.deleteFrom('totp_failure').where('uid', '=', p('uid')).where('network', '=', p('network')),
);

export const clearAllTotpFailures = statement<TotpTables, { uid: number }>()((db, p) =>
  db.deleteFrom('totp_failure').where('uid', '=', p('uid')),
);

export const sweepTotpFailures = statement<TotpTables, { cutoffMs: number }>()((db, p) =>
  db.deleteFrom('totp_failure').where('at_ms', '<=', p('cutoffMs')),
);
