import { hash } from 'node:crypto';
import type { WriteSession } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import { networkOf } from '#kit/network.ts';
import type { Tables } from '../store.ts';
import { deleteFailures, insertFailure, nthLastFailure } from './store.ts';

type AttemptKind = 'totp' | 'link-code' | 'recovery';

/** Entering a code that could be a guess. */
interface Attempt {
  readonly kind: AttemptKind;
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
  readonly kinds?: readonly AttemptKind[];
}

const minuteMs = 60_000;

/** The longest time that a failure counts. */
export const failuresKeptMs = 30 * 24 * 60 * minuteMs;

const rules: readonly Rule[] = [
  { failuresMax: 5, windowMs: 15 * minuteMs, perNetwork: true },
  { failuresMax: 20, windowMs: 60 * minuteMs },
  // TOTP has a counter per user instead, which only a sign-in by link or passkey resets.
  { failuresMax: 100, windowMs: failuresKeptMs, kinds: ['link-code', 'recovery'] },
];

/**
 * For how many seconds attempts are refused; 0 if they are not. The caller holds the lock of the address until its own failure is
 * counted, so that attempts at the same moment, in any process, cannot get past the limit.
 */
export async function secondsBlocked(session: WriteSession<Tables>, attempt: Attempt): Promise<number> {
  let blockedMs = 0;
  for (const { failuresMax, windowMs, perNetwork = false, kinds } of rules) {
    if (kinds && !kinds.includes(attempt.kind)) continue;
    const nth = await nthLastFailure.first(session, {
      kind: attempt.kind,
      addressKey: keyOf(attempt.email),
      network: perNetwork ? networkOf(attempt.address) : null,
      skipped: failuresMax - 1,
    });
    if (nth) blockedMs = Math.max(blockedMs, nth.at_ms + windowMs - attempt.nowMs);
  }
  return Math.ceil(blockedMs / 1_000);
}

export async function countFailure(session: WriteSession<Tables>, attempt: Attempt): Promise<void> {
  const { kind, email, address, nowMs } = attempt;
  const network = networkOf(address);
  await insertFailure.run(session, { id: newId(), kind, addressKey: keyOf(email), network, nowMs });
}

export async function clearFailures(
  session: WriteSession<Tables>,
  { kind, email }: Pick<Attempt, 'kind' | 'email'>,
): Promise<void> {
  await deleteFailures.run(session, { kind, addressKey: keyOf(email) });
}

/** People type anything into an address field, so only its hash is stored. */
function keyOf(email: string): string {
  return hash('sha256', email, 'base64url');
}
