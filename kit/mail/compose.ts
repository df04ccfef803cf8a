import type { SendMailOptions } from 'nodemailer';
import { normalizeEmail } from '../auth/email.ts';
import { type Dkim, type Mail, MailError } from './mailer.ts';

const idShape = /^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a header
const control = /[\x00-\x1f\x7f]/;

/**
 * The mail as nodemailer wants it. Addresses are checked and given as the envelope, since nodemailer would deliver to whatever else it
 * reads out of a header. Throws `rejected` where a header would not hold what it should.
 */
export function compose({ id, from, to, subject, text, html, date }: Mail): SendMailOptions {
  if (normalizeEmail(to) !== to)
    throw new MailError('rejected', 'EADDRESS', 'the recipient is no e-mail address');
  if (!idShape.test(id))
    throw new MailError('rejected', 'EMESSAGEID', 'the id of a mail must be like name@domain');
  if (control.test(subject))
    throw new MailError('rejected', 'ESUBJECT', 'a subject is one line without control characters');
  return {
    messageId: `<${id}>`,
    envelope: { from: from.address, to: [to] },
    from: from.name === '' ? from.address : { name: from.name, address: from.address },
    to: { name: '', address: to },
    subject,
    text,
    html,
    date,
    // RFC 3834; the other one is what Exchange looks at.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
    xMailer: false,
  };
}

/** The option of nodemailer that signs. */
export function signing(dkim: Dkim | undefined) {
  if (dkim === undefined) return {};
  const { domain, selector, privateKey } = dkim;
  return { dkim: { domainName: domain, keySelector: selector, privateKey } };
}
