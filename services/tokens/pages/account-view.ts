import type { Fields } from '@octavo/core';
import {
  badge,
  type Content,
  card,
  deviceOf,
  errorSummary,
  type Frame,
  facts,
  field,
  type Html,
  html,
  layout,
  table,
  time,
} from '@octavo/web/html';
import type { Caller, Session } from '../accounts/user.ts';
import { pageRoutes } from '../routes.ts';
import { newPasswordField } from './sign-in.ts';

export interface AccountView {
  readonly caller: Caller;
  readonly sessions: readonly Session[];
  /** True if addresses are verified by mail. */
  readonly verifies: boolean;
  /** Leads to the mails where they are not sent. */
  readonly mailsHint: Content;
  readonly nowMs: number;
  readonly charactersMin: number;
  /** Values of the form that failed, without passwords. */
  readonly newEmail?: string | undefined;
  /** Errors by the names of the fields, which are unique on the page. */
  readonly errors: Fields;
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
    lead: view.caller.user.email,
    modules: ['countdown.js', 'strength.js'],
    main: html`${errorSummary(view.errors, labels, 'Nothing was changed')}
<div class="stack"><div class="columns">${profileCard(frame, view)}${tokenCard(frame, view)}</div>
${sessionsCard(frame, view)}
<div class="columns">${passwordCard(frame, view)}${emailCard(frame, view)}${deletionCard(frame, view)}</div></div>`,
  });
}

function profileCard(frame: Frame, { caller: { user }, verifies, mailsHint }: AccountView): Html {
  const state = user.isVerified ? badge('good', 'verified') : badge('warn', 'not verified');
  const sending =
    verifies &&
    !user.isVerified &&
    html`<form method="post" action="${pageRoutes.sendVerification}">${frame.csrfField}<button class="secondary">Send a link to verify it</button></form>${mailsHint}`;
  return card(
    'Profile',
    html`<div class="stack">${facts([
      ['E-mail address', html`${user.email} ${verifies && state}`],
      ['User', html`<code>${user.id}</code>`],
      ['Registered', time(user.createdMs)],
    ])}${sending}</div>`,
  );
}

function tokenCard(frame: Frame, { caller: { claims }, nowMs }: AccountView): Html {
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

function sessionsCard(frame: Frame, { caller, sessions }: AccountView): Html {
  return card(
    'Sessions',
    html`<div class="stack">${table<Session>({
      caption: 'Sessions',
      columns: [
        {
          header: 'Device',
          kind: 'main',
          cell: (session) =>
            html`<span title="${session.visitor.userAgent}">${deviceOf(session.visitor.userAgent)}</span> ${session === caller.session && badge('good', 'this one')}`,
        },
        { header: 'Address', kind: 'fit', cell: ({ visitor }) => visitor.address },
        { header: 'Signed in', kind: 'fit', cell: ({ createdMs }) => time(createdMs) },
        { header: 'Last used', kind: 'fit', cell: ({ lastUsedMs }) => time(lastUsedMs) },
        { header: 'End', kind: 'row-actions', cell: (session) => endForm(frame, session) },
      ],
      rows: sessions,
    })}
<form method="post" action="${pageRoutes.endAllSessions}">${frame.csrfField}<button class="secondary">End all sessions</button></form></div>`,
  );
}

function endForm(frame: Frame, { id, visitor }: Session): Html {
  return html`<form method="post" action="${pageRoutes.endSession}">${frame.csrfField}<input type="hidden" name="id" value="${id}">
<button class="quiet">End<span class="hidden"> ${deviceOf(visitor.userAgent)}</span></button></form>`;
}

function passwordCard(frame: Frame, { caller, errors, charactersMin }: AccountView): Html {
  return anchored(
    'password',
    'Change password',
    html`<form class="stack" method="post" action="${pageRoutes.changePassword}" novalidate>${frame.csrfField}
<input type="hidden" name="username" value="${caller.user.email}" autocomplete="username">
${currentPassword('currentPassword', labels.currentPassword, errors.currentPassword)}
${newPasswordField({ name: 'newPassword', label: labels.newPassword, error: errors.newPassword, charactersMin })}
<p class="small muted">All sessions end, including this one.</p>
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

function deletionCard(frame: Frame, { caller, errors }: AccountView): Html {
  return anchored(
    'delete',
    'Delete account',
    html`<form class="stack" method="post" action="${pageRoutes.deleteAccount}" novalidate>${frame.csrfField}
<p>Deletes the account ${caller.user.email} and ends all its sessions. This cannot be undone.</p>
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
