import { join } from 'node:path';
import { Gauge, type Registry } from 'prom-client';
import { accountMigrations, Lockout, openAccounts as openStaff, setupAddress } from '#kit/accounts/index.ts';
import { type Admin, adminMigrations } from '#kit/admin/index.ts';
import { checkBreachedFile, openPasswordRules } from '#kit/auth/password-rules.ts';
import { Passwords, passwordCost } from '#kit/auth/passwords.ts';
import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import { storedSecret } from '#kit/auth/stored-secret.ts';
import { TokenBucket } from '#kit/auth/token-bucket.ts';
import { Background } from '#kit/background.ts';
import { type Environment, refuse } from '#kit/config.ts';
import type { Database } from '#kit/db/index.ts';
import { type EventStream, openTableEvents } from '#kit/events/index.ts';
import { limitRequests } from '#kit/http/rate-limit.ts';
import { createHttpServer, type HttpApp, type HttpServer } from '#kit/http/server.ts';
import { acceptWebSockets } from '#kit/http/web-sockets.ts';
import { type JobQueue, openTableJobs } from '#kit/jobs/index.ts';
import {
  configOf,
  type DemoSignIn,
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '#kit/service.ts';
import { createBudgetsAdmin } from './admin.ts';
import { callerOf, commanderOf, countRequest, createBearer, type UserLimit } from './api-access.ts';
import { addAuthenticationApi } from './authentication/api.ts';
import {
  type Accounts,
  accountErrors,
  authenticate,
  authenticateHeader,
  browserSeconds,
  createDemoAccount,
  createTokens,
  demoFile,
  demoSignIns,
  LinkMails,
  LinkTokens,
  OnceKeys,
  SessionWatch,
  type SignedIn,
  sweepOnceKeys,
} from './authentication/index.ts';
import { addBudgetApi } from './budgets/api.ts';
import { type Core, deleteOldIdempotencyKeys } from './commands.ts';
import { addCustomerApi } from './customers/api.ts';
import { documentsOf } from './documents.ts';
import { expandEvents } from './events.ts';
import { addExpenseApi } from './expenses/api.ts';
import { addExportApi } from './exports/api.ts';
import { Hub } from './feed/index.ts';
import { addGraphql } from './graphql/api.ts';
import { typeDefinitions } from './graphql/schema.ts';
import { addImportApi } from './imports/api.ts';
import { Imports } from './imports/index.ts';
import { addLive } from './live/index.ts';
import { openMailer, senderOf } from './mailer.ts';
import { addNotificationApi } from './notifications/api.ts';
import { addOrderApi } from './orders/api.ts';
import { addPages } from './pages.ts';
import { addRecurringApi } from './recurring/api.ts';
import { addDueExpenses } from './recurring/index.ts';
import { repeat } from './repeat.ts';
import { addReportApi } from './reports/api.ts';
import { pageRoutes } from './routes.ts';
import { addSearchApi } from './search/api.ts';
import { settings } from './settings.ts';
import { createVisitors, type PageSession } from './site.ts';
import type { Tables } from './tables.ts';
import { createTaskKinds } from './task-kinds.ts';
import { addTaskApi } from './tasks/api.ts';
import { countOpenTasks, sweepTasks, type Tasks, workOnTasks } from './tasks/index.ts';
import { addTransactionApi } from './transactions/api.ts';

type Parts = ServiceParts<typeof settings>;

const keysMax = 100_000;
const leaseMs = 15_000;
const eventsKeptMs = 24 * 3_600_000;
const sweepMs = 60_000;
const recurringMs = 10_000;
const limitersMs = 10_000;

/** Budgets, expenses and what follows from them, with accounts of their own. */
export const budgets = defineService({
  name: 'budgets',
  summary: 'Budgets and expenses: limits, reports, imports and notifications',
  settings,
  migrations: [accountMigrations, adminMigrations, new URL('./migrations/', import.meta.url)],
  backupFiles: ['budgets.secret', demoFile],
  checks: [checkBreachedFile],
  build,
});

async function build(parts: Parts) {
  const { config, context, stack, openDatabase } = parts;
  const { clock, log } = context;
  const secret = config.JWT_SECRET ?? (await storedSecret(join(context.dataFolder, 'budgets.secret')));
  const db = await openDatabase<Tables>();
  const { events, queue } = openBrokers(parts, db);
  const core: Core = { db, clock, onCommitted: () => events.notify() };
  const server = stack.use(await createServer(parts, db));
  let url = '';
  const siteUrl = () => config.BUDGETS_PUBLIC_URL?.replace(/\/$/, '') ?? url;
  const mailer = stack.use(await openMailer(config, context));
  const sender = senderOf(config);
  const links = new LinkTokens(secret);
  const mails = new LinkMails({ core, queue, mailer, sender, tokens: links, siteUrl });
  const accounts = await openAccounts(parts, { core, mails, links, secret });
  const imports = stack.use(new Imports());
  const tasks: Tasks = { core, queue, kinds: createTaskKinds({ imports, mailer, sender }) };
  const userLimit = userLimitOf(config, clock);
  const limit = addApi(parts, server.app, { core, accounts, tasks, imports, userLimit, secret });
  const hub = stack.use(new Hub(events, stack.use(new SessionWatch(core, log))));
  const staff = await openStaff({ database: db, config, clock, log, stack, words: ['octavo', 'budgets'] });
  const admin = createBudgetsAdmin(staff, core, secret);
  addSite(parts, server.app, { core, accounts, tasks, imports, hub, userLimit, secret, limit, admin });
  await addLiveEdges(parts, server.app, { core, accounts, hub, userLimit });
  measure(context.metrics, { db, hub });
  if (config.BUDGETS_WORKER) startWork(parts, { core, events, mails, tasks });
  const grpcPort = await listenGrpc(parts, { core, accounts, hub, userLimit });
  url = await server.listen();
  const isDemo = context.environment !== 'production';
  return {
    ...{ url, grpcPort },
    demoSignIns: isDemo ? await demoSignIns(core, context.dataFolder) : undefined,
    setupLink: await setupAddress(staff, { url, context, inProduction: config.ADMIN_SETUP_LINK }),
    addDueExpenses: () => addDueExpenses(core, log),
  };
}

/** Loads the demo data, and returns how many expenses were added and how to sign in. In production there is none. */
export async function loadDemo(
  environment: Environment,
  context: ServiceContext,
): Promise<{ expenses: number; signIns: readonly DemoSignIn[] }> {
  if (context.environment === 'production') return { expenses: 0, signIns: [] };
  const config = configOf(budgets, environment);
  await using db = await openServiceDatabase<Tables>(budgets, config, context);
  const { clock, dataFolder } = context;
  const core: Core = { db, clock, onCommitted: () => {} };
  const passwords = new Passwords({ cost: passwordCost(config) });
  const caller = await createDemoAccount(core, { passwords, dataFolder });
  const { seedBudgets } = await import('./seed.ts');
  return { expenses: await seedBudgets(core, caller), signIns: await demoSignIns(core, dataFolder) };
}

/** Jobs and events are tables of the service's own database. */
function openBrokers(
  { context, stack }: Parts,
  database: Database<Tables>,
): { events: EventStream; queue: JobQueue } {
  const { clock, log, metrics } = context;
  const common = { clock, leaseMs, log, metrics };
  const source = '/octavo/budgets';
  const stream = { ...common, database, source, keptMs: eventsKeptMs, expand: expandEvents };
  return {
    events: stack.use(openTableEvents(stream)),
    queue: stack.use(openTableJobs(database, common)),
  };
}

function createServer({ config, context }: Parts, db: Database<Tables>): Promise<HttpServer> {
  return createHttpServer({
    name: 'budgets',
    context,
    title: 'Budgets',
    description:
      'Budgets and expenses, with notifications, search, recurring expenses, a ledger, imports and reports.',
    documents: documentsOf(typeDefinitions),
    checks: { database: () => db.ping() },
    errorBody: ({ code, message, fields }, { id }) => ({ error: { code, message, fields, requestId: id } }),
    errorTable: {
      validation_failed: { status: 400, code: 'VALIDATION_FAILED' },
      rate_limited: { status: 429, code: 'RATE_LIMIT_EXCEEDED' },
    },
    corsOrigin: config.BUDGETS_CORS_ORIGIN,
    trustedProxy: config.TRUST_PROXY,
    // Whoever follows notifications is in flight all the time: 5,000 of them, and 1,000 other requests.
    limits: { bodyBytes: 1024 * 1024, inFlight: 6_000 },
  });
}

async function openAccounts(
  { config, context, stack }: Parts,
  { core, mails, links, secret }: { core: Core; mails: LinkMails; links: LinkTokens; secret: string },
): Promise<Accounts> {
  const { db: database, clock } = core;
  const passwords = new Passwords({ cost: passwordCost(config) });
  const { LOCKOUT_THRESHOLD: threshold, LOCKOUT_MS: lockMs } = config;
  return {
    core,
    passwords,
    rules: await openPasswordRules(config, ['octavo', 'budgets'], stack),
    lockout: new Lockout({ database, passwords, clock, threshold, lockMs, locked: accountErrors.locked }),
    tokens: createTokens(secret, clock),
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
  }: Omit<Edges, 'hub'> & { tasks: Tasks; imports: Imports; secret: string },
): ClientLimit {
  const { clock } = context;
  const perMinute = config.BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE;
  const limiter =
    perMinute > 0 ? new RateLimiter({ requestsMax: perMinute, windowMs: 60_000, keysMax }) : undefined;
  const sweeping = setInterval(() => {
    userLimit.bucket?.sweep(clock.now());
    limiter?.sweep(clock.now());
  }, limitersMs).unref();
  stack.defer(() => clearInterval(sweeping));
  const bearer = createBearer(core, accounts.tokens, userLimit);
  app.decorateRequest('signedIn');
  const limit = limitRequests(limiter ? [{ name: 'auth', limiter }] : [], clock);
  addAuthenticationApi(app, { accounts, bearer, onceKeys: new OnceKeys(secret), limit });
  addBudgetApi(app, core, bearer);
  addExpenseApi(app, core, bearer);
  addSearchApi(app, core, bearer);
  addCustomerApi(app, core, bearer);
  addOrderApi(app, core, bearer);
  addTransactionApi(app, core, bearer);
  addNotificationApi(app, core, bearer);
  addRecurringApi(app, core, bearer);
  addTaskApi(app, tasks, bearer);
  addImportApi(app, { tasks, imports, access: bearer });
  addExportApi(app, core, bearer);
  addReportApi(app, core, bearer);
  return limit;
}

/** Throws `rate_limited` for a client address with too many sign-ins. */
type ClientLimit = ReturnType<typeof limitRequests>;

interface Site extends Edges {
  readonly tasks: Tasks;
  readonly imports: Imports;
  readonly secret: string;
  readonly limit: ClientLimit;
  readonly admin: Admin<PageSession>;
}

function addSite({ context }: Parts, app: HttpApp, { userLimit, ...site }: Site): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  addPages(app, {
    ...site,
    clock: context.clock,
    sessionSeconds: browserSeconds,
    visitors: createVisitors(site.core, (caller, reply) => countRequest(userLimit, caller, reply)),
    stopping: stopping.signal,
  });
}

