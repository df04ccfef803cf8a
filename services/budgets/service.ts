import { join } from 'node:path';
import { type Admin, adminMigrations } from '@octavo/admin';
import type { Environment } from '@octavo/core';
import { localOrigin } from '@octavo/core';
import { storedSecret, TokenBucket } from '@octavo/core/auth';
import { Background } from '@octavo/core/concurrency';
import { checkBreachedFile, openPasswordRules, Passwords, passwordCost } from '@octavo/core/passwords';
import { type Database, databaseCheck, healthMigrations } from '@octavo/data';
import { limitMigrations, SharedLimits } from '@octavo/data/limits';
import {
  configOf,
  type DemoSignIn,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import { accountMigrations, openAccounts as openStaff, setupAddress } from '@octavo/people/accounts';
import { checkOidc, oidcMigrations } from '@octavo/people/sign-in';
import {
  acceptWebSockets,
  createHttpServer,
  type HttpApp,
  type HttpServer,
  keepNumberTexts,
  type LimitSharedRequest,
  limitSharedRequests,
} from '@octavo/web/server';
import { createBudgetsAdmin, createStaffTokens } from './admin.ts';
import { addAuthenticationApi } from './authentication/api.ts';
import {
  type Accounts,
  AnonymousIdempotency,
  authenticate,
  authenticateHeader,
  browserSeconds,
  createDemoAccount,
  createLockout,
  createTokens,
  demoFile,
  demoPeople,
  demoSignIns,
  getsDemoData,
  LinkTokens,
  linkMails,
  SessionWatch,
  type SignedIn,
} from './authentication/index.ts';
import { openSignIn } from './authentication/pages/oidc.ts';
import { type Brokers, checkBrokers, openBrokers } from './brokers.ts';
import { addBudgetApi } from './budgets/api.ts';
import type { Caller, Context } from './commands.ts';
import { addCustomerApi } from './customers/api.ts';
import {
  callerOf,
  callerWithIdempotencyKey,
  countRequest,
  createBearer,
  type UserLimit,
} from './edges/api-access.ts';
import { documentsOf } from './edges/documents.ts';
import { addExpenseApi } from './expenses/api.ts';
import { addBulkApi } from './expenses/bulk/api.ts';
import { addExportApi } from './exports/api.ts';
import { NotificationHub } from './feed/index.ts';
import { addGraphql } from './graphql/api.ts';
import { typeDefinitions } from './graphql/schema.ts';
import { checkGrpcTls } from './grpc/check-tls.ts';
import { addImportApi } from './imports/api.ts';
import { Imports } from './imports/index.ts';
import { addLive } from './live/index.ts';
import type { MailJobs } from './mail-jobs.ts';
import { checkMails, openMailer, senderOf } from './mailer.ts';
import { addNotificationApi } from './notifications/api.ts';
import { addOrderApi } from './orders/api.ts';
import { addPages } from './pages.ts';
import { addRecurringApi } from './recurring/api.ts';
import { addDueExpenses } from './recurring/index.ts';
import { addReportApi } from './reports/api.ts';
import { pageRoutes } from './routes.ts';
import { addRuleApi } from './rules/api.ts';
import { addSearchApi } from './search/api.ts';
import { settings } from './settings.ts';
import { addSharingApi } from './sharing/api.ts';
import { invitationMails, type Sharing } from './sharing/index.ts';
import { createVisitors, type PageSession } from './site/page-context.ts';
import { refilledWords } from './store/expense-search-index.ts';
import type { Tables } from './store/tables.ts';
import { createTaskKinds } from './task-kinds.ts';
import { addTaskApi } from './tasks/api.ts';
import type { Tasks } from './tasks/index.ts';
import { addTransactionApi } from './transactions/api.ts';
import { measure, startWork } from './work.ts';

type Parts = ServiceParts<typeof settings>;

const keysMax = 100_000;

/** Budgets, expenses and what follows from them, with accounts of their own. */
export const budgets = defineService({
  name: 'budgets',
  summary: 'Budgets and expenses: limits, reports, imports and notifications',
  settings,
  migrations: [
    accountMigrations,
    adminMigrations,
    healthMigrations,
    limitMigrations,
    oidcMigrations,
    new URL('./migrations/', import.meta.url),
  ],
  derived: { expense_words: refilledWords },
  backupFiles: ['budgets.secret', demoFile],
  keptSecrets: { JWT_SECRET: 'budgets.secret' },
  checks: [checkBreachedFile, checkMails, checkGrpcTls, checkOidc, checkBrokers],
  build,
});

async function build(parts: Parts) {
  const { config, context: serviceContext, stack, openDatabase } = parts;
  const { clock, log } = serviceContext;
  const secret = config.JWT_SECRET ?? (await storedSecret(join(serviceContext.dataFolder, 'budgets.secret')));
  const db = await openDatabase<Tables>();
  const brokers = await openBrokers(parts, db);
  const { events, queue } = brokers;
  const context: Context = { db, clock, config, onCommitted: () => events.notify() };
  // Before the server, whose requests in flight go on to use it while the service stops.
  const imports = stack.use(new Imports());
  const server = stack.use(await createServer(parts, db, brokers));
  keepNumberTexts(server.app);
  let url = '';
  const siteUrl = () => config.BUDGETS_PUBLIC_URL?.replace(/\/$/, '') ?? localOrigin(url);
  const mailer = stack.use(await openMailer(config, serviceContext));
  const sender = senderOf(config);
  const links = new LinkTokens(secret);
  const mails = linkMails({ context, queue, mailer, sender, tokens: links, siteUrl });
  const invitations = invitationMails({ context, queue, mailer, sender, siteUrl });
  const sharing: Sharing = { context, mail: (id) => invitations.add(id) };
  const words = ['octavo', 'budgets'];
  const staff = await openStaff({ database: db, config, clock, log, stack, words, peopleRealm: 'staff' });
  const staffTokens = createStaffTokens(secret, clock);
  const passwords = new Passwords({ cost: passwordCost(config) });
  // One click in the portal then shows a service at work.
  const welcome = async (caller: Caller, email: string) => {
    if (
      serviceContext.environment === 'production' ||
      !(await getsDemoData(email, serviceContext.dataFolder))
    )
      return;
    await (await import('./seed.ts')).seedEmptyAccount(context, caller);
  };
  const lockout = createLockout(config, context, passwords);
  const signIn = {
    config,
    context,
    passwords,
    lockout,
    staff,
    staffTokens,
    secret,
    log,
    suite: serviceContext.suite,
    stack,
    welcome,
  };
  const oidc = await openSignIn(signIn);
  const accounts = await openAccounts(parts, { context, mails, links, secret, passwords, lockout, oidc });
  const tasks: Tasks = { context, queue, kinds: createTaskKinds({ imports, mailer, sender }) };
  const userLimit = userLimitOf(config, clock);
  const limit = addApi(parts, server.app, { context, accounts, tasks, imports, sharing, userLimit, secret });
  const hub = stack.use(new NotificationHub(events, stack.use(new SessionWatch(context, log))));
  const admin = createBudgetsAdmin(staff, context, { tokens: staffTokens, oidc });
  const stopping = new AbortController();
  server.app.addHook('preClose', async () => stopping.abort());
  const edges: Edges = { context, accounts, hub, userLimit, stopping: stopping.signal };
  addSite(parts, server.app, { ...edges, tasks, imports, sharing, secret, limit, admin });
  await addLiveEdges(parts, server.app, edges);
  measure(serviceContext.metrics, { db, hub });
  if (config.BUDGETS_WORKER) startWork(parts, { context, events, mails: [mails, invitations], tasks });
  const grpcPort = await listenGrpc(parts, edges);
  url = await server.listen();
  return {
    url,
    grpcPort,
    ...(serviceContext.environment !== 'production' && {
      demoSignIns: () => demoSignIns(context, serviceContext.dataFolder),
    }),
    setupLink: () =>
      setupAddress(staff, { url, context: serviceContext, inProduction: config.ADMIN_SETUP_LINK }),
    addDueExpenses: () => addDueExpenses(context, log),
  };
}

/**
 * Loads the demo data, and returns how many expenses were added and how to sign in; undefined if the address of its account belongs to
 * another person. In production there is none.
 */
export async function loadDemo(
  environment: Environment,
  serviceContext: ServiceContext,
): Promise<{ expenses: number; signIns: readonly DemoSignIn[] } | undefined> {
  if (serviceContext.environment === 'production') return { expenses: 0, signIns: [] };
  const config = configOf(budgets, environment);
  await using db = await openServiceDatabase<Tables>(budgets, config, serviceContext);
  const { clock, dataFolder } = serviceContext;
  const context: Context = { db, clock, config, onCommitted: () => {} };
  const passwords = new Passwords({ cost: passwordCost(config) });
  const caller = await createDemoAccount(context, { passwords, dataFolder });
  if (!caller) return undefined;
  const { seedBudgets, seedEmptyAccount } = await import('./seed.ts');
  const expenses = await seedBudgets(context, caller);
  for (const person of await demoPeople(context)) await seedEmptyAccount(context, person);
  return { expenses, signIns: await demoSignIns(context, dataFolder) };
}

function createServer(
  { config, context: serviceContext }: Parts,
  db: Database<Tables>,
  { events, isRemote }: Brokers,
): Promise<HttpServer> {
  return createHttpServer({
    name: 'budgets',
    context: serviceContext,
    title: 'Budgets',
    description:
      'Budgets and expenses, with notifications, search, recurring expenses, a ledger, imports and reports.',
    documents: documentsOf(typeDefinitions),
    checks: { database: databaseCheck({ database: db, log: serviceContext.log }) },
    // Without NATS, the events are in the database.
    optionalChecks: isRemote ? { eventStream: (signal) => events.ping(signal) } : {},
    errorBody: ({ code, message, fields }, { id }) => ({ error: { code, message, fields, requestId: id } }),
    errorTable: {
      validation_failed: { status: 400, code: 'VALIDATION_FAILED' },
      rate_limited: { status: 429, code: 'RATE_LIMIT_EXCEEDED' },
    },
    corsOrigin: config.BUDGETS_CORS_ORIGIN,
    trustedProxy: config.TRUST_PROXY,
    limits: { bodyBytes: 1024 * 1024 },
  });
}

async function openAccounts(
  { config, context: serviceContext, stack }: Parts,
  parts: Pick<Accounts, 'context' | 'links' | 'passwords' | 'lockout' | 'oidc'> & {
    mails: MailJobs;
    secret: string;
  },
): Promise<Accounts> {
  const { context, mails, links, secret, passwords, lockout, oidc } = parts;
  return {
    context,
    passwords,
    lockout,
    rules: await openPasswordRules(config, ['octavo', 'budgets'], stack),
    log: serviceContext.log,
    tokens: createTokens(secret, context.clock, oidc),
    oidc,
    links,
    background: stack.use(new Background(serviceContext.log)),
    mail: (linkId) => mails.add(linkId),
  };
}

function addApi(
  { config, context: serviceContext, stack }: Parts,
  app: HttpApp,
  {
    context,
    accounts,
    tasks,
    imports,
    sharing,
    userLimit,
    secret,
  }: Omit<Edges, 'hub' | 'stopping'> & { tasks: Tasks; imports: Imports; sharing: Sharing; secret: string },
): ClientLimit {
  const { clock } = serviceContext;
  const perMinute = config.BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE;
  const limits = stack.use(new SharedLimits({ database: context.db, clock, log: serviceContext.log }));
  const bearer = createBearer(context, accounts.tokens, userLimit);
  app.decorateRequest('signedIn');
  const limit = limitSharedRequests({ shared: limits.named('auth', perMinute, 60_000) }, clock);
  addAuthenticationApi(app, { accounts, bearer, onceKeys: new AnonymousIdempotency(secret), limit });
  addBudgetApi(app, context, bearer);
  addSharingApi(app, sharing, bearer);
  addExpenseApi(app, context, bearer);
  addBulkApi(app, tasks, bearer);
  addSearchApi(app, context, bearer);
  addCustomerApi(app, context, bearer);
  addOrderApi(app, context, bearer);
  addTransactionApi(app, context, bearer);
  addNotificationApi(app, context, bearer);
  addRecurringApi(app, context, bearer);
  addRuleApi(app, tasks, bearer);
  addTaskApi(app, tasks, bearer);
  addImportApi(app, { tasks, imports, access: bearer });
  addExportApi(app, context, bearer);
  addReportApi(app, context, bearer);
  return limit;
}

/** Throws `rate_limited` for a client address with too many sign-ins. */
type ClientLimit = LimitSharedRequest;

interface Site extends Edges {
  readonly tasks: Tasks;
  readonly imports: Imports;
  readonly sharing: Sharing;
  readonly secret: string;
  readonly limit: ClientLimit;
  readonly admin: Admin<PageSession>;
}

function addSite({ context: serviceContext }: Parts, app: HttpApp, { userLimit, ...site }: Site): void {
  addPages(app, {
    ...site,
    clock: serviceContext.clock,
    sessionSeconds: browserSeconds,
    visitors: createVisitors(site.context, (caller, reply) => countRequest(userLimit, caller, reply)),
  });
}

function userLimitOf(config: Parts['config'], clock: Context['clock']): UserLimit {
  const { BUDGETS_RATE_LIMIT_PER_MINUTE: perMinute, BUDGETS_RATE_LIMIT_BURST: burst } = config;
  if (perMinute === 0) return { bucket: undefined, perMinute, clock };
  const most = burst === 0 ? perMinute : Math.min(burst, perMinute);
  return { bucket: new TokenBucket({ burst: most, perMinute, keysMax }), perMinute, clock };
}

/** Dependencies shared by the edges besides REST. */
interface Edges {
  readonly context: Context;
  readonly accounts: Accounts;
  readonly hub: NotificationHub;
  readonly userLimit: UserLimit;
  /** Ends streams when the service stops. */
  readonly stopping: AbortSignal;
}

const messageBytesMax = 64 * 1_024;
const grpcPortDefault = 50_053;
const grpcDrainMs = 5_000;

/** GraphQL and WebSockets, on the host of REST. */
async function addLiveEdges(
  { context: serviceContext, stack }: Parts,
  app: HttpApp,
  { context, accounts, hub, userLimit, stopping }: Edges,
): Promise<void> {
  const { environment, log } = serviceContext;
  const authenticateToken = (token: string) => authenticate(context, accounts.tokens, token);
  await acceptWebSockets(app, { messageBytesMax, protocols: ['graphql-transport-ws', 'bearer'] });
  stack.use(addLive(app, { context, hub, log, authenticate: authenticateToken, home: pageRoutes.budgets }));
  addGraphql(app, {
    shared: { context, accounts, hub },
    access: createBearer(context, accounts.tokens, userLimit),
    callerOf,
    commanderOf: callerWithIdempotencyKey,
    authenticate: authenticateToken,
    count: (caller) => countRequest(userLimit, caller),
    isExplorable: environment !== 'production',
    stopping,
    log,
  });
}

/** Serves gRPC on a port of its own, and returns that; undefined if the service does not listen. */
async function listenGrpc(
  { config, context: serviceContext, stack }: Parts,
  { context, accounts, hub, userLimit }: Edges,
): Promise<number | undefined> {
  const { host, port, log } = serviceContext;
  if (port === undefined) return undefined;
  const { BUDGETS_GRPC_CERTIFICATE_FILE: certificate, BUDGETS_GRPC_KEY_FILE: key } = config;
  const { serveGrpc } = await import('./grpc/server.ts');
  const server = stack.use(
    await serveGrpc({
      context,
      hub,
      log,
      host,
      count: (caller: SignedIn) => countRequest(userLimit, caller),
      drainMs: grpcDrainMs,
      port: config.GRPC_PORT ?? (port === 0 ? 0 : grpcPortDefault),
      authenticate: (authorization) => authenticateHeader(context, accounts.tokens, authorization),
      tls: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    }),
  );
  return server.port;
}
