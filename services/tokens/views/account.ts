import type { Fields } from '#kit/errors.ts';
import { card, facts } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes } from '../routes.ts';
import { newPasswordField } from './entry.ts';
import { sessionsCard } from './sessions.ts';

export interface AccountView {
  readonly id: string;
  readonly email: string;
  readonly createdMs: number;
  /** The claims of the access token. */
  readonly claims: Readonly<Record<string, unknown>> & { readonly iat: number; readonly exp: number };
  readonly nowMs: number;
  readonly sessions: readonly SessionView[];
  readonly charactersMin: number;
  /** What was typed into the form that failed, without passwords. */
  readonly newEmail?: string;
  /** By the names of the fields, which differ between all forms of the page. */
  readonly errors: Fields;
}

export interface SessionView {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly userAgent: string;
  readonly address: string;
  readonly createdMs: number;
  readonly lastUsedMs: number;
}

const labels = {
  currentPassword: 'Current password',
  newPassword: 'New password',
  newEmail: 'New e-mail',
  emailPassword: 'Password',
  deletePassword: 'Password',
};

/** Everything about an account on one page. */
export function accountPage(frame: Frame, view: AccountView): string {
  return layout(frame, {
    title: 'Account',
    lead: view.email,
    modules: ['countdown.js', 'strength.js'],
    main: html`${errorSummary(view.errors, labels, 'Nothing was changed')}
<div class="stack"><div class="columns">${profileCard(view)}${tokenCard(frame, view)}</div>
${sessionsCard(frame, view.sessions)}
<div class="columns">${passwordCard(frame, view)}${emailCard(frame, view)}${deletionCard(frame, view)}</div></div>`,
  });
}

function profileCard({ id, email, createdMs }: AccountView): Html {
  return card(
    'Profile',
    facts([
      ['E-mail', email],
      ['User', html`<code>${id}</code>`],
      ['Registered', time(createdMs)],
    ]),
  );
}

function tokenCard(frame: Frame, { claims, nowMs }: AccountView): Html {
  const leftSeconds = Math.max(0, Math.floor(claims.exp - nowMs / 1_000));
  const rows = Object.entries(claims).map(([name, value]) => [name, claimValue(name, value)] as const);
  return card(
    'Access token',
    html`<div class="stack"><div class="progress" data-countdown="${leftSeconds}"><p><span>Valid until ${time(claims.exp * 1_000)}</span>
<span class="muted" data-countdown-left></span></p>
<progress max="${claims.exp - claims.iat}" value="${leftSeconds}" aria-label="Time left"></progress></div>
${facts(rows)}
<form method="post" action="${pageRoutes.refresh}">${frame.csrfField}<button class="secondary">Refresh</button></form></div>`,
  );
}

function claimValue(name: string, value: unknown): Content {
  const isInstant = ['iat', 'exp', 'nbf'].includes(name) && typeof value === 'number';
  return isInstant ? time(value * 1_000) : html`<code>${String(value)}</code>`;
}

function passwordCard(frame: Frame, { errors, charactersMin, email }: AccountView): Html {
  return anchored(
    'password',
    'Change password',
    html`<form class="stack" method="post" action="${pageRoutes.changePassword}" novalidate>${frame.csrfField}
<input type="hidden" name="username" value="${email}" autocomplete="username">
${currentPassword('currentPassword', labels.currentPassword, errors.currentPassword)}
${newPasswordField({ name: 'newPassword', label: labels.newPassword, error: errors.newPassword, charactersMin })}
<p class="small muted">All sessions end, also this one.</p>
<button>Change password</button></form>`,
  );
}

function emailCard(frame: Frame, { errors, newEmail }: AccountView): Html {
  return anchored(
    'email',
    'Change e-mail',
    html`<form class="stack" method="post" action="${pageRoutes.changeEmail}" novalidate>${frame.csrfField}
${field({
  name: 'newEmail',
  label: labels.newEmail,
  type: 'email',
  value: newEmail,
  error: errors.newEmail,
  attributes: { autocomplete: 'email', autocapitalize: 'none', spellcheck: 'false' },
})}
${currentPassword('emailPassword', labels.emailPassword, errors.emailPassword)}
<button class="secondary">Change e-mail</button></form>`,
  );
}

function deletionCard(frame: Frame, { errors, email }: AccountView): Html {
  return anchored(
    'delete',
    'Delete account',
    html`<form class="stack" method="post" action="${pageRoutes.deleteAccount}" novalidate>${frame.csrfField}
<p>The account of ${email} and all its sessions go at once. This cannot be undone.</p>
${currentPassword('deletePassword', labels.deletePassword, errors.deletePassword)}
<button class="danger">Delete account</button></form>`,
  );
}

function anchored(id: string, title: string, content: Content): Html {
  return html`<div id="${id}">${card(title, content)}</div>`;
}

function currentPassword(name: string, label: string, error: string | undefined): Html {
  return field({ name, label, type: 'password', error, attributes: { autocomplete: 'current-password' } });
}
