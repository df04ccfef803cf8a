import type { Clock } from '@octavo/core';
import { type Database, queriedGauges } from '@octavo/data';
import type { MailOutcome } from '@octavo/mail/delivery';
import { Counter, type Registry } from 'prom-client';
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
    const helps = {
      passwordless_mail_queue_depth: 'Mails that are pending or being sent, in all processes',
      passwordless_mail_oldest_age_seconds: 'Age of the oldest mail that is not finished; 0 if there is none',
    };
    queriedGauges(metrics, helps, async () => {
      const open = await openMails(database);
      const nowMs = clock.now();
      return {
        passwordless_mail_queue_depth: open?.entries ?? 0,
        passwordless_mail_oldest_age_seconds: Math.max(0, (nowMs - (open?.oldest_ms ?? nowMs)) / 1_000),
      };
    });
  }

  count(outcome: MailOutcome): void {
    this.#tries.inc({ outcome });
  }
}
