import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { AppError, randomBytes } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import { type Html, html } from '../html.ts';

/** Tokens that prove that a form came from one of our pages and was made for this visitor. */
export interface Csrf {
  /** A token for this session. Each one is different, so that compression cannot leak it. */
  token(sessionId: string): string;
  /** The hidden form field that holds a token. */
  field(sessionId: string): Html;
  /** Throws `forbidden` with reason `CSRF` unless the token belongs to this session. */
  check(token: unknown, sessionId: string): void;
}

/** The name of the form field; the header is {@link csrfHeader}. */
export const csrfFieldName = '_csrf';

/** The header in which browser modules send the token. */
export const csrfHeader = 'x-csrf-token';

/** Tokens of the form `nonce.HMAC-SHA-256(nonce and session)`. Nothing is stored, and a token is valid for one session only. */
export function createCsrf(secret: string): Csrf {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'csrf', 32));
  const tokenOf = (nonce: string, sessionId: string) =>
    `${nonce}.${createHmac('sha256', key).update(`${nonce}.${sessionId}`).digest('base64url')}`;
  const token = (sessionId: string) => tokenOf(randomBytes(9).toString('base64url'), sessionId);
  return {
    token,
    field: (sessionId) => html`<input type="hidden" name="${csrfFieldName}" value="${token(sessionId)}">`,
    check(given, sessionId) {
      const nonce = typeof given === 'string' ? given.slice(0, 12) : '';
      if (typeof given !== 'string' || !equal(given, tokenOf(nonce, sessionId))) throw csrfError();
    },
  };
}

/** Throws `forbidden` if {@link isFromElsewhere}. Without a word of the browser, only the token decides. */
export function checkSameOrigin(request: FastifyRequest): void {
  if (isFromElsewhere(request)) throw csrfError();
}

/**
 * Returns true if a browser says that another site sent the request: by `Sec-Fetch-Site` (Fetch Metadata), else by `Origin`.
 * Every current browser sends one of them; programs may send neither.
 */
export function isFromElsewhere(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin } = request.headers;
  return origin !== undefined && origin !== `${request.protocol}://${request.host}`;
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

function csrfError(): AppError {
  return new AppError(
    'forbidden',
    'This form is not from one of our pages, or it is too old. Reload the page and send it again.',
    {
      reason: 'CSRF',
    },
  );
}
