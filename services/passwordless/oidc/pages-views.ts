import {
  attributes,
  type Content,
  type Frame,
  type Html,
  html,
  iconLink,
  linkButton,
  notice,
  standalone,
} from '@octavo/web/html';
import { oidcRoutes, pageRoutes } from '../routes.ts';

/** A page that goes on by itself. A redirect would be refused: browsers hold the redirects of a form to `form-action`. */
export function forwardPage(frame: Frame, href: string): string {
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>One moment · ${frame.service}</title>${iconLink(frame)}
<meta http-equiv="refresh" content="0; url=${href}"></head><body><p><a href="${href}">Continue</a></p></body></html>`.toString();
}

/** The further methods of a user. */
export interface OtherFactors {
  readonly email: string | undefined;
  readonly totp: boolean;
  readonly passkey: boolean;
  readonly recoveryCode: boolean;
}

/** Asks a signed-in user for a second factor, or says how to add one. */
export function secondFactorPage(
  frame: Frame,
  { client, others, here }: { client: string; others: OtherFactors; here: string },
): string {
  const { email, totp, passkey, recoveryCode } = others;
  const hasAny = totp || passkey || recoveryCode || email !== undefined;
  return standalone(frame, {
    title: hasAny ? 'Confirm in a second way' : 'Add a second way to sign in',
    lead: html`<strong>${client}</strong> requires two ways to sign in.`,
    modules: ['passkeys.js'],
    main: hasAny
      ? html`${passkey && passkeyForm(frame)}
${totp && html`<p class="actions">${linkButton(pageRoutes.signInByApp, 'Use the authenticator app')}</p>`}
${email !== undefined && html`<form method="post" action="${pageRoutes.signIn}">${frame.csrfField}<input type="hidden" name="email" value="${email}"><button class="secondary wide">Mail me a link</button></form>`}
${recoveryCode && html`<p class="small"><a href="${pageRoutes.signInByRecoveryCode}">Use a recovery code</a></p>`}`
      : html`<p>Add a passkey or an authenticator app to your account. Then come back to this page.</p>
<p class="actions">${linkButton(pageRoutes.home, 'Open your account', 'primary')}${linkButton(here, 'Continue', 'secondary')}</p>`,
  });
}

function passkeyForm(frame: Frame): Html {
  return html`<form class="stack" method="post" action="${pageRoutes.signInByPasskey}" data-options="${pageRoutes.signInByPasskeyOptions}" data-passkey-sign-in hidden>${frame.csrfField}
<button class="wide">Use a passkey</button><p class="notice bad" role="alert" data-message hidden></p></form>`;
}

/** Names the application, and the data and permissions it asks for. */
export function consentPage(
  frame: Frame,
  view: {
    readonly uid: string;
    readonly client: string;
    /** Site of the application, such as `https://app.example`. */
    readonly site: string;
    readonly email: string;
    readonly scopes: readonly string[];
    /** Names of applications of ours that it may use in the user's place. */
    readonly services: readonly string[];
  },
): string {
  const { uid, client, site, email, scopes, services } = view;
  const at = (path: string) => path.replace(':uid', uid);
  const learns = scopes.flatMap((scope) => scopeTexts[scope] ?? []);
  return standalone(frame, {
    title: `Continue to ${client}?`,
    lead: html`<strong>${client}</strong> (${site}) wants to know who you are. You are signed in as <strong>${email}</strong>.`,
    main: html`<p>It will learn:</p><ul>${learns.map((text) => html`<li>${text}</li>`)}</ul>
${services.length > 0 && html`<p>It may use in your name: <strong>${services.join(', ')}</strong></p>`}
${scopes.includes('offline_access') && html`<p>It stays connected after you sign out here.</p>`}
<form method="post" action="${at(oidcRoutes.consent)}">${frame.csrfField}<button class="wide">Continue</button></form>
<form method="post" action="${at(oidcRoutes.cancel)}">${frame.csrfField}<button class="secondary wide">Cancel</button></form>`,
  });
}

const scopeTexts: Readonly<Record<string, readonly string[]>> = {
  openid: ['that you have an account here, and how and when you signed in'],
  email: ['your e-mail address'],
  profile: ['your name'],
  roles: ['your roles'],
};

/** Asks whether to sign out, or does so at once where scripts run. */
export function signOutPage(
  frame: Frame,
  { xsrf, client, isConfirmed }: { xsrf: string; client: string | undefined; isConfirmed: boolean },
): string {
  const action = `${oidcRoutes.library.end_session}/confirm`;
  const xsrfField = html`<input type="hidden" name="xsrf" value="${xsrf}">`;
  return standalone(frame, {
    title: 'Sign out',
    lead: client === undefined ? undefined : html`You signed out of <strong>${client}</strong>.`,
    modules: isConfirmed ? ['submit.js'] : [],
    main: html`<p>Sign out here too, and of all applications that you opened with this sign-in?</p>
<form method="post" action="${action}"${attributes({ 'data-submit': isConfirmed })}>${xsrfField}<input type="hidden" name="logout" value="yes"><button class="wide">Sign out</button></form>
${!isConfirmed && html`<form method="post" action="${action}">${xsrfField}<button class="secondary wide">Stay signed in</button></form>`}`,
  });
}

export function signedOutPage(frame: Frame): string {
  return standalone(frame, {
    title: 'You are signed out',
    main: html`<p class="actions">${linkButton(pageRoutes.home, 'Sign in again')}</p>`,
  });
}

/** An error of an application's request, for the person who sees it. */
export function problemPage(frame: Frame, { text, code }: { text: Content; code: string }): string {
  return standalone(frame, {
    title: 'The application could not sign you in',
    main: html`<div class="stack">${notice('bad', text)}<p>Go back to the application and try again. If it happens again, send its owner this message.</p>
<p class="small muted">Error <code>${code}</code></p></div>`,
  });
}
