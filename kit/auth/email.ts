import { domainToASCII } from 'node:url';

const addressCharacters = 254;
const localCharacters = 64;
const localPart = /^[!#-'*+\-./0-9=?A-Z^-~]+$/;
/** `domainToASCII` reads a URL's host: it would drop tabs and paths and decode percent signs without a word. */
const domainCharacters = /^[a-zA-Z0-9.\-\u{80}-\u{10FFFF}]+$/u;
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The one spelling of an e-mail address under which it is stored, compared and written to; undefined where it is none.
 * White space around it is dropped, both parts become lower case, the domain its ASCII form (IDNA); tags (`+x`) and dots stay.
 * The part before the `@` is 1 to 64 printable ASCII characters that need no quotes (RFC 5321 section 4.1.2, Dot-string), the domain has
 * at least one dot (RFC 1123 labels), the whole at most 254 characters. ASCII alone before the `@` leaves no look-alike that
 * lower-cases to another's address.
 */
export function normalizeEmail(text: string): string | undefined {
  const parts = text.trim().split('@');
  if (parts.length !== 2) return undefined;
  const [local = '', domain = ''] = parts;
  if (!isLocalPart(local) || !domainCharacters.test(domain)) return undefined;
  const asciiDomain = domainToASCII(domain).toLowerCase();
  if (!isDomain(asciiDomain)) return undefined;
  const address = `${local.toLowerCase()}@${asciiDomain}`;
  return address.length <= addressCharacters ? address : undefined;
}

function isLocalPart(text: string): boolean {
  if (text.length === 0 || text.length > localCharacters || !localPart.test(text)) return false;
  return !text.startsWith('.') && !text.endsWith('.') && !text.includes('..');
}

/** Numbers as the last label would be an IPv4 address, which `domainToASCII` gives back in one spelling. */
function isDomain(text: string): boolean {
  const labels = text.split('.');
  return labels.length >= 2 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '');
}
