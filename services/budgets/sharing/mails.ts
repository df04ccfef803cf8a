import type { JobQueue } from '@octavo/data/jobs';
import type { Mailer, Sender } from '@octavo/mail';
import type { Context } from '../commands.ts';
import { sendMail } from '../mailer.ts';
import { pageRoutes } from '../routes.ts';
import { deleteExpiredInvitations, invitationToMail, markMailed, unsentInvitations } from './store.ts';

interface Options {
  readonly context: Context;
  readonly queue: JobQueue;
  readonly mailer: Mailer;
  readonly sender: Sender;
  /** The address of the service, for links. */
  siteUrl(): string;
}

const jobKind = 'invitation-mail';
const attemptsMax = 8;
const lostAfterMs = 60_000;

/** Mails invitations to share a budget, by jobs. There is no secret in them: who accepts has signed in with the address. */
export class InvitationMails {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Queues the mail of an invitation. */
  async add(id: string): Promise<void> {
    await this.#options.queue.add([{ id, kind: jobKind, payload: new Uint8Array() }]);
  }

  /** Starts to send the queued mails. */
  work(): AsyncDisposable {
    return this.#options.queue.work({ kind: jobKind, concurrency: 2, attemptsMax }, ({ id }, signal) =>
      this.#send(id, signal),
    );
  }

  /** Queues mails again whose job was lost, and deletes invitations that have expired. */
  async sweep(): Promise<void> {
    const { db, clock } = this.#options.context;
    const nowMs = clock.now();
    for (const { id } of await unsentInvitations(db, nowMs - lostAfterMs, nowMs)) await this.add(id);
    await deleteExpiredInvitations(db, nowMs);
  }

  async #send(id: string, signal: AbortSignal): Promise<void> {
    const { context, siteUrl } = this.#options;
    const { db, clock } = context;
    const found = await invitationToMail(db, { id, nowMs: clock.now() });
    if (!found) return;
    const { email, role, username, owner_email, budget_name: budget, created_at_ms } = found;
    const inviter = username === null ? owner_email : `${username} (${owner_email})`;
    const right = role === 'editor' ? 'see it and add expenses' : 'see it';
    const mail = {
      id,
      to: email,
      subject: 'A budget is shared with you',
      date: new Date(created_at_ms),
      before: [
        `${inviter} shares the budget “${budget}” with you: you can ${right}.`,
        `Sign in with ${email} to accept or decline. If you are new here, register with that address. The invitation appears once you have opened the link in the mail that verifies it.`,
      ],
      link: `${siteUrl()}${pageRoutes.budgets}`,
      after: ['The invitation expires in 7 days. If you do not know the sender, you can ignore this mail.'],
    };
    await sendMail(this.#options, mail, signal);
    await markMailed(db, id, clock.now());
  }
}
