import { isRefusal } from '#kit/html/form-problem.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { Caller } from '../caller.ts';
import { pageRoutes } from '../routes.ts';
import type { TokenPair } from '../tokens.ts';
import type { PageParts } from './parts.ts';

/**
 * Who reads, by the tokens in their cookie; the access token is renewed where it has expired. Where that fails the cookie stays as it is:
 * another tab may have renewed them a moment ago, and what is dead does no harm.
 */
export function readerOf(visit: Visit<TokenPair>, { signIns, visitorOf }: PageParts): Caller | undefined {
  const pair = visit.who;
  if (!pair) return undefined;
  try {
    return signIns.identifyToken(pair.accessToken);
  } catch (error) {
    if (!isRefusal(error, 'TOKEN_EXPIRED')) return undefined;
  }
  try {
    const renewed = signIns.refresh(pair.refreshToken, visitorOf(visit.request));
    visit.renew(renewed);
    return signIns.identifyToken(renewed.accessToken);
  } catch {
    return undefined;
  }
}

export function frameOf(visit: Visit<TokenPair>, reader?: Caller): Frame {
  return {
    ...visit.frame(),
    service: 'Accounts',
    navigation: [
      { href: pageRoutes.home, label: 'Account', icon: 'lock' },
      { href: '/docs', label: 'API', icon: 'list' },
    ],
    account: reader && {
      name: reader.user.email,
      detail: 'Signed in',
      signOutHref: pageRoutes.signOut,
    },
    flash: visit.takeFlash(),
  };
}
