import { MailJobs, type MailJobsOptions } from '../mail-jobs.ts';
import { pageRoutes } from '../routes.ts';
import { deleteExpiredInvitations, invitationToMail, markMailed, unsentInvitations } from './store.ts';

/** Mails invitations to share a budget. There is no secret in them: who accepts has signed in with the address. */
export function invitationMails(options: MailJobsOptions): MailJobs {
  const { db } = options.context;
  return new MailJobs(options, {
    jobKind: 'invitation-mail',
    async mailOf(id, nowMs) {
      const found = await invitationToMail(db, { id, nowMs });
      return found && mailOf(found, `${options.siteUrl()}${pageRoutes.budgets}`);
    },
    markSent: (id, nowMs) => markMailed(db, id, nowMs),
    unsent: (beforeMs, nowMs) => unsentInvitations(db, beforeMs, nowMs),
    async deleteExpired(nowMs) {
      await deleteExpiredInvitations(db, nowMs);
    },
  });
}

type Found = NonNullable<Awaited<ReturnType<typeof invitationToMail>>>;

function mailOf({ id, email, role, username, owner_email, budget_name, created_at_ms }: Found, link: string) {
  const inviter = username === null ? owner_email : `${username} (${owner_email})`;
  const right = role === 'editor' ? 'see it and add expenses' : 'see it';
  return {
    id,
    to: email,
    subject: 'A budget is shared with you',
    date: new Date(created_at_ms),
    before: [
      `${inviter} shares the budget “${budget_name}” with you: you can ${right}.`,
      `Sign in with ${email} to accept or decline. If you are new here, register with that address. The invitation appears once you have opened the link in the mail that verifies it.`,
    ],
    link,
    after: ['The invitation expires in 7 days. If you do not know the sender, you can ignore this mail.'],
  };
}
