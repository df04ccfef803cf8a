import type { Fields } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { normalizeEmail } from '@octavo/core/auth';
import {
  type Content,
  errorSummary,
  type Frame,
  field,
  formProblem,
  type Html,
  html,
  notice,
  standalone,
} from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { visitorOf } from '@octavo/web/server';
import { codeDigits, sixDigits } from '../keys/codes.ts';
import type { LimitRequest } from '../limits.ts';
import { oidcRoutes, pageRoutes } from '../routes.ts';
import type { Sessions, TokenPair } from '../sessions/index.ts';

/** Content of a sign-in form. */
export interface SignInView {
  readonly email?: string | undefined;
  readonly errors?: Fields;
  /** Problem, if no field is to blame. */
  readonly problem?: string | undefined;
  /** The application that waits for it. */
  readonly client?: string;
  /** A signed-in user signs in again. */
  readonly isAgain?: boolean;
}

const labels = { email: 'E-mail address', code: 'Code' };

/** One field and one button. Browsers offer passkeys in the field; where scripts run, a button does too. */
export function signInPage(frame: Frame, view: SignInView): string {
  return standalone(frame, {
    title: view.isAgain ? 'Sign in again' : 'Sign in',
    lead: leadOf(view),
    modules: ['passkeys.js'],
    main: html`${problems(view)}
<form class="stack" method="post" action="${pageRoutes.signIn}" novalidate>${frame.csrfField}
${emailField(view, { help: 'We mail you a link and a code. There is no password.', autocomplete: 'username webauthn' })}
<button class="wide">Mail me a link</button></form>
<form class="stack" method="post" action="${pageRoutes.signInByPasskey}" data-options="${pageRoutes.signInByPasskeyOptions}" data-passkey-sign-in hidden>${frame.csrfField}
<button class="secondary wide">Use a passkey</button><p class="notice bad" role="alert" data-message hidden></p></form>
<p class="small muted">Or use an <a href="${pageRoutes.signInByApp}">authenticator app</a> or a <a href="${pageRoutes.signInByRecoveryCode}">recovery code</a>${view.isAgain && html`, or <a href="${pageRoutes.home}">go back</a>`}.</p>`,
  });
}

function leadOf({ client, isAgain }: SignInView): Content {
  if (client !== undefined) return html`to continue to <strong>${client}</strong>`;
  return isAgain ? 'Sign in again to change your sign-in methods.' : undefined;
}

/** A form for an address and a code. */
export function codePage(
  frame: Frame,
  view: SignInView,
  { title, action, field: code }: { title: string; action: string; field: Html },
): string {
  return standalone(frame, {
    title,
    main: html`${problems(view)}
<form class="stack" method="post" action="${action}" novalidate>${frame.csrfField}${emailField(view, { autocomplete: 'username' })}${code}
<button class="wide">Sign in</button></form>
<p class="small"><a href="${pageRoutes.signIn}">Sign in another way</a></p>`,
  });
}

/** Six digits, which phones fill in from the mail. */
export function codeField({ errors }: Pick<SignInView, 'errors'>, help: string): Html {
  return field({
    name: 'code',
    label: labels.code,
    error: errors?.code,
    help,
    attributes: { inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 9, spellcheck: 'false' },
  });
}

export function problems({ problem, errors = {} }: SignInView): Content {
  return html`${problem && notice('bad', problem)}${errorSummary(errors, labels, 'You are not signed in yet')}`;
}

function emailField(
  { email, errors }: SignInView,
  { help, autocomplete }: { help?: string; autocomplete: string },
): Html {
  return field({
    name: 'email',
    label: labels.email,
    type: 'email',
    value: email,
    error: errors?.email,
    ...(help ? { help } : {}),
    attributes: { autocomplete, autocapitalize: 'none', spellcheck: 'false', autofocus: !email },
  });
}

/** Signs in with an address and a code. */
interface CodeForm {
  readonly sessions: Sessions;
  readonly limit: LimitRequest;
  /** True if the code is six digits. */
  readonly isNumeric: boolean;
  verify(given: { email: string; code: string }, visitor: Visitor): Promise<TokenPair>;
  show(view: SignInView): string;
}

/** Handles a form that {@link codePage} or a similar page showed. */
export async function signInByCode(visit: Visit<TokenPair>, form: CodeForm) {
  const email = visit.field('email');
  const typed = visit.field('code').trim();
  const code = (form.isNumeric && sixDigits(typed)) || typed;
  const again = (status: number, view: SignInView) => {
    visit.reply.code(status);
    return form.show({ email, ...view });
  };
  const errors = { ...emailErrors(email), ...codeErrors(code, form.isNumeric) };
  if (Object.keys(errors).length > 0) return again(400, { errors });
  try {
    await form.limit(visit.request, visit.reply);
    await signInVisit(visit, form.sessions, await form.verify({ email, code }, visitorOf(visit.request)));
  } catch (error) {
    const { status, ...shown } = formProblem(error, { INVALID_CODE: 'code', INVALID_TOKEN: 'code' });
    const isWrong = shown.errors.code !== undefined;
    return again(status, isWrong ? { errors: { code: 'is wrong, already used, or expired' } } : shown);
  }
  return visit.redirect(placeAfterSignIn(visit));
}

/** Puts the tokens into the cookie, in place of those of the session that was there before. */
export async function signInVisit(
  visit: Visit<TokenPair>,
  sessions: Sessions,
  pair: TokenPair,
): Promise<void> {
  const before = visit.who;
  visit.signIn(pair);
  if (before) await sessions.replace(before, pair);
}

const waitingCookie = 'octavo_waiting';
const waitingSeconds = 3_600;

/** Remembers an application's request that waits for its user: it goes on after the sign-in, also in another tab. */
export function rememberWaiting({ reply }: Visit<TokenPair>, uid: string): void {
  const options = {
    path: '/',
    httpOnly: true,
    secure: 'auto',
    sameSite: 'lax',
    maxAge: waitingSeconds,
  } as const;
  reply.setCookie(waitingCookie, uid, options);
}

export function forgetWaiting({ request, reply }: Visit<TokenPair>): void {
  if (request.cookies[waitingCookie] !== undefined) reply.clearCookie(waitingCookie, { path: '/' });
}

/** The path to go to after a sign-in: on with an application's request, or the account. */
export function placeAfterSignIn({ request }: Visit<TokenPair>): string {
  const uid = /^[\w-]{1,64}$/.exec(request.cookies[waitingCookie] ?? '')?.[0];
  return uid === undefined ? pageRoutes.home : oidcRoutes.interaction.replace(':uid', uid);
}

/** Returns the problem with an address as typed. */
export function emailErrors(email: string): { email?: string } {
  if (email.trim() === '') return { email: 'is required' };
  if (normalizeEmail(email) === undefined) return { email: 'must be complete, such as alice@example.com' };
  return {};
}

/** Returns the problem with a code as typed. */
export function codeErrors(code: string, isNumeric: boolean): { code?: string } {
  if (code === '') return { code: 'is required' };
  if (isNumeric && sixDigits(code) === undefined) return { code: `must be ${codeDigits} digits` };
  return {};
}
