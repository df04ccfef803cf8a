import { createHmac, hkdfSync } from 'node:crypto';

/** The place of a quote among those of a round: a whole number that cannot be foretold without the secret. */
export type DayKeys = (fingerprint: string, round: number) => number;

/** Creates the keys of each round, by which the quotes stand in another order. */
export function createDayKeys(secret: string): DayKeys {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'quote of the day', 32));
  return (fingerprint, round) =>
    createHmac('sha256', key).update(`${round}:${fingerprint}`).digest().readUIntBE(0, 6);
}

/** The day of a time in UTC, such as `2026-01-31`, and how many seconds are left of it. */
export function dayOf(nowMs: number): { day: string; secondsLeft: number } {
  const dayMs = 86_400_000;
  const restMs = dayMs - (nowMs % dayMs);
  return { day: new Date(nowMs).toISOString().slice(0, 10), secondsLeft: Math.floor(restMs / 1_000) };
}