function userLimitOf(config: Parts['config'], clock: Core['clock']): UserLimit {
  const { BUDGETS_RATE_LIMIT_PER_MINUTE: perMinute, BUDGETS_RATE_LIMIT_BURST: burst } = config;
  if (perMinute === 0) return { bucket: undefined, perMinute, clock };
  const most = burst === 0 ? perMinute : Math.min(burst, perMinute);
  return { bucket: new TokenBucket({ burst: most, perMinute, keysMax }), perMinute, clock };
}

/** Tasks, mails, recurring expenses, and the deletion of what has expired. Any number of processes may do it. */
function startWork(
  { context, stack }: Parts,
  { core, events, mails, tasks }: { core: Core; events: EventStream; mails: LinkMails; tasks: Tasks },
): void {
  const { log } = context;
  stack.use(events.publish());
  stack.use(mails.work());
  stack.use(workOnTasks(tasks, log));
  const addDue = async () => void (await addDueExpenses(core, log));
  stack.use(repeat('recurring expenses could not be added', addDue, { everyMs: recurringMs, log }));
  const sweep = async () => {
    await mails.sweep();
    await deleteOldIdempotencyKeys(core);
    await sweepOnceKeys(core);
    await sweepTasks(tasks, leaseMs);
  };
  stack.use(repeat('expired rows could not be deleted', sweep, { everyMs: sweepMs, log }));
}

