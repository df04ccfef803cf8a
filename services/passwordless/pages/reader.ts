import { AppError } from '#kit/errors.ts';
import { isRefusal } from '#kit/html/form-problem.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import type { Caller } from '../caller.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../session.ts';
import type { PageParts } from './parts.ts';

export type Reading = Visit<TokenPair>;

/**
 * Who reads, by the tokens in their cookie; the access token is renewed where it has expired. Where that fails the cookie stays as it is:
 * another tab may have renewed them a moment ago, and what is dead does no harm.
 */
export async function readerOf(
  visit: Reading,
  { sessions, visitorOf }: PageParts,
): Promise<Caller | undefined> {
  const pair = visit.who;
  if (!pair) return undefined;
  try {
    return await sessions.identifyToken(pair.access_token);
  } catch (error) {
    if (!isRefusal(error, 'TOKEN_EXPIRED')) return undefined;
  }
  try {
    const renewed = await sessions.refresh(pair.refresh_token, visitorOf(visit.request));
    visit.renew(renewed);
    return await sessions.identifyToken(renewed.access_token);
  } catch {
    return undefined;
  }
}

/** A visit of somebody who is signed in. */
export interface SignedIn {
  readonly visit: Reading;
  readonly reader: Caller;
}

/** Access for those who are signed in. Others get the sign-in form: see {@link isSignInRequired}. */
export function signedIn(parts: PageParts): (visit: Reading) => Promise<SignedIn> {
  return async (visit) => {
    const reader = await readerOf(visit, parts);
    if (!reader) throw new AppError('unauthenticated', endedText, { reason: signInRequired });
    return { visit, reader };
  };
}

export function isSignInRequired({ code }: HttpError): boolean {
  return code === signInRequired;
}

const signInRequired = 'SIGN_IN_REQUIRED';

export const endedText =
  'Your session has ended. Sign in again, or reload if you are signed in in another tab.';

const mailsItem = { href: pageRoutes.mails, label: 'Mails', icon: 'inbox' } as const;

export function frameOf(
  visit: Reading,
  { issuer, mailFolder }: Pick<PageParts, 'issuer' | 'mailFolder'>,
  reader?: Caller,
): Frame {
  return {
    ...visit.frame(),
    service: issuer,
    navigation: [
      { href: pageRoutes.home, label: 'Account', icon: 'lock' },
      ...(mailFolder === undefined ? [] : [mailsItem]),
      { href: '/docs', label: 'API', icon: 'list' },
    ],
    account: reader && {
      name: reader.user.email,
      detail: reader.user.isVerified ? 'Signed in' : 'Not verified yet',
      signOutHref: pageRoutes.signOut,
    },
    flash: visit.takeFlash(),
  };
}

/** Where a request came from, and the language for mails about it. */
export function senderOf({ request }: Reading, { visitorOf }: PageParts) {
  return { visitor: visitorOf(request), locale: request.headers['accept-language'] };
}
