import type { Admin } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { errorPage } from '@octavo/web/html';
import { loadAssets, type PageRoutes, servePages } from '@octavo/web/pages';
import type { HttpApp, HttpError, LimitSharedRequest } from '@octavo/web/server';
import { type Accounts, tokenOfBrowser } from './authentication/index.ts';
import { addAccountPages } from './authentication/pages/pages.ts';
import { addSettingsPages } from './authentication/pages/settings.ts';
import { signInPage } from './authentication/pages/views.ts';
import { addBudgetPages } from './budgets/pages.ts';
import type { Context } from './commands.ts';
import { addCustomerPages } from './customers/pages.ts';
import { addExpensePages } from './expenses/pages.ts';
import { addExportPages } from './exports/pages.ts';
import type { NotificationHub } from './feed/index.ts';
import type { Imports } from './imports/index.ts';
import { addImportPages } from './imports/pages.ts';
import { addNotificationPages } from './notifications/pages.ts';
import { addOfflinePages } from './offline/pages.ts';
import { addOrderPages } from './orders/pages.ts';
import { addRecurringPages } from './recurring/pages.ts';
import { addReportPages } from './reports/pages.ts';
import { pageRoutes } from './routes.ts';
import { addRulePages } from './rules/pages.ts';
import type { Sharing } from './sharing/index.ts';
import { addSharingPages } from './sharing/pages.ts';
import { addAmountReading } from './site/amount-reading.ts';
import {
  errorFrame,
  type PageSession,
  type PageVisit,
  signInRequired,
  type Visitors,
} from './site/page-context.ts';
import type { Tasks } from './tasks/index.ts';
import { addTaskPages } from './tasks/pages.ts';
import { addTransactionPages } from './transactions/pages.ts';

export interface PagesOptions {
  readonly context: Context;
  readonly accounts: Accounts;
  readonly tasks: Tasks;
  readonly imports: Imports;
  readonly sharing: Sharing;
  readonly hub: NotificationHub;
  readonly visitors: Visitors;
  readonly admin: Admin<PageSession>;
  readonly clock: Clock;
  /** Encrypts cookies. */
  readonly secret: string;
  readonly sessionSeconds: number;
  /** Ends streams when the service stops. */
  readonly stopping: AbortSignal;
  /** The limit of sign-ins, which the API has too. */
  readonly limit: LimitSharedRequest;
}

/** The pages of all features. They call the same functions as the API. */
export function addPages(app: HttpApp, options: PagesOptions): void {
  const { secret, sessionSeconds, clock, admin } = options;
  servePages<PageSession>(
    app,
    {
      name: 'budgets',
      secret,
      sessionSeconds,
      clock,
      // Mails lead to pages.
      sameSite: 'lax',
      readerLocale: true,
      assets: loadAssets(new URL('./assets/', import.meta.url)),
      apiToken: (visit) => tokenOfBrowser(options.accounts, visit.who),
      errorPage: async (visit, error) =>
        (await admin.errorPage(visit, error)) ?? errorPageOf(options, visit, error),
    },
    (routes) => {
      addRoutes(routes, options);
      admin.addRoutes(routes);
    },
  );
}

function addRoutes(routes: PageRoutes<PageSession>, options: PagesOptions): void {
  addAccountPages(routes, options);
  addSettingsPages(routes, options);
  addBudgetPages(routes, options);
  addSharingPages(routes, options);
  addExpensePages(routes, options);
  addExportPages(routes, options);
  addReportPages(routes, options);
  addRecurringPages(routes, options);
  addCustomerPages(routes, options);
  addOrderPages(routes, options);
  addTransactionPages(routes, options);
  addNotificationPages(routes, options);
  addTaskPages(routes, options);
  addImportPages(routes, options);
  addRulePages(routes, options);
  addAmountReading(routes, options);
  addOfflinePages(routes, options);
}

/** Strangers get the sign-in page, and come back to where they were going. */
async function errorPageOf(
  { context, accounts }: PagesOptions,
  visit: PageVisit,
  error: HttpError,
): Promise<string> {
  const { method, url, id: requestId } = visit.request;
  if (error.code === signInRequired || error.code === 'SESSION_ENDED') {
    return signInPage(visit, { next: method === 'GET' ? url : pageRoutes.budgets }, accounts.oidc);
  }
  const home = { href: pageRoutes.budgets, label: 'Go to budgets' };
  return errorPage(await errorFrame(context, visit), error, { requestId, home });
}
