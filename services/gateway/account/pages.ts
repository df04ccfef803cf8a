import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Account, AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { Client } from '@octavo/rpc';
import {
  badge,
  type Content,
  card,
  type Frame,
  facts,
  type Html,
  html,
  layout,
  linkButton,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly authz: Client<AuthServiceDefinition>;
  readonly oidc: OidcSignIn<PageSession> | undefined;
}

/** The page of the own account. */
export function addAccountPage(routes: PageRoutes<PageSession>, { visitors, authz, oidc }: Parts): void {
  routes.get(
    pageRoutes.account,
    { access: visitors('post', 'read') },
    async ({ visit, caller, may, call, frame }) => {
      const { account } = await authz.getAccount({ uid: caller.uid }, call);
      if (!account) throw new Error('authz sent no account');
      const connection = await oidc?.connection(visit, String(caller.uid), pageRoutes.account);
      return accountPage(frame(), account, {
        mayDelete: may.delete,
        connection,
        providerName: oidc?.providerName,
      });
    },
  );
}

interface AccountView {
  readonly mayDelete: boolean;
  readonly connection: Content;
  readonly providerName: string | undefined;
}

function accountPage(
  frame: Frame,
  account: Account,
  { mayDelete, connection, providerName }: AccountView,
): string {
  return layout(frame, {
    title: 'Account',
    main: html`<div class="stack">${card(
      'Profile',
      facts([
        ['User name', account.username],
        ['Role', `${account.role}: ${roleMeanings[account.role] ?? ''}`],
        ['Number', account.uid],
        ['Created', time(account.createdAtMs)],
      ]),
    )}${
      account.hasPassword
        ? html`${card('Password', passwordSection(account))}${card('Second factor', appSection(account, mayDelete))}`
        : card('Password and second factor', withoutPassword(providerName))
    }${connection}${card('Erase your account', html`<p>The next page says what is erased and what stays.</p><p class="actions">${linkButton(pageRoutes.leave, 'Erase account')}</p>`)}</div>`,
  });
}

const roleMeanings: Readonly<Record<string, string>> = {
  admin: 'full access, and manages users',
  editor: 'reads and writes posts',
  viewer: 'reads posts',
};

function passwordSection({ passwordChangedAtMs }: Account): Html {
  return html`<p>Last set ${time(passwordChangedAtMs)}. A new password signs you out everywhere else.</p>
<p class="actions">${linkButton(pageRoutes.ownPassword, 'Change password')}</p>`;
}

function withoutPassword(providerName: string | undefined): Html {
  return providerName === undefined
    ? html`<p>You have no password here. An administrator can set one.</p>`
    : html`<p>You have no password here. You change your password and second factor in ${providerName}.</p>`;
}

function appSection({ totpEnabled, role }: Account, mayDelete: boolean): Html {
  if (totpEnabled) {
    return html`<p>${badge('good', 'on')} Codes come from your authenticator app.</p>
<p class="actions"><a class="button secondary" href="${pageRoutes.removeApp}" data-dialog>Remove the app</a></p>`;
  }
  const need = mayDelete && role !== 'admin' ? 'You need one to delete posts.' : 'It protects your account.';
  return html`<p>${badge('plain', 'off')} An authenticator app on your phone shows codes that prove it is you. ${need}</p>
<p class="actions">${linkButton(pageRoutes.setUpApp, 'Set up an app')}</p>`;
}
