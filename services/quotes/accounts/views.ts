import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { FormProblem } from '@octavo/web/html';
import { errorSummary, type Frame, field, type Html, html, notice, standalone } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { pageRoutes, signInPath } from '../routes.ts';
import type { PageSession } from '../site.ts';

export interface FormView {
  /** Address to open afterwards. */
  readonly next: string;
  readonly username?: string;
  readonly email?: string;
  readonly problem?: FormProblem;
}

const lead = 'Sign in to like quotes, comment on them and add your own.';
const signInLabels = { username: 'User name', password: 'Password' };
const signUpLabels = { username: 'User name', email: 'E-mail address', password: 'Password' };

/** The sign-in page, also for an ended session. */
export async function signInPage(
  visit: Visit<PageSession>,
  { next, username, problem }: FormView,
  oidc: OidcSignIn<PageSession> | undefined,
): Promise<string> {
  const errors = problem?.errors ?? {};
  const choice = await oidc?.choice(next);
  const frame = accountFrame(visit);
  return standalone(frame, {
    title: 'Sign in',
    lead,
    sharing: { description: lead, path: pageRoutes.signIn },
    main: html`${problem?.problem && notice('bad', problem.problem)}${errorSummary(errors, signInLabels, 'You are not signed in yet')}${choice}${
      !oidc?.isOnly &&
      html`
<form class="stack" method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="next" value="${next}">
${field({
  name: 'username',
  label: signInLabels.username,
  value: username,
  error: errors.username,
  attributes: { ...usernameAttributes, autofocus: !username },
})}
${field({
  name: 'password',
  label: signInLabels.password,
  type: 'password',
  error: errors.password,
  attributes: {
    autocomplete: 'current-password',
    maxlength: 1_024,
    required: true,
    autofocus: Boolean(username),
  },
})}
<button class="wide">Sign in</button></form>${otherWay('New here?', 'Create account', signUpPath(next))}`
    }`,
  });
}

export function signUpPage(
  visit: Visit<PageSession>,
  accounts: Accounts,
  { next, username, email, problem }: FormView,
): string {
  const errors = problem?.errors ?? {};
  const frame = accountFrame(visit);
  return standalone(frame, {
    title: 'Create account',
    lead,
    sharing: { description: lead, path: pageRoutes.signUp },
    main: html`${problem?.problem && notice('bad', problem.problem)}${errorSummary(errors, signUpLabels, 'Check these fields')}
<form class="stack" method="post" action="${pageRoutes.signUp}">${frame.csrfField}<input type="hidden" name="next" value="${next}">
${field({
  name: 'username',
  label: signUpLabels.username,
  value: username,
  error: errors.username,
  help: 'Shown beside your comments. Use letters, digits and @ . + - _',
  attributes: { ...usernameAttributes, autofocus: true },
})}
${field({
  name: 'email',
  label: `${signUpLabels.email} (optional)`,
  value: email,
  type: 'email',
  error: errors.email,
  attributes: { autocomplete: 'email', maxlength: 254 },
})}
${field({
  name: 'password',
  label: signUpLabels.password,
  type: 'password',
  error: errors.password,
  help: `At least ${accounts.passwordCharactersMin} characters, and no common password.`,
  attributes: { autocomplete: 'new-password', maxlength: 128, required: true },
})}
<button class="wide">Create account</button></form>${otherWay('Already have an account?', 'Sign in', signInPath(next))}`,
  });
}

const usernameAttributes = {
  autocomplete: 'username',
  autocapitalize: 'none',
  spellcheck: 'false',
  maxlength: 150,
  required: true,
} as const;

function otherWay(question: string, label: string, href: string): Html {
  return html`<p class="muted">${question} <a href="${href}">${label}</a></p>`;
}

function signUpPath(next: string): string {
  return signInPath(next).replace(pageRoutes.signIn, pageRoutes.signUp);
}

function accountFrame(visit: Visit<PageSession>): Frame {
  return { ...visit.frame(), service: 'Quotes', navigation: [], flash: visit.takeFlash() };
}
