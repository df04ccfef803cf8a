import type { Clock } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { MailStatus, MailTables } from './store.ts';
import { findMail, listMails, purgeMails, retryMails } from './store-admin.ts';

/** An entry of the queue, without the text of its mail. */
export type QueuedMail = Awaited<ReturnType<typeof listMails>>[number];

/** Actions of operators on the queue. */
export class MailQueueAdmin {
  readonly #database: Database<MailTables>;
  readonly #clock: Clock;
  readonly #onDue: () => void;

  constructor(parts: { database: Database<MailTables>; clock: Clock; onDue: () => void }) {
    this.#database = parts.database;
    this.#clock = parts.clock;
    this.#onDue = parts.onDue;
  }

  /** Newest first. */
  list(options: { status?: MailStatus | undefined; limit: number }): Promise<QueuedMail[]> {
    return listMails(this.#database, options);
  }

  /** Makes pending mails due now, all or one, and resets their tries. Returns their number. Finished mails no longer have a text. */
  async retry(id?: string): Promise<number> {
    const count = await retryMails(this.#database, { id, nowMs: this.#clock.now() });
    if (count > 0) this.#onDue();
    if (count === 0 && id !== undefined) await this.#explain(id);
    return count;
  }

  /** Deletes entries with these states, and returns how many. */
  purge(statuses: readonly Exclude<MailStatus, 'sending'>[]): Promise<number> {
    return purgeMails(this.#database, statuses);
  }

  async #explain(id: string): Promise<never> {
    const mail = await findMail(this.#database, id);
    if (!mail) throw notFound('mail', id);
    if (mail.status === 'sending') throw new AppError('conflict', `mail ${id} is being sent`);
    const why = mail.status === 'pending' ? 'it has expired' : 'its text was removed';
    throw new AppError('conflict', `mail ${id} is ${mail.status} and cannot be sent again: ${why}`);
  }
}
