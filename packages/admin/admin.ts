import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Database, PackageMigrations } from '@octavo/data';
import type { PermissionAction } from '@octavo/people/accounts';
import { html, linkButton, standalone } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import type { HttpError } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import type { AdminTables } from './changes/history.ts';
import { type AdminVisit, abilitiesOf, adminFrame, adminPage, demand, type ModelVisit } from './context.ts';
import { objectFormPage, submitObjectForm } from './forms/object-form.ts';
import { add, addPage, change, changePage } from './forms/pages.ts';
import { bulk, deletePage, remove } from './forms/pages-delete.ts';
import { pickedPage } from './forms/related.ts';
import { listPage, sendChoices } from './lists/pages.ts';
import type { Model } from './model.ts';
import { historyPage } from './pages/history.ts';
import { indexPage } from './pages/index-page.ts';
import { searchPage } from './pages/search-page.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { Registry, type TableWords } from './registry.ts';
import { exportList } from './transfer/export.ts';
import { confirmImport, importBytesMax, importPage, previewImport } from './transfer/pages.ts';
import type { AdminAccounts } from './user.ts';

/** The tables of the admin, for `migrations` of a service. */
export const adminMigrations: PackageMigrations = {
  folder: new URL('./migrations/', import.meta.url),
  prefix: 'admin',
  versionsFrom: 20_000,
};

/** The parts of an admin. `T` is the type of the service's page session. */
export interface AdminOptions<T> {
  /** Title of the pages, such as `Library admin`. */
  readonly title: string;
  readonly models: readonly Model[];
  /** Accounts that may sign in: `staffAccounts(accounts)`, or a service's own. */
  readonly accounts: AdminAccounts<T>;
  readonly clock: Clock;
  /**
   * Names for rows of tables without a model, used where they are deleted with an object: `{ vote: 'vote' }`, with a plural `{
   * entry: ['entry', 'entries'] }`. Rows of a table with `null`, such as an index, are not named.
   */
  readonly tables?: TableWords;
  /** The service's database, with {@link adminMigrations}. */
  readonly database: Database<AdminTables>;
}

/** The admin of a service, at `/admin/`. */
export interface Admin<T> {
  /** Adds its pages to those of the service, inside `servePages`. */
  addRoutes(routes: PageRoutes<T>): void;
  /** The page of an error at one of its addresses, for `errorPage` of the service; undefined for other addresses. */
  errorPage(visit: Visit<T>, error: HttpError): Promise<string | undefined>;
}

/** Makes the admin of a service. Throws an `Error` if a model names a field that it does not have. */
export function createAdmin<T>(options: AdminOptions<T>): Admin<T> {
  const { title, models, clock, accounts, database, tables } = options;
  const registry = new Registry({ title, models, clock, database, tables });
  const signedIn = async (visit: Visit<T>) => {
    const user = await accounts.userOf(visit);
    if (!user) throw new AppError('unauthenticated', 'Sign in to see this page.', { reason: 'ADMIN' });
    return contextOf(registry, visit, { user, hasPassword: accounts.changePassword !== undefined });
  };
  return {
    addRoutes(routes) {
      addSignInPages(routes, { registry, accounts, signedIn });
      addModelPages(routes, registry, signedIn);
    },
    errorPage: (visit, error) => errorPage(visit, error, { registry, accounts }),
  };
}

function contextOf<T>(
  registry: Registry,
  visit: Visit<T>,
  { user, hasPassword }: Pick<AdminVisit, 'user'> & { hasPassword: boolean },
): AdminVisit {
  const untyped = visit as unknown as Visit<never>;
  return {
    registry,
    user,
    actor: { user, request: visit.request, visitor: visitorOf(visit.request) },
    visit: untyped,
    frame: () => adminFrame(registry, untyped, user, hasPassword),
  };
}

type PageResult = Promise<string | FastifyReply> | string | FastifyReply;

