import type { Clock } from '@octavo/core';
import { AppError, type Fields } from '@octavo/core';
import type { PasswordRules } from '@octavo/core/passwords';
import {
  type Content,
  errorPage,
  errorSummary,
  type Frame,
  field,
  type Html,
  hasReason,
  html,
  notice,
  standalone,
} from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { loadAssets, type PageRoutes, servePages } from '@octavo/web/pages';
import type { HttpApp, HttpError } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Accounts } from '../accounts/accounts.ts';
import type { SignIns } from '../accounts/sign-ins.ts';
import type { TokenPair } from '../accounts/tokens.ts';
import type { Caller } from '../accounts/user.ts';
import type { MailLinks } from '../links/links.ts';
import { pageRoutes } from '../routes.ts';

/** Functions that the handlers of pages call, shared with the API. */
export interface PagesOptions {
  readonly accounts: Accounts;
  readonly signIns: SignIns;
  readonly links: MailLinks;
  /** The folder whose mails the pages show; undefined if they show none. */
  readonly mailFolder: string | undefined;
  readonly passwordRules: PasswordRules;
  readonly clock: Clock;
  /** Forms count for the same limit as the API. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

export interface CookieOptions {
  /** Encrypts cookies and form tokens. */
  readonly secret: string;
  readonly sessionSeconds: number;
  readonly clock: Clock;
  readonly signIns: SignIns;
}

/** Serves the pages that `addRoutes` adds. */
export function addPages(
  app: HttpApp,
  { signIns, ...cookies }: CookieOptions,
  addRoutes: (routes: PageRoutes<TokenPair>) => void,
): void {
  const assets = loadAssets(new URL('../assets/', import.meta.url));
  const apiToken = async (visit: Visit<TokenPair>) => callerOf(visit, signIns) && visit.who?.accessToken;
  const options = { name: 'tokens', ...cookies, assets, apiToken, errorPage: errorPageOf(signIns) };
  servePages<TokenPair>(app, options, addRoutes);
}

/** A visit by a signed-in user. */
export interface SignedInVisit {
  readonly visit: Visit<TokenPair>;
  readonly caller: Caller;
}

/** Access to forms for signed-in users, within the rate limit. Others get the sign-in page. */
export function signedInForm({ signIns, limit }: PagesOptions): (visit: Visit<TokenPair>) => SignedInVisit {
  return (visit) => {
    const caller = callerOf(visit, signIns);
    if (!caller) throw new AppError('unauthenticated', 'Sign in first.', { reason: signInRequired });
    limit(visit.request, visit.reply);
    return { visit, caller };
  };
}

const signInRequired = 'SIGN_IN_REQUIRED';

/**
 * Returns the signed-in user, by the tokens in the cookie. An expired access token is renewed. If that fails, the cookie stays
 * as it is: another tab may have renewed the tokens a moment ago, and dead tokens do no harm.
 */
export function callerOf(visit: Visit<TokenPair>, signIns: SignIns): Caller | undefined {
  const pair = visit.who;
  if (!pair) return undefined;
  try {
    return signIns.identifyToken(pair.accessToken);
  } catch (error) {
    if (!hasReason(error, 'TOKEN_EXPIRED')) return undefined;
  }
  try {
    const renewed = signIns.refresh(pair.refreshToken, visitorOf(visit.request));
    visit.renew(renewed);
    return signIns.identifyToken(renewed.accessToken);
  } catch {
    return undefined;
  }
}

const navigation = [
  { href: pageRoutes.home, label: 'Account', icon: 'lock' },
  { href: '/docs', label: 'API', icon: 'list' },
] as const;

export function frameOf(visit: Visit<TokenPair>, caller?: Caller): Frame {
  return {
    ...visit.frame(),
    service: 'Accounts',
    navigation,
    account: caller && {
      name: caller.user.email,
      detail: 'Signed in',
      signOutHref: pageRoutes.signOut,
    },
    flash: visit.takeFlash(),
  };
}

/** Values and problems of a form that is shown again. */
export interface CredentialsView {
  readonly email?: string;
  readonly errors?: Fields;
  /** Problem, if no field is to blame. */
  readonly problem?: string | undefined;
}

const labels = { email: 'E-mail address', password: 'Password', newPassword: 'New password' };

/** The home page of visitors who are not signed in. It says so if their tokens are no longer valid. */
export function signInPage(visit: Visit<TokenPair>, view: CredentialsView = sessionEnded(visit)): string {
  const frame = frameOf(visit);
  return standalone(frame, {
    title: 'Sign in',
    main: html`${problems(view, 'You are not signed in yet')}
<form class="stack" method="post" action="${pageRoutes.signIn}" novalidate>${frame.csrfField}${emailField(view)}
${field({
  name: 'password',
  label: labels.password,
  type: 'password',
  error: view.errors?.password,
  attributes: { autocomplete: 'current-password', autofocus: Boolean(view.email) },
})}
<button class="wide">Sign in</button></form>
<p class="small"><a href="${pageRoutes.forgotPassword}">Forgot your password?</a></p>
<p class="small muted">New here? <a href="${pageRoutes.register}">Create account</a></p>`,
  });
}

export function emailField({ email, errors }: CredentialsView): Html {
  return field({
    name: 'email',
    label: labels.email,
    type: 'email',
    value: email,
    error: errors?.email,
    attributes: { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', autofocus: !email },
  });
}

export function problems({ problem, errors = {} }: CredentialsView, title: string): Content {
  return html`${problem && notice('bad', problem)}${errorSummary(errors, labels, title)}`;
}

function sessionEnded(visit: Visit<TokenPair>): CredentialsView {
  const problem = 'Your session has ended. Sign in again. If you signed in in another tab, reload this page.';
  return visit.who ? { problem } : {};
}

function errorPageOf(signIns: SignIns) {
  return (visit: Visit<TokenPair>, error: HttpError): string => {
    if (error.code === signInRequired) return signInPage(visit);
    const home = { href: pageRoutes.home, label: 'Go to your account' };
    return errorPage(frameOf(visit, callerOf(visit, signIns)), error, { requestId: visit.request.id, home });
  };
}
