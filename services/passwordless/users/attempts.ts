import { hash } from 'node:crypto';
import { networkOf, newId } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import type { Store, Tables } from '../store/store.ts';
import { deleteFailures, deleteFailuresOutside, insertFailure, nthLastFailure } from './store.ts';
import type { User } from './user.ts';

/**
 * Owner of counted wrong TOTP codes: the owner of an address, or everybody. A right code of a stranger with a user at the
 * address thus clears nothing of the owner's. At an address whose owner has no app, codes are counted as `nobody`'s instead,
 * which takes as long.
 */
type FailureCounter = 'owner' | 'everybody' | 'nobody';

/** Entering a TOTP code that could be a guess. */
interface Attempt {
  readonly email: string;
  /** The address of the client. */
  readonly address: string;
  readonly nowMs: number;
}

interface Rule {
  readonly failuresMax: number;
  readonly windowMs: number;
  /** Counts only failures from the same network. */
  readonly perNetwork?: boolean;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/**
 * Largest difference between the clocks of several processes. Failures later than that do not count: a clock was ahead and was
 * put right.
 */
const skewMs = minuteMs;

const rules: readonly Rule[] = [
  { failuresMax: 5, windowMs: 15 * minuteMs, perNetwork: true },
  { failuresMax: 20, windowMs: hourMs },
];

/**
 * For how many seconds attempts are refused; 0 if they are not. The caller holds the lock of the address until its own failure is
 * counted, so that attempts at the same moment, in any process, cannot get past the limit.
 */
export async function secondsBlocked(
  session: WriteSession<Tables>,
  kind: FailureCounter,
  { email, address, nowMs }: Attempt,
): Promise<number> {
  let blockedMs = 0;
  for (const { failuresMax, windowMs, perNetwork = false } of rules) {
    const nth = await nthLastFailure(session, {
      kind,
      addressKey: keyOf(email),
      network: perNetwork ? networkOf(address) : null,
      untilMs: nowMs + skewMs,
      skipped: failuresMax - 1,
    });
    if (nth) blockedMs = Math.max(blockedMs, Math.min(nth.at_ms, nowMs) + windowMs - nowMs);
  }
  return Math.ceil(blockedMs / 1_000);
}

export async function countFailure(
  session: WriteSession<Tables>,
  kind: FailureCounter,
  { email, address, nowMs }: Attempt,
): Promise<void> {
  const network = networkOf(address);
  await insertFailure(session, { id: newId(), kind, address_key: keyOf(email), network, at_ms: nowMs });
}

/**
 * Clears the counters of a user who signed in: those of one network after a TOTP code, all of them after a link or a passkey. The counter of the owner
 * of the address is cleared only by them.
 */
export async function clearFailures(
  session: WriteSession<Tables>,
  { email, isVerified }: User,
  address?: string,
): Promise<void> {
  await deleteFailures(session, {
    addressKey: keyOf(email),
    keptKind: isVerified ? 'nobody' : 'owner',
    network: address === undefined ? null : networkOf(address),
  });
}

/** Deletes at most 500 failures that no longer count. */
export async function deleteOldFailures(database: Store, nowMs: number): Promise<void> {
  await deleteFailuresOutside(database, nowMs - hourMs, nowMs + skewMs);
}

/** People type anything into an address field, so only its hash is stored. */
function keyOf(email: string): string {
  return hash('sha256', email, 'base64url');
}
