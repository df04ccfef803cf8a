import { type AccountSession, type Admin, forgetInHistory } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import { type Accounts, addOwnAccountPages } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import { errorPage, html, linkButton, standalone } from '@octavo/web/html';
import { loadAssets, type PagesOptions, servePages } from '@octavo/web/pages';
import type { HttpApp, HttpError } from '@octavo/web/server';
import { addBrowsePages } from './browse/pages.ts';
import { addImportPages } from './imports/pages.ts';
import { pageRoutes } from './routes.ts';
import { type PageVisit, signInHref, signInRequired, type Visitors } from './site.ts';
import type { Tables } from './store/store.ts';
import { deleteUploadsOf } from './store/uploads.ts';
import type { Tokens } from './tokens.ts';

export interface PagesParts {
  readonly database: Database<Tables>;
  readonly admin: Admin<AccountSession>;
  readonly visitors: Visitors;
  readonly secret: string;
  readonly clock: Clock;
  readonly accounts: Accounts;
  readonly oidc: OidcSignIn<AccountSession> | undefined;
  /** Tokens for signed-in users who try the API at `/docs`. */
  readonly tokens: Tokens;
}

/** The portfolio as pages, imports, and the admin. */
export function addPages(app: HttpApp, parts: PagesParts): void {
  const { admin, secret, clock, accounts, oidc, tokens, visitors } = parts;
  const options: PagesOptions<AccountSession> = {
    name: 'portfolio',
    secret,
    clock,
    sessionSeconds: 86_400,
    readerLocale: true,
    assets: loadAssets(),
    async apiToken({ who }) {
      const user = who && (await accounts.sessions.userOf(who.token));
      return user && tokens.issueTo(user.username, user.id).token;
    },
    errorPage: async (visit, error) => (await admin.errorPage(visit, error)) ?? errorPageOf(visit, error),
  };
  servePages<AccountSession>(app, options, (pages) => {
    admin.addRoutes(pages);
    addBrowsePages(pages, parts);
    addImportPages(pages, parts);
    addOwnAccountPages(pages, {
      accounts,
      oidc,
      service: 'Portfolio',
      paths: { signIn: pageRoutes.signIn, home: pageRoutes.home },
      erased: ['Files that you uploaded and did not import'],
      kept: ['Records that you imported or changed, as of a former user'],
      async forget(session: WriteSession<Tables>, id) {
        await forgetInHistory(session, { model: 'auth/user', id });
        await deleteUploadsOf(session, Number(id));
      },
      render: async (visit, _user, page) => (await visitors.anybody(visit)).render(page),
    });
  });
}

function errorPageOf(visit: PageVisit, error: HttpError): string {
  const frame = { ...visit.frame(), service: 'Portfolio', navigation: [], flash: visit.takeFlash() };
  if (error.code === signInRequired || error.code === 'SESSION_ENDED')
    return standalone(frame, {
      title: 'Sign in',
      lead: error.message,
      main: html`<p class="actions">${linkButton(signInHref(visit), 'Sign in', 'primary')}${linkButton(pageRoutes.home, 'Start page', 'quiet')}</p>`,
    });
  const home = { href: pageRoutes.home, label: 'Go to the start page' };
  return errorPage(frame, error, { requestId: visit.request.id, home });
}
