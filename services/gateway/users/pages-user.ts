import type { Account, AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import {
  card,
  confirm,
  type Frame,
  facts,
  field,
  type Html,
  html,
  layout,
  linkButton,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { link, pageRoutes, userPath } from '../routes.ts';
import { stateBadges } from './pages.ts';
import { newPassword, passwordPage } from './password.ts';
import { refuseOwnAccount, roleChoices, uidOf } from './user.ts';

type Authz = Client<AuthServiceDefinition>;

/** The page of one user, and what an administrator can do to them. */
export function addUserPage(
  routes: PageRoutes<PageSession>,
  { visitors, authz }: { visitors: Visitors; authz: Authz },
): void {
  routes.get(pageRoutes.user, { access: visitors('admin', 'read') }, async (visitor) =>
    userPage(visitor.frame(), await accountOf(visitor, authz), visitor.caller.uid),
  );
  addChange(routes, { visitors, authz });
  const access = visitors('admin', 'write');
  for (const [route, question, act] of [
    [pageRoutes.disableUser, disableQuestion, disable],
    [pageRoutes.resetPassword, passwordQuestion, resetPassword],
    [pageRoutes.resetApp, appQuestion, resetApp],
  ] as const) {
    routes.get(route, { access }, async (visitor) =>
      questionPage(visitor.frame(), await accountOf(visitor, authz), question),
    );
    routes.post(route, { access }, async (visitor) => act(visitor, await accountOf(visitor, authz), authz));
  }
}

/** Adds a change that needs no confirmation, because it can be undone. */
function addChange(
  routes: PageRoutes<PageSession>,
  { visitors, authz }: { visitors: Visitors; authz: Authz },
): void {
  const access = visitors('admin', 'write');
  for (const [route, act] of [
    [pageRoutes.userRole, changeRole],
    [pageRoutes.enableUser, enable],
  ] as const) {
    // Where a sign-in in between leads to.
    routes.get(route, { access }, async ({ visit }) =>
      visit.redirect(userPath('user', uidOf(visit.request.params))),
    );
    routes.post(route, { access }, async (visitor) => act(visitor, await accountOf(visitor, authz), authz));
  }
}

async function accountOf({ visit, call }: Visitor, authz: Authz): Promise<Account> {
  const { account } = await authz.getAccount({ uid: uidOf(visit.request.params) }, call);
  if (!account) throw new Error('authz sent no account');
  return account;
}

async function changeRole(visitor: Visitor, account: Account, authz: Authz) {
  const { visit, caller, call } = visitor;
  refuseOwnAccount(account, caller.uid);
  const role = visit.field('role');
  await authz.updateAccount({ username: account.username, role }, call);
  return done(visitor, account, `${account.username} is now ${role === 'viewer' ? 'a' : 'an'} ${role}.`);
}

async function enable(visitor: Visitor, account: Account, authz: Authz) {
  const { username } = account;
  const changed = await authz.updateAccount({ username, disabled: false }, visitor.call);
  if (!changed.account?.disabled) return done(visitor, account, `${username} can sign in again.`);
  return visitor.visit.redirect(userPath('user', account.uid), {
    tone: 'warn',
    text: `${username} is a demo account, which cannot be used in production.`,
  });
}

async function disable(visitor: Visitor, account: Account, authz: Authz) {
  refuseOwnAccount(account, visitor.caller.uid);
  await authz.updateAccount({ username: account.username, disabled: true }, visitor.call);
  return done(visitor, account, `${account.username} is disabled.`);
}

async function resetPassword({ caller, call, frame }: Visitor, given: Account, authz: Authz) {
  refuseOwnAccount(given, caller.uid);
  const password = newPassword();
  const { account = given } = await authz.updateAccount({ username: given.username, password }, call);
  const text = `${account.username} has a new password, and is signed out everywhere.`;
  return passwordPage(frame(), { account, password, title: 'Password reset', text });
}

async function resetApp(visitor: Visitor, account: Account, authz: Authz) {
  refuseOwnAccount(account, visitor.caller.uid);
  await authz.resetTotp({ username: account.username }, visitor.call);
  return done(visitor, account, `The authenticator app of ${account.username} is removed.`);
}

function done({ visit }: Visitor, { uid }: Account, text: string) {
  return visit.redirect(userPath('user', uid), { tone: 'good', text });
}

function userPage(frame: Frame, account: Account, ownUid: number): string {
  const { uid, username } = account;
  const isOwn = uid === ownUid;
  return layout(frame, {
    title: username,
    parent: { href: pageRoutes.users, label: 'Users' },
    main: html`<div class="stack">${card(
      'Details',
      facts([
        ['Number', uid],
        ['State', stateBadges(account, ownUid)],
        ['Role', account.role],
        ['Added', time(account.createdAtMs)],
        ['Password set', time(account.passwordChangedAtMs)],
        ['Posts', html`<a href="${link(pageRoutes.posts, { userId: uid })}">Show</a>`],
      ]),
    )}${isOwn ? ownCard() : controls(frame, account)}</div>`,
  });
}

function ownCard(): Html {
  return card(
    'This is you',
    html`<p>Change your password and authenticator app on your own page. Another administrator can change your role.</p>
<p class="actions">${linkButton(pageRoutes.account, 'Your account')}</p>`,
  );
}

function controls(frame: Frame, { uid, role, disabled, totpEnabled }: Account): Html {
  const dialogLink = (route: 'disableUser' | 'resetPassword' | 'resetApp', label: string) =>
    html`<a class="button secondary" href="${userPath(route, uid)}" data-dialog>${label}</a>`;
  const enableForm = html`<form method="post" action="${userPath('enableUser', uid)}">${frame.csrfField}<button class="secondary">Enable</button></form>`;
  return html`${card(
    'Role',
    html`<form class="filters plain" method="post" action="${userPath('userRole', uid)}">${frame.csrfField}
${field({ name: 'role', label: 'Role', type: 'select', value: role, choices: roleChoices })}<button>Change role</button></form>`,
  )}${card(
    'Access',
    html`<div class="actions">${dialogLink('resetPassword', 'Reset password')}${totpEnabled && dialogLink('resetApp', 'Remove authenticator app')}
${disabled ? enableForm : dialogLink('disableUser', 'Disable')}</div>`,
  )}`;
}

interface Question {
  readonly route: 'disableUser' | 'resetPassword' | 'resetApp';
  readonly title: (username: string) => string;
  readonly text: string;
  readonly deed: string;
}

const disableQuestion: Question = {
  route: 'disableUser',
  title: (username) => `Disable ${username}?`,
  text: 'They are signed out and cannot sign in. Their posts stay. You can enable the account again.',
  deed: 'Disable',
};

const passwordQuestion: Question = {
  route: 'resetPassword',
  title: (username) => `Reset the password of ${username}?`,
  text: 'They are signed out everywhere, and the current password no longer works. The next page shows a new one.',
  deed: 'Reset password',
};

const appQuestion: Question = {
  route: 'resetApp',
  title: (username) => `Remove the authenticator app of ${username}?`,
  text: 'Do this if they have lost their phone. Its codes will stop working, and they can set up another app.',
  deed: 'Remove app',
};

function questionPage(frame: Frame, { uid, username }: Account, question: Question): string {
  const { route, title, text, deed } = question;
  return layout(frame, {
    title: deed,
    parent: { href: userPath('user', uid), label: username },
    main: confirm({
      title: title(username),
      text,
      action: userPath(route, uid),
      csrfField: frame.csrfField,
      deed,
      cancelHref: userPath('user', uid),
    }),
  });
}
