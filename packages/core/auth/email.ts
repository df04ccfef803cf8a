import { domainToASCII } from 'node:url';

const addressCharacters = 254;
const localCharacters = 64;
const localPart = /^[!#-'*+\-./0-9=?A-Z^-~]+$/;
/** `domainToASCII` parses a URL's host: it would silently drop tabs and paths, and decode percent signs. */
const domainCharacters = /^[a-zA-Z0-9.\-\u{80}-\u{10FFFF}]+$/u;
const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Normalizes an e-mail address to the spelling in which it is stored, compared and sent to; undefined if it is not valid.
 * White space around it is removed, both parts are lower-cased, and the domain is converted to ASCII (IDNA). Tags (`+x`) and dots stay.
 * The part before the `@` is 1 to 64 printable ASCII characters without quotes (RFC 5321 section 4.1.2, Dot-string). The domain has
 * at least one dot (RFC 1123 labels), and the address at most 254 characters. The local part is ASCII only, so no look-alike
 * character lower-cases to another person's address.
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

/** A number as the last label would be an IPv4 address. */
function isDomain(text: string): boolean {
  const labels = text.split('.');
  return labels.length >= 2 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '');
}
