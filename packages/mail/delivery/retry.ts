import type { MailError } from '../mailer.ts';
import type { QueuedMail, Verdict } from './queue.ts';

/** Number of tries, and the delays between them. */
export interface RetryPolicy {
  readonly triesMax: number;
  /** Wait before the second try; doubles with each try. */
  readonly firstMs: number;
  readonly maxMs: number;
}

type Tried = Pick<QueuedMail, 'attempts' | 'expires_at_ms'>;

const jitter = 0.2;

/** Reason for an entry to fail without another try; undefined if it should be tried. `attempts` includes the coming try. */
export function reasonToFail(
  { attempts, expires_at_ms }: Tried,
  nowMs: number,
  policy: RetryPolicy,
): string | undefined {
  if (expires_at_ms <= nowMs) return 'expired';
  // Only a worker that crashed while sending leaves an entry with too many tries.
  if (attempts > policy.triesMax) return `workers crashed at it ${policy.triesMax} times`;
  return undefined;
}

/** Outcome of a try that failed because of the mail itself, or by chance. */
export function afterFailure(
  entry: Tried,
  error: MailError,
  { nowMs, policy, random = Math.random }: { nowMs: number; policy: RetryPolicy; random?: () => number },
): Verdict {
  const reason = reasonOf(error);
  if (error.fault === 'rejected') return { status: 'failed', reason };
  if (entry.attempts >= policy.triesMax)
    return { status: 'failed', reason: `failed after ${entry.attempts} tries: ${reason}` };
  const nextTryAtMs = nowMs + backoffMs(entry.attempts, policy, random);
  if (nextTryAtMs >= entry.expires_at_ms)
    return { status: 'failed', reason: `expired before another try: ${reason}` };
  return { status: 'pending', nextTryAtMs, attempts: entry.attempts, reason };
}

/** Outcome of a try that would have failed with any mail: it does not count. */
export function withoutCounting(entry: Tried, nextTryAtMs: number, error: MailError | undefined): Verdict {
  return {
    status: 'pending',
    nextTryAtMs,
    attempts: entry.attempts - 1,
    reason: error ? reasonOf(error) : null,
  };
}

/** The wait after a number of tries, with jitter of a fifth, so that mails that failed together are not retried together. */
export function backoffMs(
  tries: number,
  { firstMs, maxMs }: Pick<RetryPolicy, 'firstMs' | 'maxMs'>,
  random: () => number = Math.random,
): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(tries - 1, 30));
  return Math.round(fullMs * (1 - jitter + 2 * jitter * random()));
}

function reasonOf({ code, message }: MailError): string {
  return `${code}: ${message}`.replace(/\s+/g, ' ').slice(0, 400);
}
