import type { Fields } from '#kit/errors.ts';
import { notice } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { count } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import { pageRoutes } from '../routes.ts';

/** What a form is shown again with. */
export interface EntryView {
  readonly email?: string | undefined;
  readonly errors?: Fields;
  /** What went wrong, where no field is to blame. */
  readonly problem?: string | undefined;
  /** Somebody who is signed in confirms it. */
  readonly isAgain?: boolean;
}

const labels = { email: 'E-mail', code: 'Code' };
const notYet = 'You are not signed in yet';

/** One field and one button; a passkey is offered in the field, and beside it where scripts run. */
export function signInPage(frame: Frame, view: EntryView): string {
  return standalone(frame, {
    title: view.isAgain ? 'Sign in again' : 'Sign in',
    lead: view.isAgain ? 'To change how you sign in, show once more that it is you.' : undefined,
    modules: ['passkeys.js'],
    main: html`${problems(view)}
<form class="stack" method="post" action="${pageRoutes.signIn}" novalidate>${frame.csrfField}
${emailField(view, { help: 'We mail you a link and a code. There is no password.', autocomplete: 'username webauthn' })}
<button class="wide">Mail me a link</button></form>
<form class="stack" method="post" action="${pageRoutes.signInByPasskey}" data-options="${pageRoutes.signInByPasskeyOptions}" data-passkey-sign-in hidden>${frame.csrfField}
<button class="secondary wide">Use a passkey</button><p class="notice bad" role="alert" data-told hidden></p></form>
<p class="small muted">Or use an <a href="${pageRoutes.signInByApp}">authenticator app</a> or a <a href="${pageRoutes.signInByRecoveryCode}">recovery code</a>${view.isAgain && html`, or <a href="${pageRoutes.home}">go back</a>`}.</p>`,
  });
}

/** After a link was asked for. Says the same for every address. */
export function checkMailPage(frame: Frame, view: EntryView & { minutes: number; mails?: Content }): string {
  const { email = '', minutes } = view;
  return standalone(frame, {
    title: 'Check your mail',
    lead: html`If <strong>${email}</strong> can receive mail, a sign-in link is on its way. It holds for ${count(minutes, 'minute')}. <a href="${pageRoutes.signIn}">Wrong address?</a>`,
    main: html`${problems(view)}
<form class="stack" method="post" action="${pageRoutes.signInByCode}" novalidate>${frame.csrfField}<input type="hidden" name="email" value="${email}">
${codeField(view, 'Reading the mail on another device? Type its code here.')}
<button class="wide">Sign in</button></form>
<form class="actions small" method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="email" value="${email}">
<span class="muted">Nothing came?</span><button class="quiet">Send another</button></form>${view.mails}`,
  });
}

export function appPage(frame: Frame, view: EntryView): string {
  return codePage(frame, view, {
    title: 'Authenticator app',
    action: pageRoutes.signInByApp,
    code: codeField(view, 'The six digits that your app shows now.'),
  });
}

export function recoveryPage(frame: Frame, view: EntryView): string {
  return codePage(frame, view, {
    title: 'Recovery code',
    action: pageRoutes.signInByRecoveryCode,
    code: field({
      name: 'code',
      label: labels.code,
      error: view.errors?.code,
      help: 'One of the codes that you kept. Each signs in once.',
      attributes: { autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' },
    }),
  });
}

/** Where a magic link leads in a browser: nothing happens before the button, so that scanners of mail use nothing up. */
export function landingPage(frame: Frame, token: string): string {
  return standalone(frame, {
    title: 'Sign in',
    lead: 'You followed a link from a mail of ours. It can be used once.',
    main: html`<form class="stack" method="post" action="${pageRoutes.signInByLink}">${frame.csrfField}<input type="hidden" name="token" value="${token}">
<button class="wide" autofocus>Sign in</button></form>
<p class="small muted">You did not ask for it? Close this page, and nobody is signed in.</p>`,
  });
}

/** Six digits, which phones fill in from the mail. */
export function codeField({ errors }: Pick<EntryView, 'errors'>, help: string): Html {
  return field({
    name: 'code',
    label: labels.code,
    error: errors?.code,
    help,
    attributes: { inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 9, spellcheck: 'false' },
  });
}

function codePage(
  frame: Frame,
  view: EntryView,
  { title, action, code }: { title: string; action: string; code: Html },
): string {
  return standalone(frame, {
    title,
    main: html`${problems(view)}
<form class="stack" method="post" action="${action}" novalidate>${frame.csrfField}${emailField(view, { autocomplete: 'username' })}${code}
<button class="wide">Sign in</button></form>
<p class="small"><a href="${pageRoutes.signIn}">Another way to sign in</a></p>`,
  });
}

function emailField(
  { email, errors }: EntryView,
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

function problems({ problem, errors = {} }: EntryView): Content {
  return html`${problem && notice('bad', problem)}${errorSummary(errors, labels, notYet)}`;
}
