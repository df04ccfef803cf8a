import type { AccountSession } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { type Accounts, accountRoutes } from '@octavo/people/accounts';
import type { SiteFrame } from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import type { Reader } from './accounts/store.ts';
import { pageRoutes, signInPath } from './routes.ts';

/** Content of a page session; the same as in the admin. */
export type PageSession = AccountSession;

/** A visitor of a page. */
export interface Visitor {
  readonly visit: Visit<PageSession>;
  /** The signed-in reader; undefined for a stranger. */
  readonly reader: Reader | undefined;
  readonly clock: Clock;
  /** Frame shared by all pages. It takes the flash message, so call it once for a page. */
  frame(): SiteFrame;
  /** Throws `forbidden` unless the form was made for this visitor. Strangers have no token, because their forms change nothing. */
  checkToken(): void;
}

export type Visitors = (visit: Visit<PageSession>) => Promise<Visitor>;

export interface SiteOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
}

/** The access of pages: everybody, with who they are. */
export function createVisitors({ accounts, clock }: SiteOptions): Visitors {
  return async (visit) => {
    const user = visit.who && (await accounts.sessions.userOf(visit.who.token));
    const reader = user && ({ id: user.id, username: user.username, isStaff: user.isStaff ? 1 : 0 } as const);
    return {
      visit,
      reader,
      clock,
      frame: () => frameOf(visit, reader),
      checkToken: () =>
        reader && visit.checkToken(visit.request.headers['x-csrf-token'] ?? visit.field('_csrf')),
    };
  };
}

/** True for a page that is the same for all strangers, so that it starts no session. */
export function isForStrangers({ visit, reader }: Pick<Visitor, 'visit' | 'reader'>): boolean {
  return reader === undefined && !visit.hasFlash;
}

function frameOf(visit: Visit<PageSession>, reader: Reader | undefined): SiteFrame {
  const shared = isForStrangers({ visit, reader }) ? visit.publicFrame() : visit.frame();
  const { q = '' } = visit.request.query as { q?: unknown };
  return {
    ...shared,
    service: 'Quotes',
    isAdministrator: Boolean(reader?.isStaff),
    navigation: reader
      ? [
          { href: pageRoutes.likes, label: 'My likes', icon: 'heart' },
          { href: pageRoutes.newQuote, label: 'Add a quote', icon: 'plus' },
        ]
      : [],
    search: { href: pageRoutes.search, label: 'Search quotes', value: typeof q === 'string' ? q : '' },
    visitorLinks: [
      { href: signInPath(pathOf(visit)), label: 'Sign in' },
      { href: pageRoutes.signUp, label: 'Create account' },
    ],
    footer: [
      { href: pageRoutes.home, label: 'Quote of the day' },
      { href: pageRoutes.quotes, label: 'All quotes' },
      { href: '/docs', label: 'API' },
      ...(reader?.isStaff ? [{ href: '/admin/', label: 'Admin' }] : []),
    ],
    account: reader && {
      name: reader.username,
      detail: '',
      signOutHref: pageRoutes.signOut,
      href: accountRoutes.account,
    },
    styles: ['quotes.css'],
    flash: visit.hasFlash && visit.takeFlash(),
  };
}

/** Address to which a visitor returns: never the address of a form. */
function pathOf({ request }: Visit<PageSession>): string {
  return request.method === 'GET' && request.url !== pageRoutes.signIn ? request.url : pageRoutes.home;
}
