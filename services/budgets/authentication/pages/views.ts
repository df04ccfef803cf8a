import type { OidcSignIn } from '@octavo/people/sign-in';
import type { FormProblem } from '@octavo/web/html';
import { field, type Html, html, standalone } from '@octavo/web/html';
import { pageRoutes } from '../../routes.ts';
import { type PageSession, type PageVisit, strangerFrame } from '../../site/page-context.ts';
import { hrefWith, problems } from '../../site/views.ts';
import { accountLimits } from '../user.ts';

export interface SignInView {
  /** Address to open afterwards. */
  readonly next: string;
  readonly email?: string | undefined;
  readonly username?: string | undefined;
  readonly problem?: FormProblem | undefined;
}

const labels = {
  email: 'E-mail address',
  password: 'Password',
  username: 'Name',
  newPassword: 'New password',
  token: 'Link',
};
const notYet = 'You are not signed in yet';

/** The sign-in page, also for an ended session. */
export async function signInPage(
  visit: PageVisit,
  { next, email, problem }: SignInView,
  oidc: OidcSignIn<PageSession> | undefined,
): Promise<string> {
  const choice = await oidc?.choice(next);
  const frame = strangerFrame(visit);
  return standalone(frame, {
    title: 'Sign in',
    lead: 'Set limits for what you spend, enter or import your expenses, and see what is left.',
    main: html`${problems(problem, labels, notYet)}${choice}${
      !oidc?.isOnly &&
      html`
<form class="stack" method="post" action="${pageRoutes.signIn}" novalidate>${frame.csrfField}<input type="hidden" name="next" value="${next}">
${emailField(email, problem)}
${field({
  name: 'password',
  label: labels.password,
  type: 'password',
  error: problem?.errors.password,
  attributes: {
    autocomplete: 'current-password',
    maxlength: accountLimits.password,
    autofocus: Boolean(email),
  },
})}
<button class="wide">Sign in</button></form>
<p class="muted">New here? <a href="${hrefWith(pageRoutes.signUp, { next })}">Create account</a><br>
<a href="${pageRoutes.resetPassword}">Forgot your password?</a></p>`
    }`,
  });
}

export function signUpPage(
  visit: PageVisit,
  charactersMin: number,
  { next, email, username, problem }: SignInView,
): string {
  const frame = strangerFrame(visit);
  return standalone(frame, {
    title: 'Create account',
    lead: 'Plan your spending, add expenses in seconds, and see what is left.',
    main: html`${problems(problem, labels, 'Check these fields')}
<form class="stack" method="post" action="${pageRoutes.signUp}" novalidate>${frame.csrfField}<input type="hidden" name="next" value="${next}">
${emailField(email, problem)}
${field({
  name: 'username',
  label: `${labels.username} (optional)`,
  value: username,
  error: problem?.errors.username,
  attributes: { autocomplete: 'name', maxlength: accountLimits.username },
})}
${newPasswordField('password', labels.password, charactersMin, problem)}
<button class="wide">Create account</button></form>
<p class="muted">Already have an account? <a href="${hrefWith(pageRoutes.signIn, { next })}">Sign in</a></p>`,
  });
}

/** Asks for the mail with a link. */
export function forgotPage(
  visit: PageVisit,
  { email, problem }: { readonly email?: string; readonly problem?: FormProblem },
): string {
  const frame = strangerFrame(visit);
  return standalone(frame, {
    title: 'Forgot your password?',
    lead: 'Enter your e-mail address. You get a link to set a new password, which expires in 30 minutes.',
    main: html`${problems(problem, labels, 'No mail was sent')}
<form class="stack" method="post" action="${pageRoutes.resetPassword}" novalidate>${frame.csrfField}
${emailField(email, problem)}
<button class="wide">Send the link</button></form><p class="muted"><a href="${pageRoutes.signIn}">Back to sign-in</a></p>`,
  });
}

export function newPasswordPage(
  visit: PageVisit,
  {
    token,
    charactersMin,
    problem,
  }: { readonly token: string; readonly charactersMin: number; readonly problem?: FormProblem },
): string {
  const frame = strangerFrame(visit);
  return standalone(frame, {
    title: 'Set a new password',
    lead: 'All other sessions of your account end.',
    main: html`${problems(problem, labels, 'Your password was not changed')}
<form class="stack" method="post" action="${pageRoutes.resetPassword}" novalidate>${frame.csrfField}<input type="hidden" name="token" value="${token}">
${newPasswordField('newPassword', labels.newPassword, charactersMin, problem)}
<button class="wide">Set password</button></form><p class="muted"><a href="${pageRoutes.resetPassword}">Ask for another link</a></p>`,
  });
}

/** Verifies an address by a button. */
export function verifyPage(
  visit: PageVisit,
  { token, problem }: { readonly token: string; readonly problem?: FormProblem },
): string {
  const frame = strangerFrame(visit);
  return standalone(frame, {
    title: 'Verify your e-mail address',
    main: html`${problems(problem, labels, 'Your address was not verified')}${
      token === ''
        ? html`<p>Open the newest link that was mailed to you. In the settings, you can ask for another one.</p>
<p class="actions"><a class="button secondary" href="${pageRoutes.settings}">Go to settings</a></p>`
        : html`<form class="stack" method="post" action="${pageRoutes.verifyEmail}">${frame.csrfField}<input type="hidden" name="token" value="${token}">
<p>Confirm that this address is yours.</p><button class="wide">Verify</button></form>`
    }`,
  });
}

function emailField(email: string | undefined, problem: FormProblem | undefined): Html {
  return field({
    name: 'email',
    label: labels.email,
    type: 'email',
    value: email,
    error: problem?.errors.email,
    attributes: {
      autocomplete: 'username',
      autocapitalize: 'none',
      spellcheck: 'false',
      maxlength: accountLimits.email,
      autofocus: !email,
    },
  });
}

function newPasswordField(
  name: string,
  label: string,
  charactersMin: number,
  problem: FormProblem | undefined,
): Html {
  return field({
    name,
    label,
    type: 'password',
    error: problem?.errors[name],
    help: `At least ${charactersMin} characters. A few unrelated words are hard to guess and easy to remember.`,
    attributes: { autocomplete: 'new-password', maxlength: accountLimits.password },
  });
}
