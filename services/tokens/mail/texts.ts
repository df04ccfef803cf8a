import type { MailBodies } from '@octavo/mail/delivery';
import { type Html, html } from '@octavo/web/html';

export type LinkPurpose = 'password-reset' | 'email-verification';
export type Notice = 'password-changed' | 'email-changed';

interface MailText extends MailBodies {
  readonly subject: string;
}

const links = {
  'password-reset': {
    subject: 'Reset your password',
    before: 'A new password was requested for your account. To choose it, open this link:',
    after: 'If it was not you, ignore this mail: your password stays as it is.',
  },
  'email-verification': {
    subject: 'Verify your e-mail address',
    before: 'To confirm that this address is yours, open this link:',
    after: 'If you did not register, ignore this mail.',
  },
} as const;

const notices = {
  'password-changed': {
    subject: 'Your password was changed',
    text: 'The password of your account was changed, and all sessions have ended.',
  },
  'email-changed': {
    subject: 'Your e-mail address was changed',
    text: 'Your account has another e-mail address now. This address no longer signs in.',
  },
} as const;

/** A mail with a link. It contains nothing from the sender of the request. */
export function linkMail(
  purpose: LinkPurpose,
  { service, link, minutes }: { service: string; link: string; minutes: number },
): MailText {
  const { subject, before, after } = links[purpose];
  const validity = `The link works once, and expires in ${lifetime(minutes)}.`;
  return {
    subject: `${service}: ${subject}`,
    text: `${before}\n\n${link}\n\n${validity}\n\n${after}\n`,
    html: page([html`${before}`, html`<a href="${link}">${link}</a>`, html`${validity}`, html`${after}`]),
  };
}

/** A mail about a change that its owner should know of. */
export function noticeMail(
  notice: Notice,
  { service, url, nowMs }: { service: string; url: string; nowMs: number },
): MailText {
  const { subject, text } = notices[notice];
  const when = `Time: ${new Date(nowMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const advice = 'If it was not you, reset your password now:';
  return {
    subject: `${service}: ${subject}`,
    text: `${text}\n\n${when}\n\n${advice}\n\n${url}\n`,
    html: page([html`${text}`, html`${when}`, html`${advice}`, html`<a href="${url}">${url}</a>`]),
  };
}

function page(paragraphs: readonly Html[]): string {
  return html`${paragraphs.map((paragraph) => html`<p>${paragraph}</p>`)}`.toString();
}

function lifetime(minutes: number): string {
  if (minutes >= 120) return `${Math.round(minutes / 60)} hours`;
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
