import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { MailStatus, MailTables } from './store.ts';
import { findMail, listMails, purgeMails, retryMails } from './store-admin.ts';

export const mailStatuses = ['pending', 'sending', 'sent', 'failed'] as const satisfies readonly MailStatus[];

/** An entry of the queue, without what its mail says. */
export type QueuedMail = Awaited<ReturnType<typeof listMails>>[number];

/** What an operator may do with the queue. */
export class MailQueueAdmin {
  readonly #database: Database<MailTables>;
  readonly #clock: Clock;
  readonly #onDue: () => void;

  constructor(parts: { database: Database<MailTables>; clock: Clock; onDue: () => void }) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#onDue = parts.onDue;
  }

  /** The newest first. */
  list(options: { status?: MailStatus | undefined; limit: number }): Promise<QueuedMail[]> {
    return listMails(this.#database, options);
  }

  /** Makes what waits due now, with all its tries ahead; how many. What was dealt with cannot come back: its text is gone. */
  async retry(id?: string): Promise<number> {
    const count = await retryMails(this.#database, { id, nowMs: this.#clock.now() });
    if (count > 0) this.#onDue();
    if (count === 0 && id !== undefined) await this.#explain(id);
    return count;
  }

  /** Removes entries of these states; how many. */
  purge(statuses: readonly Exclude<MailStatus, 'sending'>[]): Promise<number> {
    return purgeMails(this.#database, statuses);
  }

  async #explain(id: string): Promise<never> {
    const mail = await findMail(this.#database, id);
    if (!mail) throw notFound('mail', id);
    if (mail.status === 'sending') throw new AppError('conflict', `mail ${id} is being sent`);
    const why = mail.status === 'pending' ? 'what it says has expired' : 'its text was removed';
    throw new AppError('conflict', `mail ${id} is ${mail.status} and cannot be sent again: ${why}`);
  }
}
