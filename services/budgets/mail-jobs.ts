import type { JobQueue } from '@octavo/data/jobs';
import type { Mailer, Sender } from '@octavo/mail';
import type { Context } from './commands.ts';
import { type PlainMail, sendMail } from './mailer.ts';

export interface MailJobsOptions {
  readonly context: Context;
  readonly queue: JobQueue;
  readonly mailer: Mailer;
  readonly sender: Sender;
  /** The address of the service, for links. */
  siteUrl(): string;
}

/** Rows that are mailed once, to one person each. */
export interface MailedRows {
  readonly jobKind: string;
  /** The mail of a row; undefined if it was sent, or is not to be sent anymore. */
  mailOf(id: string, nowMs: number): Promise<PlainMail | undefined>;
  markSent(id: string, nowMs: number): Promise<unknown>;
  /** Rows from before a time whose mail was not sent. */
  unsent(beforeMs: number, nowMs: number): Promise<readonly { readonly id: string }[]>;
  deleteExpired(nowMs: number): Promise<void>;
}

const attemptsMax = 8;
const lostAfterMs = 60_000;

/** Sends the mails of rows, by jobs that are tried again. */
export class MailJobs {
  readonly #options: MailJobsOptions;
  readonly #rows: MailedRows;

  constructor(options: MailJobsOptions, rows: MailedRows) {
    this.#options = options;
    this.#rows = rows;
  }

  /** Queues the mail of a row. */
  async add(id: string): Promise<void> {
    const { jobKind: kind } = this.#rows;
    await this.#options.queue.add([{ id, kind, payload: new Uint8Array() }]);
  }

  /** Starts to send the queued mails. */
  work(): AsyncDisposable {
    const { jobKind: kind } = this.#rows;
    return this.#options.queue.work({ kind, concurrency: 2, attemptsMax }, ({ id }, signal) =>
      this.#send(id, signal),
    );
  }

  /** Queues mails again whose job was lost, and deletes rows that have expired. */
  async sweep(): Promise<void> {
    const nowMs = this.#options.context.clock.now();
    for (const { id } of await this.#rows.unsent(nowMs - lostAfterMs, nowMs)) await this.add(id);
    await this.#rows.deleteExpired(nowMs);
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.context;
    const mail = await this.#rows.mailOf(id, clock.now());
    if (!mail) return;
    await sendMail(this.#options, mail, signal);
    await this.#rows.markSent(id, clock.now());
  }
}
