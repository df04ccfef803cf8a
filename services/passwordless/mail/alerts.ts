import { setImmediate } from 'node:timers/promises';
import type { Database } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import type { SecurityMail } from './mail.ts';
import type { MailQueue } from './queue.ts';
import type { MailTables } from './store.ts';

/**
 * Mails to the owner of an address about what a stranger tried. They are queued after the response to the stranger, whose time would
 * otherwise tell that the address has an owner.
 */
export class Alerts implements AsyncDisposable {
  readonly #database: Database<MailTables>;
  readonly #mails: MailQueue;
  readonly #log: Log;
  readonly #pending = new Set<Promise<void>>();

  constructor({ database, mails, log }: { database: Database<MailTables>; mails: MailQueue; log: Log }) {
    this.#database = database;
    this.#mails = mails;
    this.#log = log;
  }

  send(mail: SecurityMail): void {
    const sending = this.#send(mail).finally(() => this.#pending.delete(sending));
    this.#pending.add(sending);
  }

  /** Waits until all mails are queued. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #send(mail: SecurityMail): Promise<void> {
    try {
      await setImmediate();
      await this.#database.write((session) => this.#mails.enqueue(session, mail));
      this.#mails.wakeWorkers();
    } catch (error) {
      this.#log.error({ err: error, event: mail.event }, 'a security mail could not be queued');
    }
  }
}
