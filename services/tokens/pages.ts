import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PasswordRules } from '#kit/auth/password-rules.ts';
import type { Clock } from '#kit/clock.ts';
import { AppError, type Fields } from '#kit/errors.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { notice } from '#kit/html/blocks.ts';
import { errorPage } from '#kit/html/error-page.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { hasReason } from '#kit/html/form-problem.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import { type PageRoutes, servePages } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import type { Accounts } from './accounts.ts';
import { pageRoutes } from './routes.ts';
import type { SignIns } from './sign-ins.ts';
import type { TokenPair } from './tokens.ts';
import type { Caller } from './user.ts';

/** What the handlers of pages call: the same as the API. */
export interface PagesOptions {
  readonly accounts: Accounts;
  readonly signIns: SignIns;
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
  const assets = loadAssets(new URL('assets/', import.meta.url));
  const options = { name: 'tokens', ...cookies, assets, errorPage: errorPageOf(signIns) };
  servePages<TokenPair>(app, options, addRoutes);
}

/** A visit by somebody who is signed in. */
export interface SignedInVisit {
  readonly visit: Visit<TokenPair>;
  readonly caller: Caller;
}

/** Access to forms for whoever is signed in, within the rate limit. Anybody else gets the sign-in page. */
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
 * Who is signed in, by the tokens in the cookie. An expired access token is renewed. If that fails, the cookie stays as it
 * is: another tab may have renewed the tokens a moment ago, and dead tokens do no harm.
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

export function frameOf(visit: Visit<TokenPair>, caller?: Caller): Frame {
  return {
    ...visit.frame(),
    service: 'Accounts',
    navigation: [
      { href: pageRoutes.home, label: 'Account', icon: 'lock' },
      { href: '/docs', label: 'API', icon: 'list' },
    ],
    account: caller && {
      name: caller.user.email,
      detail: 'Signed in',
      signOutHref: pageRoutes.signOut,
    },
    flash: visit.takeFlash(),
  };
}

/** What a form is shown again with. */
export interface CredentialsView {
  readonly email?: string;
  readonly errors?: Fields;
  /** What went wrong, if no field is to blame. */
  readonly problem?: string | undefined;
}

const labels = { email: 'E-mail', password: 'Password' };

/** The home page of whoever is not signed in. Says so if the cookie holds tokens that are no longer valid. */
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
<p class="small muted">New here? <a href="${pageRoutes.register}">Register</a></p>`,
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
