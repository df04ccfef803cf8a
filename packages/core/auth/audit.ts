import { Counter, type Registry } from 'prom-client';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

/** Facts about an event. Never e-mail addresses or secrets. */
export interface AuditFacts {
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The address of the client. */
  readonly address?: string | undefined;
}

export interface AuditTrailOptions<Event extends string> {
  readonly log: Log;
  readonly metrics: Registry;
  /** The name of the metric that counts events, with the label `event`. */
  readonly metric: string;
  /** Events that are logged as warnings. */
  readonly alarming: readonly Event[];
}

/** Records security events: a log line and a count for each. */
export class AuditTrail<Event extends string> {
  readonly #log: Log;
  readonly #alarming: ReadonlySet<Event>;
  readonly #events: Counter<'event'>;

  constructor({ log, metrics, metric, alarming }: AuditTrailOptions<Event>) {
    this.#log = log;
    this.#alarming = new Set(alarming);
    this.#events = new Counter({
      name: metric,
      help: 'Security events such as sign-ins, failures and revocations.',
      labelNames: ['event'],
      registers: [metrics],
    });
  }

  note(event: Event, facts: AuditFacts): void {
    this.#events.inc({ event });
    this.#log[this.#alarming.has(event) ? 'warn' : 'info']({ event, ...facts }, event);
  }
}

/**
 * Returns what a sign-in with a password returns or throws, and logs its outcome under the names of the OWASP Logging Vocabulary: with the
 * id of the user, and never with the name that was typed, which is sometimes a password.
 */
export async function logSignIn<T>(
  log: Log,
  signIn: () => Promise<T>,
  userIdOf: (signedIn: T) => string | number,
): Promise<T> {
  try {
    const signedIn = await signIn();
    log.info({ event: 'authn_login_success', userId: userIdOf(signedIn) }, 'authn_login_success');
    return signedIn;
  } catch (error) {
    const { code } = error instanceof AppError ? error : {};
    if (code === 'unauthenticated') log.info({ event: 'authn_login_fail' }, 'authn_login_fail');
    if (code === 'rate_limited' || code === 'locked')
      log.warn({ event: 'authn_login_lock' }, 'authn_login_lock');
    throw error;
  }
}