function addModelPages<T>(
  routes: PageRoutes<T>,
  registry: Registry,
  signedIn: (visit: Visit<T>) => Promise<AdminVisit>,
): void {
  const withUser = (handler: (context: AdminVisit) => PageResult) => async (visit: Visit<T>) => {
    try {
      return await handler(await signedIn(visit));
    } catch (error) {
      if (error instanceof AppError && error.reason === 'ADMIN') return toSignIn(visit);
      throw error;
    }
  };
  const withModel = (
    handler: (context: ModelVisit, id: string) => PageResult,
    needs: PermissionAction = 'view',
  ) =>
    withUser((context) => {
      const { app, model: name, id = '' } = context.visit.request.params as Record<string, string>;
      const model = registry.model(`${app}/${name}`);
      const visit: ModelVisit = { ...context, model, may: abilitiesOf(context.user, model) };
      demand(visit, needs);
      return handler(visit, id);
    });
  const { get, post } = addressesOf(routes);
  const list = '/admin/:app/:model/';
  get(
    '/admin/',
    withUser((context) => indexPage(context)),
  );
  get(
    '/admin/search/',
    withUser((context) => searchPage(context)),
  );
  get(
    '/admin/:app/',
    withUser((context) => appPage(context)),
  );
  get(
    list,
    withModel((context) => listPage(context)),
  );
  post(list, withModel(bulk));
  get(`${list}export/`, withModel(exportList));
  get(`${list}choices/`, withModel(sendChoices));
  get(`${list}add/`, withModel(addPage, 'add'));
  post(`${list}add/`, withModel(add, 'add'));
  get(`${list}:id/change/`, withModel(changePage));
  post(`${list}:id/change/`, withModel(change));
  get(
    `${list}:id/delete/`,
    withModel((context, id) => deletePage(context, id)),
  );
  post(`${list}:id/delete/`, withModel(remove));
  get(`${list}:id/picked/`, withModel(pickedPage));
  get(`${list}:id/history/`, withModel(historyPage));
  get(
    `${list}:id/`,
    withModel(({ visit, model }, id) =>
      visit.reply
        .code(302)
        .header('location', `/admin/${model.path}/${encodeURIComponent(id)}/change/`)
        .send(),
    ),
  );
  get(`${list}:id/:form/`, withModel(objectFormPage));
  post(`${list}:id/:form/`, withModel(submitObjectForm));
  get(`${list}import/`, withModel(importPage, 'add'));
  post(`${list}import/confirm/`, withModel(confirmImport, 'add'));
  const upload = { ...open, accepts: 'multipart/form-data', bodyBytesMax: importBytesMax } as const;
  routes.post(`${list}import/`, upload, async (visit) => withModel(previewImport, 'add')(visit));
}

const open = { access: 'public' } as const;

/** Functions that add pages; an address without the slash at its end leads to the one with it. */
function addressesOf<T>(routes: PageRoutes<T>) {
  return {
    get(path: string, handler: (visit: Visit<T>) => PageResult): void {
      routes.get(path, open, async (visit) => handler(visit));
      routes.get(path.slice(0, -1), open, async ({ request, reply }) => {
        const [before = '', query] = request.url.split('?');
        return reply
          .code(301)
          .header('location', `${before}/${query === undefined ? '' : `?${query}`}`)
          .send();
      });
    },
    post(path: string, handler: (visit: Visit<T>) => PageResult): void {
      routes.post(path, open, async (visit) => handler(visit));
    },
  };
}

function appPage(context: AdminVisit): Promise<string> {
  const { app = '' } = context.visit.request.params as Record<string, string>;
  if (!context.registry.models.some(({ path }) => path.startsWith(`${app}/`)))
    throw new AppError('not_found', 'There is nothing at this address.');
  return indexPage(context, app);
}

/** Leads to the sign-in, and from there back to this page. */
function toSignIn<T>({ request, reply }: Visit<T>): FastifyReply {
  const next = request.method === 'GET' ? request.url : '/admin/';
  return reply
    .code(302)
    .header('location', `/admin/login/?next=${encodeURIComponent(next)}`)
    .send();
}

async function errorPage<T>(
  visit: Visit<T>,
  { status, message }: HttpError,
  { registry, accounts }: { registry: Registry; accounts: AdminAccounts<T> },
): Promise<string | undefined> {
  if (!/^\/admin(\/|\?|$)/.test(visit.request.url)) return undefined;
  const user = await accounts.userOf(visit).catch(() => undefined);
  const content = {
    title: titleFor(status),
    main: html`<div class="stack"><p>${message}${adviceFor(status)}</p><p class="actions">${linkButton('/admin/', 'Go to the overview')}</p>
<p class="small muted">Request <code>${visit.request.id}</code></p></div>`,
  };
  if (user)
    return adminPage(
      contextOf(registry, visit, { user, hasPassword: accounts.changePassword !== undefined }).frame(),
      content,
    );
  return standalone({ ...visit.frame(), service: registry.title, home: '/admin/', navigation: [] }, content);
}

function titleFor(status: number): string {
  const titles: Readonly<Record<number, string>> = {
    401: 'Sign in again',
    403: 'You do not have access',
    404: 'Page not found',
    413: 'This is too large',
    429: 'Too many attempts',
    503: 'Not available right now',
  };
  return titles[status] ?? (status < 500 ? 'The request could not be completed' : 'Something went wrong');
}

function adviceFor(status: number): string | undefined {
  if (status === 403) return ' If you need access, ask an administrator.';
  if (status >= 500) return ' Try again in a moment. If it happens again, report the request below.';
  return undefined;
}
