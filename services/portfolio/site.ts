import type { AccountSession } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { digitsOf, toMajor } from '@octavo/documents/values';
import { type Accounts, accountRoutes, type User } from '@octavo/people/accounts';
import {
  type Frame,
  type Html,
  html,
  kept,
  layout,
  type NavigationItem,
  type PageContent,
  readerLocale,
} from '@octavo/web/html';
import type { Visit } from '@octavo/web/pages';
import { pageRoutes } from './routes.ts';

export type PageVisit = Visit<AccountSession>;

/** A visitor of a page. */
export interface Visitor {
  readonly visit: PageVisit;
  /** The account; undefined for strangers, where pages are public. */
  readonly user: User | undefined;
  /** True for administrators, who import. */
  readonly isAdministrator: boolean;
  /** The page with navigation. */
  render(page: PageContent): string;
}

/** The reason of the error for strangers, who are asked to sign in. */
export const signInRequired = 'SIGN_IN_REQUIRED';

/** The access of pages: everybody where they are public, else people with an account, whatever their permissions are. */
export function createVisitors(accounts: Accounts, isPublic: boolean) {
  const known = async (visit: PageVisit): Promise<Visitor> => {
    const { token } = visit.who ?? {};
    const user = token === undefined ? undefined : await accounts.sessions.userOf(token);
    const isAdministrator = Boolean(user?.isStaff && user.isSuperuser);
    const render = (page: PageContent) =>
      layout(frameOf(visit, user, isAdministrator), { styles: ['charts.css'], ...page });
    return { visit, user, isAdministrator, render };
  };
  return {
    /** Admits strangers too. */
    anybody: known,
    async reader(visit: PageVisit): Promise<Visitor> {
      const visitor = await known(visit);
      if (isPublic || visitor.user) return visitor;
      throw new AppError('unauthenticated', 'Sign in to see the portfolio.', { reason: signInRequired });
    },
    async administrator(visit: PageVisit): Promise<Visitor & { readonly user: User }> {
      const visitor = await known(visit);
      const { user } = visitor;
      if (!user) throw new AppError('unauthenticated', 'Sign in to import.', { reason: signInRequired });
      if (!visitor.isAdministrator) throw new AppError('forbidden', 'Only administrators import.');
      return { ...visitor, user };
    },
    isPublic,
  };
}

export type Visitors = ReturnType<typeof createVisitors>;

function frameOf(visit: PageVisit, user: User | undefined, isAdministrator: boolean): Frame {
  return {
    ...visit.frame(),
    service: 'Portfolio',
    isAdministrator,
    navigation: navigationOf(visit, user, isAdministrator),
    flash: visit.takeFlash(),
    account: user && {
      name: user.username,
      detail: isAdministrator ? 'Administrator' : user.isStaff ? 'Staff' : 'Signed in',
      signOutHref: pageRoutes.signOut,
      href: accountRoutes.account,
    },
  };
}

function navigationOf(visit: PageVisit, user: User | undefined, isAdministrator: boolean): NavigationItem[] {
  const admin = [
    { href: pageRoutes.import, label: 'Import', icon: 'upload', group: 'Manage' },
    { href: pageRoutes.admin, label: 'Admin', icon: 'settings', group: 'Manage' },
  ] as const;
  return [
    { href: pageRoutes.home, below: '/-', label: 'Overview', icon: 'chart' },
    { href: pageRoutes.team, label: 'Team', icon: 'users', searches: 'q' },
    { href: pageRoutes.investments, label: 'Investments', icon: 'wallet', searches: 'q' },
    { href: pageRoutes.sectors, label: 'Sectors', icon: 'grid', searches: 'q' },
    ...(isAdministrator ? admin : user?.isStaff ? admin.slice(1) : []),
    { href: '/docs', label: 'API', icon: 'screen', group: 'More' },
    ...(user ? [] : [{ href: signInHref(visit), label: 'Sign in', icon: 'lock', group: 'More' } as const]),
  ];
}

/** The sign-in, which leads back to the current page. */
export function signInHref({ request }: PageVisit): string {
  const next = request.method === 'GET' ? request.url : pageRoutes.home;
  return `${pageRoutes.signIn}?${new URLSearchParams({ next })}`;
}

const moneyFormat = kept((key) => {
  const [locale, currency = 'USD'] = key.split(' ');
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    maximumFractionDigits: digitsOf(currency),
    minimumFractionDigits: digitsOf(currency),
    trailingZeroDisplay: 'stripIfInteger',
  });
});

/** An amount of minor units as the reader writes it: `$1,250,000`. */
export function money(minor: number, currency: string): string {
  return moneyFormat(`${readerLocale() ?? 'en-US'} ${currency}`).format(toMajor(minor, currency));
}

const shortMoneyFormat = kept((key) => {
  const [locale, currency = 'USD'] = key.split(' ');
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    notation: 'compact',
    maximumFractionDigits: 1,
  });
});

/** An amount of minor units with few digits, for scales: `$1.3M`. */
export function shortMoney(minor: number, currency: string): string {
  return shortMoneyFormat(`${readerLocale() ?? 'en-US'} ${currency}`).format(toMajor(minor, currency));
}

const dayFormat = kept(
  (locale) =>
    new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }),
);

/** A day, which is the same in every time zone. */
export function day(text: string): Html {
  const shown = dayFormat(readerLocale() ?? 'en-US').format(new Date(`${text}T00:00:00Z`));
  return html`<time datetime="${text}" data-day>${shown}</time>`;
}
