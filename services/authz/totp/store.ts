import type { Session } from '@octavo/data';
import type { Insertable } from 'kysely';

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

export function findTotp({ kysely }: Session<TotpTables>, uid: number) {
  return kysely.selectFrom('totp').selectAll().where('uid', '=', uid).executeTakeFirst();
}

/** Stores a secret to be confirmed; it replaces a pending one, but changes nothing if TOTP is enabled. */
export function putPendingTotp(
  { kysely }: Session<TotpTables>,
  { uid, secret, nowMs }: { uid: number; secret: string; nowMs: number },
) {
  return kysely
    .insertInto('totp')
    .values({
      uid,
      secret,
      enabled: 0,
      last_step: 0,
      failures: 0,
      created_at_ms: nowMs,
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
    )
    .executeTakeFirst();
}

/** Accepts a code once: steps only go forward. The first code enables TOTP. */
export function acceptTotpStep(
  { kysely }: Session<TotpTables>,
  { uid, secret, step }: { uid: number; secret: string; step: number },
) {
  return kysely
    .updateTable('totp')
    .set({ enabled: 1, last_step: step, failures: 0 })
    .where('uid', '=', uid)
    .where('secret', '=', secret)
    .where('last_step', '<', step)
    .executeTakeFirst();
}

export function countTotpFailure({ kysely }: Session<TotpTables>, uid: number, secret: string) {
  return kysely
    .updateTable('totp')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('uid', '=', uid)
    .where('secret', '=', secret)
    .execute();
}

export function deleteTotp({ kysely }: Session<TotpTables>, uid: number) {
  return kysely.deleteFrom('totp').where('uid', '=', uid).execute();
}

export function insertTotpFailure(
  { kysely }: Session<TotpTables>,
  row: Insertable<TotpTables['totp_failure']>,
) {
  return kysely.insertInto('totp_failure').values(row).execute();
}

/** The failures of an account between two times, latest first. */
export function findTotpFailures(
  { kysely }: Session<TotpTables>,
  { uid, afterMs, untilMs }: { uid: number; afterMs: number; untilMs: number },
) {
  return kysely
    .selectFrom('totp_failure')
    .select(['network', 'at_ms'])
    .where('uid', '=', uid)
    .where('at_ms', '>', afterMs)
    .where('at_ms', '<=', untilMs)
    .orderBy('at_ms', 'desc')
    .execute();
}

export function clearTotpFailures({ kysely }: Session<TotpTables>, uid: number, network: string) {
  return kysely.deleteFrom('totp_failure').where('uid', '=', uid).where('network', '=', network).execute();
}

export function clearAllTotpFailures({ kysely }: Session<TotpTables>, uid: number) {
  return kysely.deleteFrom('totp_failure').where('uid', '=', uid).execute();
}

export function sweepTotpFailures({ kysely }: Session<TotpTables>, cutoffMs: number) {
  return kysely.deleteFrom('totp_failure').where('at_ms', '<=', cutoffMs).execute();
}
