import { Counter, type Registry } from 'prom-client';
import type { Log } from '../log.ts';

/** Whom and what an event is about. No address of e-mail, no secret. */
export interface AuditFacts {
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** The address of the client. */
  readonly address?: string | undefined;
}

export interface AuditTrailOptions<Event extends string> {
  readonly log: Log;
  readonly metrics: Registry;
  /** The figure that counts events, by the label `event`. */
  readonly figure: string;
  /** Events that are logged as warnings. */
  readonly alarming: readonly Event[];
}

/** One line in the log and one count for each thing that an auditor asks about. */
export class AuditTrail<Event extends string> {
  readonly #log: Log;
  readonly #alarming: ReadonlySet<Event>;
  readonly #events: Counter<'event'>;

  constructor({ log, metrics, figure, alarming }: AuditTrailOptions<Event>) {
    this.#log = log;
    this.#alarming = new Set(alarming);
    this.#events = new Counter({
      name: figure,
      help: 'Sign-ins, refusals, revocations and the like.',
      labelNames: ['event'],
      registers: [metrics],
    });
  }

  note(event: Event, facts: AuditFacts): void {
    this.#events.inc({ event });
    this.#log[this.#alarming.has(event) ? 'warn' : 'info']({ event, ...facts }, event);
  }
}
