import type { Fields } from '#kit/errors.ts';
import { notice } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, standalone } from '#kit/html/layout.ts';
import { pageRoutes } from '../page-routes.ts';

export interface SignInView {
  /** Where to go afterwards. */
  readonly next: string;
  readonly username?: string;
  readonly errors?: Fields;
  /** What went wrong, where no field is to blame. */
  readonly problem?: string | undefined;
  /** What a form held that came after the session had ended, to go on with afterwards. */
  readonly kept?: Readonly<Record<string, string>>;
}

export const signInLabels = { username: 'User name', password: 'Password' };

export function signInPage(frame: Frame, view: SignInView): string {
  const { next, username, errors = {}, problem, kept = {} } = view;
  const hasKept = Object.keys(kept).length > 0;
  return standalone(frame, {
    title: 'Sign in',
    lead: hasKept ? undefined : 'Browse, write and analyse posts.',
    main: html`${hasKept && keptNotice()}${problem && notice('bad', problem)}${errorSummary(errors, signInLabels, 'You are not signed in yet')}
<form class="stack" method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="next" value="${next}">
${Object.entries(kept).map(
  ([name, value]) => html`<textarea name="kept.${name}" hidden>
${value}</textarea>`,
)}
${field({
  name: 'username',
  label: signInLabels.username,
  value: username,
  error: errors.username,
  attributes: {
    autocomplete: 'username',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: 128,
    autofocus: !username,
  },
})}
${field({
  name: 'password',
  label: signInLabels.password,
  type: 'password',
  error: errors.password,
  attributes: { autocomplete: 'current-password', maxlength: 1024, autofocus: Boolean(username) },
})}
<button class="wide">Sign in</button></form>`,
  });
}

function keptNotice(): Content {
  return notice('info', 'Your session has ended. What you typed is kept: sign in to go on.');
}
