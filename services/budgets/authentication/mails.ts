import { MailJobs, type MailJobsOptions } from '../mail-jobs.ts';
import { pageRoutes } from '../routes.ts';
import type { MailedLinkRow } from '../store/tables.ts';
import { type LinkKind, type LinkTokens, linkMs } from './links.ts';
import { deleteExpiredLinks, deleteExpiredSessions, findLink, markSent, unsentLinks } from './store.ts';

interface LinkMailsOptions extends MailJobsOptions {
  readonly tokens: LinkTokens;
}

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

/** Mails links to verify an address or to set a new password. Sessions that have expired are swept with them. */
export function linkMails({ tokens, ...options }: LinkMailsOptions): MailJobs {
  const { db } = options.context;
  return new MailJobs(options, {
    jobKind: 'link-mail',
    async mailOf(id, nowMs) {
      const link = await findLink(db, id);
      if (!link || link.sent_at_ms !== null || link.expires_at_ms <= nowMs) return undefined;
      return mailOf(link, { token: tokens.of(id), siteUrl: options.siteUrl() });
    },
    markSent: (id, nowMs) => markSent(db, id, nowMs),
    unsent: (beforeMs, nowMs) => unsentLinks(db, beforeMs, nowMs),
    async deleteExpired(nowMs) {
      await deleteExpiredLinks(db, nowMs - linkMs.verify);
      await deleteExpiredSessions(db, nowMs);
    },
  });
}

function mailOf(
  { id, kind, email, created_at_ms }: MailedLinkRow,
  { token, siteUrl }: { readonly token: string; readonly siteUrl: string },
) {
  const { subject, intro, path, validity } = texts[kind];
  return {
    id,
    to: email,
    subject,
    date: new Date(created_at_ms),
    before: [intro],
    link: `${siteUrl}${path}?token=${encodeURIComponent(token)}`,
    after: [validity, ignoreIt],
  };
}
