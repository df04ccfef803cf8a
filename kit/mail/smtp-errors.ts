import type { NodemailerError } from 'nodemailer';
import { MailError, type MailFault } from './mailer.ts';

const configuration = new Set(['EAUTH', 'ENOAUTH', 'EOAUTH2', 'ETLS', 'EREQUIRETLS', 'ECONFIG']);
/** "Authentication required", "too weak", "failed", "encryption required" (RFC 4954 section 6). */
const wantsSignIn = new Set([530, 534, 535, 538]);
const network = new Set(['ESOCKET', 'ECONNECTION', 'ETIMEDOUT', 'EDNS', 'EPROTOCOL', 'EPROXY', 'EABORT']);
/** What node says of a certificate, or of two sides that find no common TLS. */
const tlsFault = /CERT|^ERR_(TLS|SSL)|^UNABLE_TO_/;
const unsendable = new Set(['EENVELOPE', 'EMESSAGE', 'ESTREAM']);
const closing = 421;
const responseCharacters = 300;

/** What a failure of nodemailer means, by its code and by what the server answered (RFC 5321 section 4.2.1). */
export function fromSmtpError(error: unknown): MailError {
  if (error instanceof MailError) return error;
  const { code = 'EUNKNOWN', responseCode, response, message } = error as NodemailerError;
  const words = (response ?? message).slice(0, responseCharacters);
  const shortCode = responseCode === undefined ? code : `${code} ${responseCode}`;
  return new MailError(faultOf(error as NodemailerError), shortCode, words, { cause: error });
}

function faultOf(error: NodemailerError): MailFault {
  const { code = '', originalCode = '', responseCode = 0, command = '' } = error;
  if (responseCode === closing) return 'unreachable';
  if (configuration.has(code) && isTemporary(responseCode)) return 'unreachable';
  if (configuration.has(code) || wantsSignIn.has(responseCode)) return 'misconfigured';
  if (tlsFault.test(String(originalCode))) return 'misconfigured';
  if (network.has(code)) return 'unreachable';
  if (isTemporary(responseCode)) return 'deferred';
  // The sender is the same in every mail, so no mail would be taken.
  if (responseCode >= 500 && command === 'MAIL FROM') return 'misconfigured';
  if (responseCode >= 500 || unsendable.has(code)) return 'rejected';
  return 'deferred';
}

function isTemporary(responseCode: number): boolean {
  return responseCode >= 400 && responseCode < 500;
}
