import type { Fields } from '@octavo/core';
import type { Account, AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import {
  badge,
  type Content,
  count,
  empty,
  errorSummary,
  type Frame,
  field,
  formProblem,
  type Html,
  html,
  icon,
  layout,
  linkButton,
  notice,
  pager,
  table,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { link, pageRoutes, userPath } from '../routes.ts';
import { newPassword, passwordPage } from './password.ts';
import { roleChoices } from './user.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly authz: Client<AuthServiceDefinition>;
}

/** The list of users, and the page that adds one. */
export function addUserPages(routes: PageRoutes<PageSession>, { visitors, authz }: Parts): void {
  routes.get(pageRoutes.users, { access: visitors('admin', 'read') }, (visitor) => listUsers(visitor, authz));
  const access = visitors('admin', 'write');
  routes.get(pageRoutes.newUser, { access }, async ({ frame }) => newUserPage(frame(), { role: 'viewer' }));
  routes.post(pageRoutes.newUser, { access }, (visitor) => addUser(visitor, authz));
}

const pageSize = 20;
const pageMax = 1_000_000;

async function listUsers({ visit, caller, call, frame }: Visitor, authz: Parts['authz']) {
  const given = visit.request.query as Readonly<Record<string, unknown>>;
  const search = typeof given.search === 'string' ? given.search.trim().slice(0, 128) : '';
  const wanted = Number(given.page ?? 1);
  const page = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, pageMax) : 1;
  const { accounts, total } = await authz.listAccounts({ page, pageSize, search }, call);
  return listPage(frame(), { accounts, total, page, search, uid: caller.uid });
}

interface ListView {
  readonly accounts: readonly Account[];
  readonly total: number;
  readonly page: number;
  readonly search: string;
  readonly uid: number;
}

function listPage(frame: Frame, view: ListView): string {
  const { accounts, total, page, search } = view;
  const href = (number: number) =>
    link(pageRoutes.users, { search: search || undefined, page: number === 1 ? undefined : number });
  return layout(frame, {
    title: 'Users',
    lead: search === '' ? count(total, 'user') : `${count(total, 'user')} found`,
    actions: linkButton(pageRoutes.newUser, html`${icon('plus')}Add user`, 'primary'),
    main: html`<form class="filters" role="search" action="${pageRoutes.users}">
${field({ name: 'search', label: 'Search in user names', type: 'search', value: search, attributes: { maxlength: 128 } })}
<div class="actions"><button class="secondary">${icon('search')}Search</button>${search !== '' && linkButton(pageRoutes.users, 'Clear', 'quiet')}</div></form>
${accounts.length > 0 ? userTable(view) : nothing(view)}${pager({ page, pageSize, total, href })}`,
  });
}

function userTable({ accounts, uid }: ListView): Html {
  return table<Account>({
    caption: 'Users',
    rows: accounts,
    columns: [
      {
        header: 'User name',
        kind: 'main',
        cell: (account) => html`<a href="${userPath('user', account.uid)}">${account.username}</a>`,
      },
      { header: 'Number', kind: 'fit', cell: (account) => account.uid },
      { header: 'Role', kind: 'plain', cell: (account) => account.role },
      { header: 'State', kind: 'plain', cell: (account) => stateBadges(account, uid) },
      { header: 'Added', kind: 'plain', cell: ({ createdAtMs }) => time(createdAtMs) },
    ],
  });
}

export function stateBadges({ uid, disabled, totpEnabled }: Account, ownUid: number): Html {
  return html`${disabled ? badge('bad', 'disabled') : badge('good', 'active')} ${totpEnabled && badge('plain', 'second factor')} ${uid === ownUid && badge('plain', 'you')}`;
}

function nothing({ total, search }: ListView): Content {
  if (total > 0) {
    return empty({
      icon: 'list',
      title: 'This page is past the end',
      text: `There are ${count(total, 'user')}.`,
      actions: linkButton(link(pageRoutes.users, { search: search || undefined }), 'Go to the first page'),
    });
  }
  return empty({
    icon: 'search',
    title: 'No matching users',
    text: 'The search looks for your text anywhere in the user name. Try a shorter text.',
    actions: linkButton(pageRoutes.users, 'Clear the search'),
  });
}

async function addUser({ visit, call, frame }: Visitor, authz: Parts['authz']) {
  const username = visit.field('username').trim();
  const role = visit.field('role');
  const password = newPassword();
  try {
    const { account } = await authz.createAccount({ username, role, password }, call);
    if (!account) throw new Error('authz sent no account');
    const text = `${account.username} is added. This is their password.`;
    return passwordPage(frame(), { account, password, title: 'User added', text });
  } catch (error) {
    const { status, ...refusal } = formProblem(error, {});
    visit.reply.code(status);
    return newUserPage(frame(), { username, role, ...refusal });
  }
}

const labels = { username: 'User name', role: 'Role' };

interface NewUserView {
  readonly role: string;
  readonly username?: string;
  readonly errors?: Fields;
  readonly problem?: string;
}

function newUserPage(frame: Frame, { username, role, errors = {}, problem }: NewUserView): string {
  return layout(frame, {
    title: 'Add user',
    parent: { href: pageRoutes.users, label: 'Users' },
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, labels, 'The user is not added yet')}
<form class="form" method="post" action="${pageRoutes.newUser}">${frame.csrfField}
${field({
  name: 'username',
  label: labels.username,
  value: username,
  error: errors.username,
  help: 'Letters A to Z, digits and . _ @ + -, such as an e-mail address.',
  attributes: {
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    maxlength: 128,
    autofocus: true,
  },
})}
${field({ name: 'role', label: labels.role, type: 'select', value: role, choices: roleChoices, error: errors.role })}
<p class="muted">The next page shows their first password. They can change it themselves.</p>
<div class="actions"><button>Add user</button>${linkButton(pageRoutes.users, 'Cancel', 'quiet')}</div></form>`,
  });
}
