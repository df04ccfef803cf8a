import { normalizeEmail } from '@octavo/core/auth';
import type { SendMailOptions } from 'nodemailer';
import { type Dkim, type Mail, MailError } from './mailer.ts';

const idShape = /^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not get into a header
const control = /[\x00-\x1f\x7f]/;

/**
 * The e-mail in the form of nodemailer. The address is validated and passed as the envelope, because nodemailer would deliver to any
 * other address that it parses from a header. Throws `rejected` for an invalid header value.
 */
export function compose({ id, from, to, subject, text, html, date }: Mail): SendMailOptions {
  if (normalizeEmail(to) !== to)
    throw new MailError('rejected', 'EADDRESS', 'the recipient is not a valid e-mail address');
  if (!idShape.test(id))
    throw new MailError('rejected', 'EMESSAGEID', 'the id of an e-mail must have the form name@domain');
  if (control.test(subject))
    throw new MailError('rejected', 'ESUBJECT', 'a subject must be one line without control characters');
  return {
    messageId: `<${id}>`,
    envelope: { from: from.address, to: [to] },
    from: from.name === '' ? from.address : { name: from.name, address: from.address },
    to: { name: '', address: to },
    subject,
    text,
    html,
    date,
    // RFC 3834; Exchange looks at the second one.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    disableFileAccess: true,
    disableUrlAccess: true,
    xMailer: false,
  };
}

/** The option of nodemailer for signing. */
export function signing(dkim: Dkim | undefined) {
  if (dkim === undefined) return {};
  const { domain, selector, privateKey } = dkim;
  return { dkim: { domainName: domain, keySelector: selector, privateKey } };
}
