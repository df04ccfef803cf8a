import { join } from 'node:path';
import { type Admin, adminMigrations } from '@octavo/admin';
import type { Environment } from '@octavo/core';
import { localOrigin } from '@octavo/core';
import { storedSecret, TokenBucket } from '@octavo/core/auth';
import { Background, runEvery } from '@octavo/core/concurrency';
import { checkBreachedFile, openPasswordRules, Passwords, passwordCost } from '@octavo/core/passwords';
import { type Database, databaseCheck, healthMigrations, queriedGauges, rowGauge } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
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
import { Gauge, type Registry } from 'prom-client';
import { createBudgetsAdmin, createStaffTokens } from './admin.ts';
import { addAuthenticationApi } from './authentication/api.ts';
import {
  type Accounts,
  AnonymousIdempotency,
  authenticate,
  authenticateHeader,
  browserSeconds,
  completeErasures,
  createDemoAccount,
  createLockout,
  createTokens,
  demoFile,
  demoPeople,
  demoSignIns,
  getsDemoData,
  LinkMails,
  LinkTokens,
  SessionWatch,
  type SignedIn,
  sweepOnceKeys,
} from './authentication/index.ts';
import { openSignIn } from './authentication/pages/oidc.ts';
import { type Brokers, checkBrokers, openBrokers } from './brokers.ts';
import { addBudgetApi } from './budgets/api.ts';
import { type Caller, type Context, deleteOldIdempotencyKeys } from './commands.ts';
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
import { addExportApi } from './exports/api.ts';
import { NotificationHub } from './feed/index.ts';
import { addGraphql } from './graphql/api.ts';
import { typeDefinitions } from './graphql/schema.ts';
import { checkGrpcTls } from './grpc/check-tls.ts';
import { addImportApi } from './imports/api.ts';
import { Imports } from './imports/index.ts';
import { addLive } from './live/index.ts';
import { checkPublicUrl, openMailer, senderOf } from './mailer.ts';
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
import { createVisitors, type PageSession } from './site/page-context.ts';
import type { Tables } from './store/tables.ts';
import { createTaskKinds } from './task-kinds.ts';
import { addTaskApi } from './tasks/api.ts';
import { countOpenTasks, sweepTasks, type Tasks, workOnTasks } from './tasks/index.ts';
import { addTransactionApi } from './transactions/api.ts';

type Parts = ServiceParts<typeof settings>;

const keysMax = 100_000;
const sweepMs = 60_000;
const recurringMs = 10_000;

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
  backupFiles: ['budgets.secret', demoFile],
  checks: [checkBreachedFile, checkPublicUrl, checkGrpcTls, checkOidc, checkBrokers],
  build,
});

async function build(parts: Parts) {
  const { config, context, stack, openDatabase } = parts;
  const { clock, log } = context;
  const secret = config.JWT_SECRET ?? (await storedSecret(join(context.dataFolder, 'budgets.secret')));
  const db = await openDatabase<Tables>();
  const brokers = await openBrokers(parts, db);
  const { events, queue } = brokers;
  const core: Context = { db, clock, onCommitted: () => events.notify() };
  // Before the server, whose requests in flight go on to use it while the service stops.
  const imports = stack.use(new Imports());
  const server = stack.use(await createServer(parts, db, brokers));
  keepNumberTexts(server.app);
  let url = '';
  const siteUrl = () => config.BUDGETS_PUBLIC_URL?.replace(/\/$/, '') ?? localOrigin(url);
  const mailer = stack.use(await openMailer(config, context));
  const sender = senderOf(config);
  const links = new LinkTokens(secret);
  const mails = new LinkMails({ core, queue, mailer, sender, tokens: links, siteUrl });
  const words = ['octavo', 'budgets'];
  const staff = await openStaff({ database: db, config, clock, log, stack, words, peopleRealm: 'staff' });
  const staffTokens = createStaffTokens(secret, clock);
  const passwords = new Passwords({ cost: passwordCost(config) });
  // One click in the portal then shows a service at work.
  const welcome = async (caller: Caller, email: string) => {
    if (context.environment === 'production' || !(await getsDemoData(email, context.dataFolder))) return;
    await (await import('./seed.ts')).seedEmptyAccount(core, caller);
  };
  const lockout = createLockout(config, core, passwords);
  const signIn = { config, core, passwords, lockout, staff, staffTokens, secret, context, stack, welcome };
  const oidc = await openSignIn(signIn);
  const accounts = await openAccounts(parts, { core, mails, links, secret, passwords, lockout, oidc });
  const tasks: Tasks = { core, queue, kinds: createTaskKinds({ imports, mailer, sender }) };
  const userLimit = userLimitOf(config, clock);
  const limit = addApi(parts, server.app, { core, accounts, tasks, imports, userLimit, secret });
  const hub = stack.use(new NotificationHub(events, stack.use(new SessionWatch(core, log))));
  const admin = createBudgetsAdmin(staff, core, { tokens: staffTokens, oidc });
  const stopping = new AbortController();
  server.app.addHook('preClose', async () => stopping.abort());
  const edges: Edges = { core, accounts, hub, userLimit, stopping: stopping.signal };
  addSite(parts, server.app, { ...edges, tasks, imports, secret, limit, admin });
  await addLiveEdges(parts, server.app, edges);
  measure(context.metrics, { db, hub });
  if (config.BUDGETS_WORKER) startWork(parts, { core, events, mails, tasks });
  const grpcPort = await listenGrpc(parts, edges);
  url = await server.listen();
  return {
    url,
    grpcPort,
    ...(context.environment !== 'production' && { demoSignIns: () => demoSignIns(core, context.dataFolder) }),
    setupLink: () => setupAddress(staff, { url, context, inProduction: config.ADMIN_SETUP_LINK }),
    addDueExpenses: () => addDueExpenses(core, log),
  };
}