function measure(metrics: Registry, { db, hub }: { db: Database<Tables>; hub: Hub }): void {
  new Gauge({
    name: 'budgets_followers',
    help: 'Connections that follow notifications: WebSockets, streams of pages and GraphQL, and WatchBudget.',
    registers: [metrics],
    collect() {
      this.set(hub.size);
    },
  });
  new Gauge({
    name: 'budgets_tasks_open',
    help: 'Tasks that are not finished.',
    registers: [metrics],
    async collect() {
      this.set(await countOpenTasks(db).catch(() => Number.NaN));
    },
  });
}

/** What the edges besides REST share. */
interface Edges {
  readonly core: Core;
  readonly accounts: Accounts;
  readonly hub: Hub;
  readonly userLimit: UserLimit;
}

const messageBytesMax = 64 * 1_024;
const grpcPortDefault = 50_053;
const grpcDrainMs = 5_000;

/** GraphQL and WebSockets, on the host of REST. */
async function addLiveEdges(
  { context, stack }: Parts,
  app: HttpApp,
  { core, accounts, hub, userLimit }: Edges,
): Promise<void> {
  const { environment, log } = context;
  const authenticateToken = (token: string) => authenticate(core, accounts.tokens, token);
  await acceptWebSockets(app, { messageBytesMax, protocols: ['graphql-transport-ws', 'bearer'] });
  stack.use(addLive(app, { core, hub, log, authenticate: authenticateToken, home: pageRoutes.budgets }));
  addGraphql(app, {
    shared: { core, accounts, hub },
    access: createBearer(core, accounts.tokens, userLimit),
    callerOf,
    commanderOf,
    authenticate: authenticateToken,
    count: (caller) => countRequest(userLimit, caller),
    isExplorable: environment !== 'production',
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
  if ((certificate === undefined) !== (key === undefined)) {
    const missing = key === undefined ? 'BUDGETS_GRPC_KEY_FILE' : 'BUDGETS_GRPC_CERTIFICATE_FILE';
    refuse({ [missing]: 'is needed for TLS beside the other file' });
  }
  const { serveGrpc } = await import('./grpc/server.ts');
  const server = stack.use(
    await serveGrpc({
      ...{
        core,
        hub,
        log,
        host,
        count: (caller: SignedIn) => countRequest(userLimit, caller),
        drainMs: grpcDrainMs,
      },
      port: config.GRPC_PORT ?? (port === 0 ? 0 : grpcPortDefault),
      authenticate: (authorization) => authenticateHeader(core, accounts.tokens, authorization),
      tls: certificate !== undefined && key !== undefined ? { certificate, key } : undefined,
    }),
  );
  return server.port;
}
