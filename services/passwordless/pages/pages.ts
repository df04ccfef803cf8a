import { AppError } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import type { Frame } from '@octavo/web/html';
import { errorPage, type Html, hasReason, html } from '@octavo/web/html';
import type { PageAccess, Visit } from '@octavo/web/pages';
import { mailsLink } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { Factors } from '../account/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Caller, Sessions, TokenPair } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import { signInPage } from './sign-in.ts';

/** A request for a page. The cookie holds the tokens of the user. */
export type PageVisit = Visit<TokenPair>;

/** A visit of a signed-in user. */
interface SignedInVisit {
  readonly visit: PageVisit;
  readonly caller: Caller;
}

/** Dependencies of the pages of every feature. */
export interface PageContext {
  /** Returns the frame of a page; with the name of the user if they are given. */
  frameOf(visit: PageVisit, caller?: Caller): Frame;
  /** The signed-in user, if any. */
  callerOf(visit: PageVisit): Promise<Caller | undefined>;
  /** Lets signed-in users through. Others get the sign-in form: see {@link createErrorPage}. */
  readonly signedIn: Exclude<PageAccess<TokenPair, SignedInVisit>, 'public'>;
}

export function createPageContext(options: {
  readonly sessions: Sessions;
  /** True if there are pages that show the mails. */
  readonly showsMails: boolean;
  /** True for users who may open the admin. */
  isAdministrator(user: User): Promise<boolean>;
}): PageContext {
  const { sessions, showsMails, isAdministrator } = options;
  const navigation = [
    { href: pageRoutes.home, label: 'Account', icon: 'lock' },
    ...(showsMails ? [mailsLink] : []),
    { href: '/docs', label: 'API', icon: 'list' },
  ] as const;
  const administration = [{ href: '/admin/', label: 'Admin', icon: 'users' }] as const;
  const administrators = new WeakSet<Caller>();
  const callerOf = async (visit: PageVisit) => {
    const caller = await callerOfVisit(visit, sessions);
    if (caller && (await isAdministrator(caller.user))) administrators.add(caller);
    return caller;
  };
  return {
    callerOf,
    frameOf: (visit, caller) => ({
      ...visit.frame(),
      service: 'Sign-in',
      isAdministrator: caller !== undefined && administrators.has(caller),
      navigation: caller && administrators.has(caller) ? [...navigation, ...administration] : navigation,
      account: caller && {
        name: caller.user.email,
        detail: caller.user.isVerified ? 'Signed in' : 'Not verified yet',
        signOutHref: pageRoutes.signOut,
      },
      flash: visit.takeFlash(),
    }),
    async signedIn(visit) {
      const caller = await callerOf(visit);
      if (!caller) throw new AppError('unauthenticated', sessionEndedText, { reason: signInRequired });
      return { visit, caller };
    },
  };
}

/**
 * The user of the tokens in the cookie. An expired access token is refreshed. If that fails, the cookie stays as it is: another tab may have
 * refreshed the tokens a moment ago, and dead tokens do no harm.
 */
async function callerOfVisit(visit: PageVisit, sessions: Sessions): Promise<Caller | undefined> {
  const pair = visit.who;
  if (!pair) return undefined;
  try {
    return await sessions.identifyToken(pair.access_token);
  } catch (error) {
    if (!hasReason(error, 'TOKEN_EXPIRED')) return undefined;
  }
  try {
    const renewed = await sessions.refresh(pair.refresh_token, visitorOf(visit.request));
    visit.renew(renewed);
    return await sessions.identifyToken(renewed.access_token);
  } catch {
    return undefined;
  }
}

const signInRequired = 'SIGN_IN_REQUIRED';

export const sessionEndedText =
  'Your session has ended. Sign in again, or reload this page if you are signed in in another tab.';

/** The page for an error, or the sign-in form if a sign-in is required. */
export function createErrorPage({ frameOf, callerOf }: PageContext) {
  return async (visit: PageVisit, error: HttpError): Promise<string> => {
    if (error.code === signInRequired) return signInPage(frameOf(visit), { problem: error.message });
    const home = { href: pageRoutes.home, label: 'Go to the start page' };
    return errorPage(frameOf(visit, await callerOf(visit)), error, { requestId: visit.request.id, home });
  };
}

/** Returns the origin of a request, and the language for mails about it. */
export function senderOf({ request }: PageVisit): { visitor: Visitor; locale: string | undefined } {
  return { visitor: visitorOf(request), locale: request.headers['accept-language'] };
}

/** Content of the account page. */
export interface AccountView {
  readonly caller: Caller;
  /** True if the user signed in a moment ago, and may change their sign-in methods. */
  readonly isFresh: boolean;
  readonly factors: Factors;
}

/** The part of the account page that a feature draws. */
export type AccountCard = (frame: Frame, view: AccountView) => Html | Promise<Html>;

/** Shows the account page, with what went wrong on top. */
export type ShowAccount = (visit: PageVisit, caller: Caller, problem?: string) => Promise<string>;

/** A link to a page that asks before it removes something. */
export function removalLink(href: string, what?: string): Html {
  return html`<a class="button quiet" href="${href}" data-dialog>Remove${what && html`<span class="hidden"> ${what}</span>`}</a>`;
}
