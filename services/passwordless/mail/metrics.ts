import { Counter, type Registry } from 'prom-client';
import type { Clock } from '#kit/base/clock.ts';
import { type Database, queriedGauge } from '#kit/db/index.ts';
import type { MailOutcome } from '#kit/mail/delivery/index.ts';
import type { MailTables } from './store.ts';
import { openMails } from './store-admin.ts';

/** The metrics of the e-mail queue. */
export class MailMetrics {
  readonly #tries: Counter;

  constructor(metrics: Registry, database: Database<MailTables>, clock: Clock) {
    this.#tries = new Counter({
      name: 'passwordless_mail_tries_total',
      help: 'Tries to send a mail in this process, by result',
      labelNames: ['outcome'],
      registers: [metrics],
    });
    queriedGauge(metrics, {
      name: 'passwordless_mail_queue_depth',
      help: 'Mails that are pending or being sent, in all processes',
      read: async () => (await openMails(database))?.entries ?? 0,
    });
    queriedGauge(metrics, {
      name: 'passwordless_mail_oldest_age_seconds',
      help: 'Age of the oldest mail that is not finished; 0 if there is none',
      async read() {
        const sinceMs = (await openMails(database))?.oldest_ms ?? clock.now();
        return Math.max(0, (clock.now() - sinceMs) / 1_000);
      },
    });
  }

  count(outcome: MailOutcome): void {
    this.#tries.inc({ outcome });
  }
}
