import { badge, card, linkButton, notice } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { count } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { AcceptedPasskeys, Passkey } from '../passkeys/index.ts';
import { pageRoutes } from '../routes.ts';
import type { User } from '../user.ts';
import { passkeysCard } from './passkeys.ts';
import { type SessionView, sessionsCard } from './sessions.ts';

export interface AccountView {
  readonly user: User;
  /** They signed in a moment ago, and so may change how they do. */
  readonly isFresh: boolean;
  readonly factors: { readonly totp: boolean; readonly recoveryCodes: number };
  readonly passkeys: readonly Passkey[];
  readonly accepted: AcceptedPasskeys | undefined;
  readonly sessions: readonly SessionView[];
  readonly problem?: string | undefined;
}

/** Everything about an account on one page: how its owner signs in, and where they are signed in. */
export function accountPage(frame: Frame, view: AccountView): string {
  const { user, isFresh, problem } = view;
  return layout(frame, {
    title: 'Account',
    lead: html`${user.email} ${user.isVerified ? badge('good', 'verified') : badge('warn', 'not verified')}`,
    modules: ['passkeys.js'],
    main: html`<div class="stack">${problem && notice('bad', problem)}${!user.isVerified && verification(frame, user)}
${!isFresh && signInAgain()}${passkeysCard(frame, view)}
<div class="columns">${appCard(frame, view)}${recoveryCard(frame, view)}</div>
${sessionsCard(frame, view.sessions)}${isFresh && deletion()}</div>`,
  });
}

export function deletionPage(frame: Frame, user: User): string {
  return layout(frame, {
    title: 'Delete account',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: confirm({
      title: `Delete the account of ${user.email}?`,
      text: 'Its passkeys, authenticator app, recovery codes and sessions go at once. This cannot be undone.',
      action: pageRoutes.deleteAccount,
      csrfField: frame.csrfField,
      deed: 'Delete account',
      cancelHref: pageRoutes.home,
    }),
  });
}

function verification(frame: Frame, { email }: User): Html {
  return notice(
    'warn',
    html`<form class="stack" method="post" action="${pageRoutes.verifyEmail}">${frame.csrfField}
<p>${email} is not verified yet. Until you use a link sent there, services do not learn the address, and somebody else who uses one takes the account over; your passkeys and codes are gone then.</p>
<button class="secondary">Mail me a link</button></form>`,
  );
}

function signInAgain(): Html {
  return notice(
    'info',
    html`<p>You signed in a while ago. To change how you sign in, show once more that it is you.</p>
<p class="actions">${linkButton(pageRoutes.signIn, 'Sign in again')}</p>`,
  );
}

function appCard(frame: Frame, { factors, isFresh }: AccountView): Html {
  const state = factors.totp ? badge('good', 'set up') : badge('plain', 'not set up');
  const label = factors.totp ? 'Set up anew' : 'Set up';
  return card(
    'Authenticator app',
    html`<div class="stack"><p>${state}</p><p class="muted">Six digits that an app on your phone shows. They can be phished: a passkey cannot.</p>
${
  isFresh &&
  html`<div class="actions"><form method="post" action="${pageRoutes.setUpApp}">${frame.csrfField}<button class="secondary">${label}</button></form>
${factors.totp && removalLink(pageRoutes.removeApp)}</div>`
}</div>`,
  );
}

function recoveryCard(frame: Frame, { factors: { recoveryCodes }, isFresh }: AccountView): Html {
  const state =
    recoveryCodes > 0
      ? badge(recoveryCodes > 2 ? 'good' : 'warn', `${count(recoveryCodes, 'code')} left`)
      : badge('plain', 'none');
  const label = recoveryCodes > 0 ? 'Make new codes' : 'Make codes';
  return card(
    'Recovery codes',
    html`<div class="stack"><p>${state}</p><p class="muted">For the day that everything else is lost. New ones make the former worthless.</p>
${
  isFresh &&
  html`<form method="post" action="${pageRoutes.recoveryCodes}">${frame.csrfField}<button class="secondary">${label}</button></form>`
}</div>`,
  );
}

function deletion(): Content {
  return html`<p class="actions"><a class="button secondary" href="${pageRoutes.deleteAccount}" data-dialog>Delete account</a></p>`;
}

/** A link that asks before something goes. */
export function removalLink(href: string, what?: string): Html {
  return html`<a class="button quiet" href="${href}" data-dialog>Remove${what && html`<span class="hidden"> ${what}</span>`}</a>`;
}
