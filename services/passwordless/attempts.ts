import { hash } from 'node:crypto';
import type { WriteSession } from '#kit/db/index.ts';
import { newId } from '#kit/ids.ts';
import { networkOf } from '#kit/network.ts';
import { forgetFailures, insertFailure, nthLastFailure } from './store-attempts.ts';
import type { Tables } from './tables.ts';

/** What was guessed at. */
export type GuessKind = 'totp' | 'link-code' | 'recovery';

/** A guess, and where it came from. */
export interface Guess {
  readonly kind: GuessKind;
  readonly email: string;
  readonly address: string;
  readonly nowMs: number;
}

interface Rule {
  readonly failuresMax: number;
  readonly windowMs: number;
  /** Counts those from the same network only. */
  readonly perNetwork?: boolean;
  readonly kinds?: readonly GuessKind[];
}

const minuteMs = 60_000;

/** How long a failure may count. */
export const failuresKeptMs = 30 * 24 * 60 * minuteMs;

const rules: readonly Rule[] = [
  { failuresMax: 5, windowMs: 15 * minuteMs, perNetwork: true },
  { failuresMax: 20, windowMs: 60 * minuteMs },
  // TOTP has its own count for each user, which only a link or a passkey takes back.
  { failuresMax: 100, windowMs: failuresKeptMs, kinds: ['link-code', 'recovery'] },
];

/**
 * Until when guesses are refused, in seconds from now; 0 where they are not. The caller holds the lock of the address until its own
 * failure is counted, so that guesses at once, here or in another process, cannot outrun the count.
 */
export async function secondsBlocked(session: WriteSession<Tables>, guess: Guess): Promise<number> {
  let blockedMs = 0;
  for (const { failuresMax, windowMs, perNetwork = false, kinds } of rules) {
    if (kinds && !kinds.includes(guess.kind)) continue;
    const nth = await nthLastFailure.first(session, {
      kind: guess.kind,
      addressKey: keyOf(guess.email),
      network: perNetwork ? networkOf(guess.address) : null,
      skipped: failuresMax - 1,
    });
    if (nth) blockedMs = Math.max(blockedMs, nth.at_ms + windowMs - guess.nowMs);
  }
  return Math.ceil(blockedMs / 1_000);
}

export async function countFailure(session: WriteSession<Tables>, guess: Guess): Promise<void> {
  const { kind, email, address, nowMs } = guess;
  const network = networkOf(address);
  await insertFailure.run(session, { id: newId(), kind, addressKey: keyOf(email), network, nowMs });
}

export async function forgetGuesses(
  session: WriteSession<Tables>,
  { kind, email }: Pick<Guess, 'kind' | 'email'>,
): Promise<void> {
  await forgetFailures.run(session, { kind, addressKey: keyOf(email) });
}

/** People type anything into a box for addresses; it is not kept. */
function keyOf(email: string): string {
  return hash('sha256', email, 'base64url');
}
