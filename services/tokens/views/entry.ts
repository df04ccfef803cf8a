import type { Fields } from '#kit/errors.ts';
import { linkButton, notice } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import { pageRoutes } from '../routes.ts';

/** What a form is shown again with. */
export interface EntryView {
  readonly email?: string;
  readonly errors?: Fields;
  /** What went wrong, where no field is to blame. */
  readonly problem?: string | undefined;
}

const labels = { email: 'E-mail', password: 'Password' };

export function signInPage(frame: Frame, view: EntryView): string {
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
<p class="actions"><span class="muted">New here?</span>${linkButton(pageRoutes.register, 'Register', 'quiet')}</p>`,
  });
}

export function registerPage(frame: Frame, view: EntryView, charactersMin: number): string {
  return standalone(frame, {
    title: 'Register',
    modules: ['strength.js'],
    main: html`${problems(view, 'You are not registered yet')}
<form class="stack" method="post" action="${pageRoutes.register}" novalidate>${frame.csrfField}${emailField(view)}
${newPasswordField({ name: 'password', label: labels.password, error: view.errors?.password, charactersMin })}
<button class="wide">Register</button></form>
<p class="actions"><span class="muted">Registered already?</span>${linkButton(pageRoutes.home, 'Sign in', 'quiet')}</p>`,
  });
}

/** Says how strong it is while it is typed, where scripts run. */
export function newPasswordField(options: {
  name: string;
  label: string;
  error: string | undefined;
  charactersMin: number;
}): Html {
  const { name, label, error, charactersMin } = options;
  return field({
    name,
    label,
    type: 'password',
    error,
    help: `At least ${charactersMin} characters. A few unrelated words are hard to guess and easy to keep in mind.`,
    attributes: { autocomplete: 'new-password', 'data-strength': pageRoutes.checkPassword },
  });
}

function emailField({ email, errors }: EntryView): Html {
  return field({
    name: 'email',
    label: labels.email,
    type: 'email',
    value: email,
    error: errors?.email,
    attributes: { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', autofocus: !email },
  });
}

function problems({ problem, errors = {} }: EntryView, title: string): Content {
  return html`${problem && notice('bad', problem)}${errorSummary(errors, labels, title)}`;
}
