import { adminMigrations, openStaffSignIn } from '@octavo/admin';
import type { Clock, Environment } from '@octavo/core';
import { RateLimiter } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import { type Database, databaseCheck, healthMigrations, queriedGauges, rowGauge } from '@octavo/data';
import { limitMigrations, SharedLimits } from '@octavo/data/limits';
import {
  configOf,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import { useDrf } from '@octavo/drf';
import { drfErrors } from '@octavo/drf/dialect';
import { accountMigrations, keptSecret, openAccounts, setupAddress } from '@octavo/people/accounts';
import { checkOidc, oidcMigrations } from '@octavo/people/sign-in';
import { loadAssets, type PageRoutes, servePages } from '@octavo/web/pages';
import { Pictures } from '@octavo/web/pictures';
import {
  addTrailingSlashes,
  createHttpServer,
  type HttpApp,
  limitRequests,
  limitSharedRequests,
} from '@octavo/web/server';
import type { Registry } from 'prom-client';
import { type AccountApiParts, addAccountApi } from './accounts/api.ts';
import { createAccess, errorSchema, Tokens } from './accounts/index.ts';
import { type AccountPagesParts, addAccountPages } from './accounts/pages.ts';
import { quotesAdmin } from './admin.ts';
import { addCommentApi, type CommentApiParts } from './comments/api.ts';
import { addCommentPages, type CommentPagesParts } from './comments/pages.ts';
import { addDailyApi, type DailyApiParts } from './daily/api.ts';
import { createDayKeys } from './daily/index.ts';
import { addDailyPages, type DailyPagesParts } from './daily/pages.ts';
import { addLikeApi, type LikeApiParts } from './likes/api.ts';
import { addLikePages, type LikePagesParts } from './likes/pages.ts';
import { addListPages } from './lists/pages.ts';
import { createErrorPage } from './pages-error.ts';
import { addQuoteApi, type QuoteApiParts } from './quotes/api.ts';
import { countAll } from './quotes/index.ts';
import { addQuotePages, type QuotePagesParts } from './quotes/pages.ts';
import { addEditPages, type EditPagesParts } from './quotes/pages-edit.ts';
import { refilledWords } from './quotes/refill.ts';
import { addReportApi, type ReportApiParts } from './reports/api.ts';
import { addReportPages, type ReportPagesParts } from './reports/pages.ts';
import { pageRoutes } from './routes.ts';
import { addSearchPages, type SearchPagesParts } from './search/pages.ts';
import { type QuotesConfig, settings } from './settings.ts';
import { addCards } from './sharing/pages.ts';
import { createVisitors, type PageSession } from './site.ts';
import type { Tables } from './tables.ts';

const signInNames = { name: 'quotes', title: 'Quotes', signInPath: pageRoutes.signIn };
const sessionSeconds = 14 * 86_400;
const minuteMs = 60_000;
const sweepEveryMs = minuteMs;
/** Under which name the key of the permutation is kept. */
const dailySecret = 'quote of the day';

/** Quotes with likes and comments, a quote of the day, and search. */
export const quotes = defineService({
  name: 'quotes',
  summary: 'Quotes: one for each day, search, likes and comments',
  settings,
  migrations: [
    accountMigrations,
    adminMigrations,
    healthMigrations,
    limitMigrations,
    oidcMigrations,
    new URL('./migrations/', import.meta.url),
  ],
  derived: { quote_words: refilledWords },
  checks: [checkOidc],
  build,
});

async function build({ config, context, stack, openDatabase }: ServiceParts<typeof settings>) {
  const { clock, log, metrics } = context;
  const database = await openDatabase<Tables>();
  const accounts = await openAccounts({ database, config, clock, log, stack, words: ['octavo', 'quotes'] });
  const secret = await accounts.secret('quotes', config.QUOTES_SECRET);
  const dayKeys = createDayKeys(await accounts.secret(dailySecret));
  const tokens = new Tokens({ database, secret, clock, log });
  // Before the server, whose requests in flight go on to use it while the service stops.
  const pictures = stack.use(new Pictures());
  const server = stack.use(
    await createHttpServer({
      name: 'quotes',
      context,
      title: 'Quotes',
      description:
        'Quotes with likes and comments, a quote of the day, and search. Speaks the dialect of Django REST Framework.',
      checks: { database: databaseCheck({ database, log }) },
      ...drfErrors,
      errorSchema,
      challenge: 'Bearer realm="api"',
      corsOrigin: config.QUOTES_CORS_ORIGIN,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const { app } = server;
  const publicUrl = config.QUOTES_URL;
  const signIn = { ...signInNames, config, publicUrl, database, context, secret, stack };
  const oidc = await openStaffSignIn(accounts, signIn);
  const shared = {
    database,
    accounts,
    tokens,
    clock,
    dayKeys,
    ...createLimits(config, clock, stack.use(new SharedLimits({ database, clock, log }))),
    oidc,
    isOpenEditing: config.QUOTES_OPEN_EDITING,
    isModerated: config.QUOTES_MODERATION,
  };
  const admin = quotesAdmin({ accounts, database, clock, dayKeys, oidc });
  const visitors = createVisitors({ accounts, clock });
  const ownErrorPage = createErrorPage(visitors, oidc);
  for (const prefix of ['/quotes/', '/categories/', '/authors/', '/likes/', '/search/', '/accounts/'])
    addTrailingSlashes(app, prefix);
  servePages<PageSession>(
    app,
    {
      name: 'quotes',
      secret,
      sessionSeconds,
      clock,
      sameSite: 'lax',
      publicUrl: config.QUOTES_URL,
      async apiToken(visit) {
        const { reader } = await visitors(visit);
        return reader && (await tokens.issue(reader.id)).access;
      },
      assets: loadAssets(new URL('./assets/', import.meta.url)),
      errorPage: async (visit, error) =>
        (await admin.errorPage(visit, error)) ?? (await ownErrorPage(visit, error)),
    },
    (routes) => {
      addAllPages(routes, { ...shared, visitors });
      admin.addRoutes(routes);
    },
  );
  addCards(app, { database, pictures });
  addApis(app, shared, tokens);
  measure(database, metrics);
  stack.use(
    runEvery(sweepEveryMs, () => tokens.sweep(), { log, failure: 'expired tokens were not deleted' }),
  );
  const url = await server.listen();
  return {
    url,
    setupLink: () => setupAddress(accounts, { url, context, inProduction: config.ADMIN_SETUP_LINK }),
  };
}

/** The quotes without serving them, for the demo data. */
export async function openQuotes(environment: Environment, context: ServiceContext) {
  const database = await openServiceDatabase<Tables>(quotes, configOf(quotes, environment), context);
  return { database, dayKeys: createDayKeys(await keptSecret(database, dailySecret)) };
}

/** Creates the limits for each client. All processes share those that protect accounts. */
function createLimits(config: QuotesConfig, clock: Clock, limits: SharedLimits) {
  const { QUOTES_LIMIT_WRITES: requestsMax } = config;
  const writes = new RateLimiter({ requestsMax, windowMs: 5 * minuteMs, keysMax: 100_000 });
  const limit = (name: string, signsMax: number, windowMs: number) =>
    limitSharedRequests({ shared: limits.named(name, signsMax, windowMs) }, clock);
  return {
    limitWrites: limitRequests(requestsMax > 0 ? [{ name: 'writes', limiter: writes }] : [], clock),
    limitSignIns: limit('sign-ins', config.QUOTES_LIMIT_SIGN_INS, 5 * minuteMs),
    limitSignUps: limit('sign-ups', config.QUOTES_LIMIT_SIGN_UPS, 10 * minuteMs),
  };
}

type AllPagesParts = DailyPagesParts &
  QuotePagesParts &
  EditPagesParts &
  LikePagesParts &
  CommentPagesParts &
  ReportPagesParts &
  SearchPagesParts &
  AccountPagesParts;

function addAllPages(routes: PageRoutes<PageSession>, parts: AllPagesParts): void {
  addDailyPages(routes, parts);
  addQuotePages(routes, parts);
  addListPages(routes, parts);
  addEditPages(routes, parts);
  addLikePages(routes, parts);
  addCommentPages(routes, parts);
  addReportPages(routes, parts);
  addSearchPages(routes, parts);
  addAccountPages(routes, parts);
}

type AllApiParts = DailyApiParts &
  QuoteApiParts &
  LikeApiParts &
  CommentApiParts &
  ReportApiParts &
  AccountApiParts;

function addApis(
  app: HttpApp,
  shared: Omit<AllApiParts, 'access'> & Pick<AccountPagesParts, 'oidc'>,
  tokens: Tokens,
): void {
  app.register(async (scope) => {
    const drf = useDrf(scope);
    const parts = {
      ...shared,
      access: createAccess(scope, { tokens, accounts: shared.accounts, oidc: shared.oidc }),
    };
    addDailyApi(scope, drf, parts);
    addQuoteApi(scope, drf, parts);
    addLikeApi(scope, drf, parts);
    addCommentApi(scope, drf, parts);
    addReportApi(scope, drf, parts);
    addAccountApi(scope, drf, parts);
  });
}

/** Counts of records, read from the database when Prometheus asks. */
function measure(database: Database<Tables>, metrics: Registry): void {
  const helps = {
    quotes_published: 'Published quotes.',
    quotes_waiting: 'Quotes that wait for staff.',
    quotes_open_reports: 'Reports that wait for an answer.',
  };
  rowGauge(metrics, database, {
    name: 'quotes_proposed_changes',
    help: 'Changes of quotes that wait for staff.',
    table: 'quote_change',
  });
  queriedGauges(metrics, helps, async () => {
    const { published, waiting, reports } = await countAll(database);
    return { quotes_published: published, quotes_waiting: waiting, quotes_open_reports: reports };
  });
}
