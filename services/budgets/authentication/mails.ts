import type { JobQueue } from '@octavo/data/jobs';
import type { Mailer, Sender } from '@octavo/mail';
import type { Context } from '../commands.ts';
import { sendMail } from '../mailer.ts';
import { pageRoutes } from '../routes.ts';
import type { MailedLinkRow } from '../store/tables.ts';
import { type LinkKind, type LinkTokens, linkMs } from './links.ts';
import { deleteExpiredLinks, deleteExpiredSessions, findLink, markSent, unsentLinks } from './store.ts';

export interface LinkMailsOptions {
  readonly context: Context;
  readonly queue: JobQueue;
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly tokens: LinkTokens;
  /** The address of the service, for links. */
  siteUrl(): string;
}

const jobKind = 'link-mail';
const attemptsMax = 8;
const lostAfterMs = 60_000;

const texts: Readonly<Record<LinkKind, { subject: string; intro: string; path: string; validity: string }>> =
  {
    verify: {
      subject: 'Verify your e-mail address',
      intro: 'Open this link to verify the e-mail address of your budgets account:',
      path: pageRoutes.verifyEmail,
      validity: 'It works once and expires in 24 hours.',
    },
    reset: {
      subject: 'Set a new password',
      intro: 'Open this link to set a new password for your budgets account:',
      path: pageRoutes.resetPassword,
      validity: 'It works once and expires in 30 minutes.',
    },
  };

const ignoreIt = 'If you did not ask for this mail, you can ignore it. Do not share the link with anyone.';

/** Sends the mails with links, by jobs that are tried again until the link expires. */
export class LinkMails {
  readonly #options: LinkMailsOptions;

  constructor(options: LinkMailsOptions) {
    this.#options = options;
  }

  /** Queues the mail of a link. */
  async add(linkId: string): Promise<void> {
    await this.#options.queue.add([{ id: linkId, kind: jobKind, payload: new Uint8Array() }]);
  }

  /** Starts to send the queued mails. */
  work(): AsyncDisposable {
    return this.#options.queue.work(
      { kind: jobKind, concurrency: 2, attemptsMax },
      async ({ id }, signal) => {
        await this.#send(id, signal);
      },
    );
  }

  /** Queues mails again whose job was lost, and deletes links and sessions that have expired. */
  async sweep(): Promise<void> {
    const { db, clock } = this.#options.context;
    const nowMs = clock.now();
    for (const { id } of await unsentLinks(db, nowMs - lostAfterMs, nowMs)) {
      await this.add(id);
    }
    await deleteExpiredLinks(db, nowMs - linkMs.verify);
    await deleteExpiredSessions(db, nowMs);
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const { db, clock } = this.#options.context;
    const link = await findLink(db, id);
    if (!link || link.sent_at_ms !== null || link.expires_at_ms <= clock.now()) return;
    await sendMail(this.#options, this.#mailOf(link), signal);
    await markSent(db, id, clock.now());
  }

  #mailOf({ id, kind, email, created_at_ms }: MailedLinkRow) {
    const { tokens, siteUrl } = this.#options;
    const { subject, intro, path, validity } = texts[kind];
    const token = tokens.of(id);
    const url = `${siteUrl()}${path}?token=${encodeURIComponent(token)}`;
    return {
      id,
      to: email,
      subject,
      date: new Date(created_at_ms),
      before: [intro],
      link: url,
      after: [validity, ignoreIt],
    };
  }
}