/**
 * Loads the demo data, and returns how many expenses were added and how to sign in; undefined if the address of its account belongs to
 * another person. In production there is none.
 */
export async function loadDemo(
  environment: Environment,
  context: ServiceContext,
): Promise<{ expenses: number; signIns: readonly DemoSignIn[] } | undefined> {
  if (context.environment === 'production') return { expenses: 0, signIns: [] };
  const config = configOf(budgets, environment);
  await using db = await openServiceDatabase<Tables>(budgets, config, context);
  const { clock, dataFolder } = context;
  const core: Context = { db, clock, onCommitted: () => {} };
  const passwords = new Passwords({ cost: passwordCost(config) });
  const caller = await createDemoAccount(core, { passwords, dataFolder });
  if (!caller) return undefined;
  const { seedBudgets, seedEmptyAccount } = await import('./seed.ts');
  const expenses = await seedBudgets(core, caller);
  for (const person of await demoPeople(core)) await seedEmptyAccount(core, person);
  return { expenses, signIns: await demoSignIns(core, dataFolder) };
}

function createServer(
  { config, context }: Parts,
  db: Database<Tables>,
  { events, isRemote }: Brokers,
): Promise<HttpServer> {
  return createHttpServer({
    name: 'budgets',
    context,
    title: 'Budgets',
    description:
      'Budgets and expenses, with notifications, search, recurring expenses, a ledger, imports and reports.',
    documents: documentsOf(typeDefinitions),
    checks: { database: databaseCheck({ database: db, log: context.log }) },
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
  { config, context, stack }: Parts,
  parts: Pick<Accounts, 'core' | 'links' | 'passwords' | 'lockout' | 'oidc'> & {
    mails: LinkMails;
    secret: string;
  },
): Promise<Accounts> {
  const { core, mails, links, secret, passwords, lockout, oidc } = parts;
  return {
    core,
    passwords,
    lockout,
    rules: await openPasswordRules(config, ['octavo', 'budgets'], stack),
    log: context.log,
    tokens: createTokens(secret, core.clock, oidc),
    oidc,
    links,
    background: stack.use(new Background(context.log)),
    mail: (linkId) => mails.add(linkId),
  };
}

function addApi(
  { config, context, stack }: Parts,
  app: HttpApp,
  {
    core,
    accounts,
    tasks,
    imports,
    userLimit,
    secret,
  }: Omit<Edges, 'hub' | 'stopping'> & { tasks: Tasks; imports: Imports; secret: string },
): ClientLimit {
  const { clock } = context;
  const perMinute = config.BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE;
  const limits = stack.use(new SharedLimits({ database: core.db, clock, log: context.log }));
  const bearer = createBearer(core, accounts.tokens, userLimit);
  app.decorateRequest('signedIn');
  const limit = limitSharedRequests({ shared: limits.named('auth', perMinute, 60_000) }, clock);
  addAuthenticationApi(app, { accounts, bearer, onceKeys: new AnonymousIdempotency(secret), limit });
  addBudgetApi(app, core, bearer);
  addExpenseApi(app, core, bearer);
  addSearchApi(app, core, bearer);
  addCustomerApi(app, core, bearer);
  addOrderApi(app, core, bearer);
  addTransactionApi(app, core, bearer);
  addNotificationApi(app, core, bearer);
  addRecurringApi(app, core, bearer);
  addRuleApi(app, core, bearer);
  addTaskApi(app, tasks, bearer);
  addImportApi(app, { tasks, imports, access: bearer });
  addExportApi(app, core, bearer);
  addReportApi(app, core, bearer);
  return limit;
}

/** Throws `rate_limited` for a client address with too many sign-ins. */
type ClientLimit = LimitSharedRequest;

interface Site extends Edges {
  readonly tasks: Tasks;
  readonly imports: Imports;
  readonly secret: string;
  readonly limit: ClientLimit;
  readonly admin: Admin<PageSession>;
}

function addSite({ context }: Parts, app: HttpApp, { userLimit, ...site }: Site): void {
  addPages(app, {
    ...site,
    clock: context.clock,
    sessionSeconds: browserSeconds,
    visitors: createVisitors(site.core, (caller, reply) => countRequest(userLimit, caller, reply)),
  });
}

function userLimitOf(config: Parts['config'], clock: Context['clock']): UserLimit {
  const { BUDGETS_RATE_LIMIT_PER_MINUTE: perMinute, BUDGETS_RATE_LIMIT_BURST: burst } = config;
  if (perMinute === 0) return { bucket: undefined, perMinute, clock };
  const most = burst === 0 ? perMinute : Math.min(burst, perMinute);
  return { bucket: new TokenBucket({ burst: most, perMinute, keysMax }), perMinute, clock };
}

/** Tasks, mails, recurring expenses, and the deletion of what has expired. Any number of processes may do it. */
function startWork(
  { config, context, stack }: Parts,
  { core, events, mails, tasks }: { core: Context; events: EventStream; mails: LinkMails; tasks: Tasks },
): void {
  const { log } = context;
  stack.use(events.publish());
  stack.use(mails.work());
  stack.use(workOnTasks(tasks, log));
  const addDue = () => addDueExpenses(core, log);
  stack.use(runEvery(recurringMs, addDue, { log, failure: 'recurring expenses could not be added' }));
  const sweep = async () => {
    await mails.sweep();
    await deleteOldIdempotencyKeys(core);
    await sweepOnceKeys(core);
    await sweepTasks(tasks, config.JOB_LEASE_MS);
    await completeErasures(core);
  };
  stack.use(runEvery(sweepMs, sweep, { log, failure: 'expired rows could not be deleted' }));
}

function measure(metrics: Registry, { db, hub }: { db: Database<Tables>; hub: NotificationHub }): void {
  new Gauge({
    name: 'budgets_followers',
    help: 'Connections that follow notifications: WebSockets, streams of pages and GraphQL, and WatchBudget.',
    registers: [metrics],
    collect() {
      this.set(hub.size);
    },
  });
  queriedGauges(metrics, { budgets_tasks_open: 'Tasks that are not finished.' }, async () => {
    return { budgets_tasks_open: await countOpenTasks(db) };
  });
  rowGauge(metrics, db, { name: 'budgets_budgets', help: 'Budgets of all accounts.', table: 'budget' });
}

/** Dependencies shared by the edges besides REST. */
interface Edges {
  readonly core: Context;
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
  { context, stack }: Parts,
  app: HttpApp,
  { core, accounts, hub, userLimit, stopping }: Edges,
): Promise<void> {
  const { environment, log } = context;
  const authenticateToken = (token: string) => authenticate(core, accounts.tokens, token);
  await acceptWebSockets(app, { messageBytesMax, protocols: ['graphql-transport-ws', 'bearer'] });
  stack.use(addLive(app, { core, hub, log, authenticate: authenticateToken, home: pageRoutes.budgets }));
  addGraphql(app, {
    shared: { core, accounts, hub },
    access: createBearer(core, accounts.tokens, userLimit),
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
  { config, context, stack }: Parts,
  { core, accounts, hub, userLimit }: Edges,
): Promise<number | undefined> {
  const { host, port, log } = context;
  if (port === undefined) return undefined;
  const { BUDGETS_GRPC_CERTIFICATE_FILE: certificate, BUDGETS_GRPC_KEY_FILE: key } = config;
  const { serveGrpc } = await import('./grpc/server.ts');
  const server = stack.use(
    await serveGrpc({
      core,
      hub,
      log,
      host,
      count: (caller: SignedIn) => countRequest(userLimit, caller),
      drainMs: grpcDrainMs,
      port: config.GRPC_PORT ?? (port === 0 ? 0 : grpcPortDefault),
      authenticate: (authorization) => authenticateHeader(core, accounts.tokens, authorization),
      tls: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    }),
  );
  return server.port;
}
