import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import { deleteExpiredLinks } from './magic-links/index.ts';
import {
  deleteExpiredLogouts,
  deleteExpiredRecords,
  deleteExpiredSignIns,
  releaseExpiredSignIns,
} from './oidc/index.ts';
import { deleteExpiredCeremonies } from './passkeys/index.ts';
import { deleteExpiredSessions } from './sessions/index.ts';
import { deleteOldEvents } from './store/audit.ts';
import type { Tables } from './store/store.ts';
import { deletePendingSecrets } from './totp/index.ts';
import { deleteIdleUsers, deleteOldFailures } from './users/index.ts';

interface CleanupOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly auditDays: number;
}

const dayMs = 86_400_000;
/** Expired links and tokens are kept this long, so that the error says that they expired and not that they are unknown. */
const graceMs = dayMs;

/** Deletes expired rows of all features, a limited number at a time. Several processes may do it at once. */
export async function deleteExpiredRows({ database, clock, auditDays }: CleanupOptions): Promise<void> {
  const nowMs = clock.now();
  await deleteExpiredLinks(database, nowMs - graceMs);
  await releaseExpiredSignIns(database, nowMs - graceMs);
  await deleteExpiredSessions(database, nowMs - graceMs);
  await deleteExpiredCeremonies(database, nowMs);
  await deletePendingSecrets(database, nowMs - dayMs);
  await deleteIdleUsers(database, nowMs - dayMs);
  await deleteOldFailures(database, nowMs);
  await deleteExpiredRecords(database, nowMs);
  await deleteExpiredSignIns(database, nowMs);
  await deleteExpiredLogouts(database, nowMs);
  await deleteOldEvents(database, nowMs - auditDays * dayMs);
}
