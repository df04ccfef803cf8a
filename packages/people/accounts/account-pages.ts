import { AppError } from '@octavo/core';
import type { PageContent } from '@octavo/web/html';
import { badge, card, facts, html, linkButton, time } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import { type AccountPasswords, addLeavingPage, type OidcSignIn } from '../sign-in/index.ts';
import type { Accounts, Forget } from './accounts.ts';
import type { AccountTables } from './store.ts';
import type { User } from './user.ts';

export interface AccountPagesOptions<T extends { readonly token: string }, DB extends AccountTables> {
  readonly accounts: Accounts;
  readonly oidc: OidcSignIn<T> | undefined;
  /** The service's name on pages. */
  readonly service: string;
  readonly paths: { readonly signIn: string; readonly home: string };
  /** The things that are erased with an account besides its name, address and sessions, and those that stay of it. */
  readonly erased: readonly string[];
  readonly kept: readonly string[];
  /** Deletes other data about a user, in the transaction that erases the account. */
  readonly forget: Forget<DB>;
  /** The page in the frame of the service, for a signed-in user. */
  render(visit: Visit<T>, user: User, page: PageContent): string | Promise<string>;
}

/** Paths of the pages of {@link addOwnAccountPages}. */
export const accountRoutes = { account: '/account/', leave: '/account/leave/' } as const;

/** Adds the page of the own account, and the one to erase it, for services whose page session has a token of these accounts. */
export function addOwnAccountPages<T extends { readonly token: string }, DB extends AccountTables>(
  routes: PageRoutes<T>,
  options: AccountPagesOptions<T, DB>,
): void {
  const { accounts, oidc, service, paths, erased, kept, forget, render } = options;
  const find = async ({ who }: Visit<T>) => who && accounts.sessions.userOf(who.token);
  routes.get(accountRoutes.account, { access: 'public' }, async (visit) => {
    const user = await find(visit);
    if (!user) return visit.redirect(`${paths.signIn}?next=${encodeURIComponent(accountRoutes.account)}`);
    const connection = await oidc?.connection(visit, String(user.id), accountRoutes.account);
    return render(visit, user, {
      title: 'Your account',
      main: html`<div class="stack">${card(
        'Profile',
        facts([
          ['User name', user.username],
          ['E-mail address', user.email ?? html`<span class="muted">none</span>`],
          ...(user.isStaff
            ? ([['Rights', badge('plain', user.isSuperuser ? 'administrator' : 'staff')]] as const)
            : []),
          ['Created', time(user.createdAtMs)],
        ]),
      )}${connection}${card(
        'Erase your account',
        html`<p>The next page says what is erased and what stays.</p><p class="actions">${linkButton(accountRoutes.leave, 'Erase account')}</p>`,
      )}</div>`,
    });
  });
  addLeavingPage(routes, {
    service,
    paths: { ...accountRoutes, signIn: paths.signIn, after: paths.home },
    erased: ['Your user name, e-mail address and sign-ins', ...erased],
    kept,
    oidc,
    passwords: accountPasswords(accounts),
    async find(visit) {
      const user = await find(visit);
      return user && { account: String(user.id), name: user.username };
    },
    erase: (_visit, { account }) => accounts.erase({ id: Number(account) }, forget),
    signOut: (visit) => visit.signOut(),
    async render(visit, page) {
      const user = await find(visit);
      if (!user) throw new AppError('unauthenticated', 'You are no longer signed in.');
      return render(visit, user, page);
    },
  });
}

/** The passwords of these accounts, for what only their owners may do. */
export function accountPasswords<T>(accounts: Accounts): AccountPasswords<T> {
  return {
    has: (account) => accounts.hasPassword({ id: Number(account) }),
    check: (_visit, account, password) => accounts.checkOwnPassword({ id: Number(account) }, password),
  };
}
