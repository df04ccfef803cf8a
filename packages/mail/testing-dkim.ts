import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';

/** A key for signing mails, and the contents of its DNS record. */
export function testKey(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return { privateKey, publicKey };
}

/** Verifies a relaxed/relaxed rsa-sha256 signature (RFC 6376). Returns its domain and selector; throws if it is not valid. */
export function verifyDkim(source: Buffer, publicKey: string): string {
  const end = source.indexOf('\r\n\r\n');
  const headers = source.toString('latin1', 0, end).split(/\r\n(?![ \t])/);
  const signature = headers.find((header) => /^dkim-signature:/i.test(header)) ?? '';
  const tags = Object.fromEntries(
    [...signature.slice(signature.indexOf(':') + 1).matchAll(/(\w+)=([^;]*)/g)].map(
      ([, tag = '', value = '']) => [tag, value.replace(/\s+/g, '')],
    ),
  );
  const bodyHash = createHash('sha256').update(relaxedBody(source.toString('latin1', end + 4)), 'latin1');
  if (bodyHash.digest('base64') !== tags.bh) throw new Error('the body is not the one that was signed');
  const names = (tags.h ?? '').toLowerCase().split(':');
  const signed = names.flatMap((name) => {
    const header = headers.findLast((candidate) => candidate.toLowerCase().startsWith(`${name}:`));
    return header === undefined ? [] : [relaxedHeader(header)];
  });
  const blank = relaxedHeader(signature.replace(/([;\s]b=)[^;]*/, '$1'));
  const content = Buffer.from([...signed, blank].join('\r\n'), 'latin1');
  if (!verify('sha256', content, createPublicKey(publicKey), Buffer.from(tags.b ?? '', 'base64'))) {
    throw new Error('the headers are not the ones that were signed');
  }
  if (!names.includes('from') || !names.includes('subject') || !names.includes('to'))
    throw new Error('too little is signed');
  return `${tags.d} ${tags.s}`;
}

function relaxedHeader(header: string): string {
  const colon = header.indexOf(':');
  const value = header
    .slice(colon + 1)
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${header.slice(0, colon).trim().toLowerCase()}:${value}`;
}

function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  return `${lines.join('\r\n').replace(/(\r\n)+$/, '')}\r\n`;
}
