import { accountMigrations, keptSecret, openAccounts, setupAddress } from '#kit/accounts/index.ts';
import { adminMigrations } from '#kit/admin/index.ts';
import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import type { Clock } from '#kit/clock.ts';
import type { Environment } from '#kit/config.ts';
import { drfErrors } from '#kit/drf/errors.ts';
import { useDrf } from '#kit/drf/scope.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import { limitRequests } from '#kit/http/rate-limit.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { addTrailingSlashes } from '#kit/http/trailing-slash.ts';
import {
  configOf,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '#kit/service.ts';
import { addAccountApi } from './accounts/api.ts';
import { createAccess, errorSchema, Tokens } from './accounts/index.ts';
import { addAccountPages } from './accounts/pages.ts';
import { quotesAdmin } from './admin.ts';
import { addCommentApi } from './comments/api.ts';
import { addCommentPages } from './comments/pages.ts';
import { addDailyApi } from './daily/api.ts';
import { createDayKeys } from './daily/index.ts';
import { addDailyPages } from './daily/pages.ts';
import { addLikeApi } from './likes/api.ts';
import { addLikePages } from './likes/pages.ts';
import { measure } from './metrics.ts';
import { createErrorPage } from './pages-error.ts';
import { addQuoteApi } from './quotes/api.ts';
import { addQuotePages } from './quotes/pages.ts';
import { addEditPages } from './quotes/pages-edit.ts';
import { addReportApi } from './reports/api.ts';
import { addReportPages } from './reports/pages.ts';
import { addSearchPages } from './search/pages.ts';
import { type QuotesConfig, settings } from './settings.ts';
import { addCards } from './sharing/pages.ts';
import { createVisitors, type PageSession } from './site.ts';
import type { Tables } from './tables.ts';

const sessionSeconds = 14 * 86_400;
const sweepEveryMs = 60_000;
/** Under which name the key of the permutation is kept. */
const dailySecret = 'quote of the day';

/** Quotes with likes and comments, a quote of the day, and search. */
export const quotes = defineService({
  name: 'quotes',
  summary: 'Quotes: one for each day, search, likes and comments',
  settings,
  migrations: [accountMigrations, adminMigrations, new URL('./migrations/', import.meta.url)],
  build,
});

async function build({ config, context, stack, openDatabase }: ServiceParts<typeof settings>) {
  const { clock, log, metrics } = context;
  const database = await openDatabase<Tables>();
  const accounts = await openAccounts({ database, config, clock, log, stack, words: ['octavo', 'quotes'] });
  const secret = await accounts.secret('quotes', config.QUOTES_SECRET);
  const dayKeys = createDayKeys(await accounts.secret(dailySecret));
  const tokens = new Tokens({ database, secret, clock, log });
  const server = stack.use(
    await createHttpServer({
      name: 'quotes',
      context,
      title: 'Quotes',
      description:
        'Quotes with likes and comments, a quote of the day, and search. Speaks the dialect of Django REST Framework.',
      checks: { database: () => database.ping() },
      ...drfErrors,
      errorSchema,
      challenge: 'Bearer realm="api"',
      corsOrigin: config.QUOTES_CORS_ORIGIN,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const { app } = server;
  const limits = createLimits(config, clock);
  const shared = {
    ...{ database, accounts, tokens, clock, dayKeys, ...limits },
    isOpenEditing: config.QUOTES_OPEN_EDITING,
    isModerated: config.QUOTES_MODERATION,
  };
  const admin = quotesAdmin({ accounts, database, clock, dayKeys });
  const visitors = createVisitors({ accounts, clock });
  const ownErrorPage = createErrorPage(visitors);
  for (const prefix of ['/quotes/', '/categories/', '/search/', '/accounts/'])
    addTrailingSlashes(app, prefix);
  servePages<PageSession>(
    app,
    {
      ...{ name: 'quotes', secret, sessionSeconds, clock },
      sameSite: 'lax',
      publicUrl: config.QUOTES_URL,
      assets: loadAssets(new URL('./assets/', import.meta.url)),
      errorPage: async (visit, error) =>
        (await admin.errorPage(visit, error)) ?? (await ownErrorPage(visit, error)),
    },
    (routes) => {
      const parts = { ...shared, visitors };
      addDailyPages(routes, parts);
      addQuotePages(routes, parts);
      addEditPages(routes, parts);
      addLikePages(routes, parts);
      addCommentPages(routes, parts);
      addReportPages(routes, parts);
      addSearchPages(routes, parts);
      addAccountPages(routes, parts);
      admin.addRoutes(routes);
    },
  );
  addCards(app, database);
  app.register(async (scope) => {
    const drf = useDrf(scope);
    const parts = { ...shared, access: createAccess(scope, tokens) };
    addDailyApi(scope, drf, parts);
    addQuoteApi(scope, drf, parts);
    addLikeApi(scope, drf, parts);
    addCommentApi(scope, drf, parts);
    addReportApi(scope, drf, parts);
    addAccountApi(scope, drf, parts);
  });
  measure(database, metrics);
  const sweeping = setInterval(() => {
    tokens.sweep().catch((err) => log.warn({ err }, 'expired tokens were not deleted'));
  }, sweepEveryMs).unref();
  stack.defer(() => clearInterval(sweeping));
  const url = await server.listen();
  return {
    url,
    setupLink: await setupAddress(accounts, { url, context, inProduction: config.ADMIN_SETUP_LINK }),
  };
}

/** The quotes without serving them, for the demo data. */
export async function openQuotes(environment: Environment, context: ServiceContext) {
  const database = await openServiceDatabase<Tables>(quotes, configOf(quotes, environment), context);
  return { database, dayKeys: createDayKeys(await keptSecret(database, dailySecret)) };
}

/** What one client may do in a time. */
function createLimits(config: QuotesConfig, clock: Clock) {
  const limit = (name: string, requestsMax: number, windowMs: number) =>
    limitRequests(
      requestsMax > 0
        ? [{ name, limiter: new RateLimiter({ requestsMax, windowMs, keysMax: 100_000 }) }]
        : [],
      clock,
    );
  return {
    limitWrites: limit('writes', config.QUOTES_LIMIT_WRITES, 5 * 60_000),
    limitSignIns: limit('sign-ins', config.QUOTES_LIMIT_SIGN_INS, 5 * 60_000),
    limitSignUps: limit('sign-ups', config.QUOTES_LIMIT_SIGN_UPS, 10 * 60_000),
  };
}
