import { basename, dirname, resolve } from 'node:path';
import { adminMigrations } from '@octavo/admin';
import { type Config, refuse, type Settings } from '@octavo/core';
import { Background, runEvery } from '@octavo/core/concurrency';
import { silentLog } from '@octavo/core/log';
import { type Database, DatabaseHealth, rowGauge } from '@octavo/data';
import { limitMigrations, SharedLimits } from '@octavo/data/limits';
import {
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import {
  accountMigrations,
  accountSettings,
  openAccounts,
  type Accounts as StaffAccounts,
  setupAddress,
} from '@octavo/people/accounts';
import { addMailPages, loadAssets, mailsHint, servePages } from '@octavo/web/pages';
import { createHttpServer, type HttpApp, type HttpServer, trustProxySetting } from '@octavo/web/server';
import { addAccountApi } from './account/api.ts';
import { addAccountPages, createAccountPage } from './account/pages.ts';
import { createPasswordlessAdmin, isAdministrator } from './admin.ts';
import { createApiAccess } from './api/access.ts';
import { createRequestLimits } from './api/limits.ts';
import { Audit } from './audit.ts';
import { deleteExpiredRows } from './cleanup.ts';
import { withConfigFile } from './config-file.ts';
import { createFeatures, createSessions, type Features } from './features.ts';
import { checkSecrets, type Keys, openKeys } from './keys/keys.ts';
import { Limits, type RequestLimits } from './limits.ts';
import { addMagicLinkApi, type ShowLanding } from './magic-links/api.ts';
import { addMagicLinkPages, createLanding } from './magic-links/pages.ts';
import {
  checkMailer,
  checkMails,
  checkWorkers,
  MailNotifier,
  MailQueueAdmin,
  openMail,
  shownMailFolder,
} from './mail/index.ts';
import {
  addClient,
  ensureClient,
  grantKnownRole,
  listClients,
  type NewClient,
  removeClient,
  type SuiteName,
  serviceOf,
} from './oidc/index.ts';
import { createOpenId, type OpenId } from './oidc/pages-mount.ts';
import { createErrorPage, createPageContext } from './pages/pages.ts';
import { addPasskeyApi } from './passkeys/api.ts';
import { checkParty } from './passkeys/index.ts';
import { addPasskeyPages, passkeysCard } from './passkeys/pages.ts';
import { addRecoveryCodeApi } from './recovery-codes/api.ts';
import { addRecoveryCodePages, recoveryCodesCard } from './recovery-codes/pages.ts';
import { SeedClock, seedUsers } from './seed.ts';
import { addSessionApi } from './sessions/api.ts';
import type { TokenPair } from './sessions/index.ts';
import { addSessionPages, sessionsCard } from './sessions/pages.ts';
import { settings as commonSettings } from './settings.ts';
import { Site } from './site.ts';
import type { Tables } from './store/store.ts';
import { SuiteSignIn } from './suite/index.ts';
import { addSuitePages } from './suite/pages.ts';
import { addTotpApi } from './totp/api.ts';
import { addTotpPages, totpCard } from './totp/pages.ts';
import { listRoles, type Role, revokeRole } from './users/index.ts';

const settings = {
  ...commonSettings,
  ...accountSettings,
  PASSWORDLESS_TRUST_PROXY: trustProxySetting,
} satisfies Settings;

type PasswordlessConfig = Config<typeof settings>;
type Parts = ServiceParts<typeof settings>;

const sources = withConfigFile(settings);
const commonChecks = [checkSecrets, checkMails, databaseLocation];

export type { MailQueueAdmin, QueuedMail } from './mail/index.ts';

const cleanupMs = 60_000;

/** Sign-in without passwords: by link, code or passkey. */
export const passwordless = defineService({
  name: 'passwordless',
  summary: 'Sign-in by e-mail link, authenticator code or passkey',
  settings,
  sources,
  checks: [
    ...commonChecks,
    checkParty,
    (config) => new Site(config),
    (config, context) => config.PASSWORDLESS_WORKER && checkMailer(config, context),
  ],
  migrations: [
    accountMigrations,
    adminMigrations,
    limitMigrations,
    new URL('./migrations/', import.meta.url),
  ],
  backupFiles: ['passwordless.secret'],
  keptSecrets: { PASSWORDLESS_JWT_SECRET: 'passwordless.secret' },
  databaseLocation,
  build,
});

/** The e-mail worker alone; any number of them may run. Its port serves probes and metrics. */
export const passwordlessWorker = defineService({
  name: 'passwordless-worker',
  summary: 'Sends the mails of passwordless',
  settings,
  sources,
  checks: [...commonChecks, checkMailer],
  build: buildWorker,
});

async function build({ config, context, stack, openDatabase }: Parts) {
  const { clock, log } = context;
  const site = new Site(config);
  const keys = await openKeys(config, context);
  const database = await openDatabase<Tables>();
  rowGauge(context.metrics, database, { name: 'passwordless_users', help: 'Users.', table: 'user' });
  const runsWorker = config.PASSWORDLESS_WORKER;
  const { queue: mails } = stack.use(await openMail({ config, context, database, keys, runsWorker }));
  const background = stack.use(new Background(log));
  const server = stack.use(await createServer(config, context, database));
  const features = createFeatures({ config, context, site, keys, database, mails, background });
  const limits = new Limits(config, stack.use(new SharedLimits({ database, clock, log })));
  const linksLater = config.PASSWORDLESS_ALLOW_SIGNUP ? undefined : background;
  const requestLimits = createRequestLimits(limits, clock, linksLater);
  const words = ['octavo', 'passwordless'];
  const staff = await openAccounts({ database, config, clock, log, stack, words, peopleRealm: null });
  const suiteSignIn = new SuiteSignIn({ database, clock, site, ...features });
  const wiring = {
    config,
    context,
    site,
    keys,
    database,
    staff,
    features,
    limits: requestLimits,
    suiteSignIn,
  };
  const { showLanding, openId } = addPages(server.app, wiring);
  addApi(server.app, { site, features, limits: requestLimits, showLanding });
  suiteSignIn.issueBy((token) => openId.issue(token));
  stack.use(openId.backChannel.start());
  const auditDays = config.PASSWORDLESS_AUDIT_DAYS;
  const cleanUp = () => deleteExpiredRows({ database, clock, auditDays });
  stack.use(runEvery(cleanupMs, cleanUp, { log, failure: 'expired rows could not be deleted' }));
  const url = site.listensAt(await server.listen());
  const inProduction = config.ADMIN_SETUP_LINK;
  return {
    url,
    suiteSignIn,
    ...(url && { setupLink: () => setupAddress(staff, { url, context, inProduction }) }),
  };
}

async function buildWorker({ config, context, stack }: Parts) {
  const keys = await openKeys(config, context);
  const database = stack.use(await openServiceDatabase<Tables>(passwordless, config, context));
  stack.use(await openMail({ config, context, database, keys, runsWorker: true }));
  const health = new DatabaseHealth({ database, log: context.log });
  const server = stack.use(
    await createHttpServer({
      name: 'passwordless-worker',
      context,
      title: 'E-mail worker',
      description: 'Sends the mails of passwordless. It serves probes and metrics, nothing else.',
      checks: { database: () => health.run() },
    }),
  );
  return { url: await server.listen() };
}

/** The e-mail queue alone, for the command line. */
export async function openMailQueue(
  config: PasswordlessConfig,
  context: ServiceContext,
): Promise<{ readonly queue: MailQueueAdmin } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openServiceDatabase<Tables>(passwordless, config, context));
  const notifier = stack.use(new MailNotifier(context.dataFolder));
  const queue = new MailQueueAdmin({ database, clock: context.clock, onDue: () => notifier.notify() });
  const owned = stack.move();
  return { queue, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The applications and roles of the OpenID provider, for the command line. Services of the suite may be named as in commands. */
export async function openApplications(
  config: PasswordlessConfig,
  context: ServiceContext,
  suite: readonly SuiteName[],
) {
  const database = await openServiceDatabase<Tables>(passwordless, config, context);
  const place = { database, clock: context.clock };
  return {
    addClient: (client: NewClient) => addClient(place, client),
    ensureClient: (client: NewClient & { readonly secret: string }) => ensureClient(place, client),
    removeClient: (name: string) => removeClient(database, name),
    listClients: () => listClients(database),
    grantRole: (email: string, role: Role) => grantKnownRole({ ...place, suite }, email, role),
    revokeRole: (email: string, role: Role) => revokeRole(database, email, role),
    listRoles: (email?: string) => listRoles(database, { email }),
    /** The id of the application that a name stands for. */
    serviceOf: (name: string) => serviceOf(name, suite),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

export type Applications = Awaited<ReturnType<typeof openApplications>>;

/** Loads demo users. Returns how many. */
export async function loadDemo(config: PasswordlessConfig, context: ServiceContext): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const site = new Site(config);
  // The tokens are never handed out; their issuer is the site.
  site.listensAt('http://127.0.0.1');
  const keys = await openKeys(config, context);
  const database = stack.use(await openServiceDatabase<Tables>(passwordless, config, context));
  const { queue: mails } = stack.use(await openMail({ config, context, database, keys, runsWorker: false }));
  const nowMs = context.clock.now();
  const clock = new SeedClock(nowMs);
  // Past events are not news for readers of the log.
  const audit = new Audit({ log: silentLog, clock, metrics: context.metrics });
  const sessions = createSessions({ config, site, keys, database, mails, audit, clock });
  return await seedUsers({ database, sessions, audit, mails, clock }, nowMs);
}

function databaseLocation(config: PasswordlessConfig) {
  const { PASSWORDLESS_DATABASE_PATH: path, PASSWORDLESS_DATABASE_URL: url } = config;
  if (path === undefined && (url ?? config.DATABASE_URL) === config.DATABASE_URL)
    return { url: config.DATABASE_URL };
  // DATABASE_DIRECT_URL belongs to DATABASE_URL.
  if (path === undefined) return { url, directUrl: undefined };
  if (url !== undefined) {
    refuse({ PASSWORDLESS_DATABASE_PATH: 'must not be set together with PASSWORDLESS_DATABASE_URL' });
  }
  return { url: undefined, folder: dirname(resolve(path)), fileName: basename(path) };
}

function createServer(
  config: PasswordlessConfig,
  context: ServiceContext,
  database: Database<Tables>,
): Promise<HttpServer> {
  const health = new DatabaseHealth({ database, log: context.log });
  return createHttpServer({
    name: 'passwordless',
    context,
    title: 'Sign-in',
    description: 'Sign-in by e-mail link, authenticator code or passkey; access and refresh tokens.',
    checks: { database: () => health.run() },
    namesOptionalChecks: true,
    optionalChecks: { mail_worker: () => checkWorkers(database, context.clock) },
    errorBody: ({ code, message }) => ({ error: { code, message } }),
    errorTable: { unavailable: { status: 503, code: 'INTERNAL_ERROR' } },
    invalidBody: 'invalid_input',
    corsOrigin: config.PASSWORDLESS_CORS_ORIGIN,
    trustedProxy: config.PASSWORDLESS_TRUST_PROXY,
    accessLog: 'info',
    limits: {
      bodyBytes: 64 * 1_024,
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
      keepAliveTimeoutMs: 5_000,
    },
  });
}

function addApi(
  app: HttpApp,
  wiring: { site: Site; features: Features; limits: RequestLimits; showLanding: ShowLanding },
): void {
  const { features, ...shared } = wiring;
  const parts = { ...features, ...shared, access: createApiAccess(features.sessions) };
  app.register(async (scope) => {
    const api = scope as HttpApp;
    api.decorateRequest('caller');
    api.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store');
      done();
    });
    addMagicLinkApi(api, parts);
    addTotpApi(api, parts);
    addRecoveryCodeApi(api, parts);
    addSessionApi(api, parts);
    addAccountApi(api, parts);
    addPasskeyApi(api, parts);
  });
}

/** Renders the page for browsers that follow a magic link. */
function addPages(
  app: HttpApp,
  wiring: {
    config: PasswordlessConfig;
    context: ServiceContext;
    site: Site;
    keys: Keys;
    database: Database<Tables>;
    staff: StaffAccounts;
    features: Features;
    limits: RequestLimits;
    suiteSignIn: SuiteSignIn;
  },
): { showLanding: ShowLanding; openId: OpenId } {
  const { config, context, site, keys, database, staff, features, limits } = wiring;
  const { clock } = context;
  const { sessions, accounts } = features;
  const mailFolder = shownMailFolder(config, context);
  const pages = createPageContext({
    sessions,
    showsMails: mailFolder !== undefined,
    isAdministrator: (user) => isAdministrator(database, user),
  });
  const cards = {
    passkeys: passkeysCard(features.passkeys),
    totp: totpCard,
    recoveryCodes: recoveryCodesCard,
    sessions: sessionsCard(sessions),
  };
  const showAccount = createAccountPage({ pages, accounts, clock, cards });
  const parts = { ...features, pages, limits, showAccount };
  const openId = createOpenId({ ...wiring, ...features, pages, limits: limits.oidc });
  const secret = keys.current('session').toString('base64url');
  const admin = createPasswordlessAdmin({
    staff,
    accounts,
    sessions,
    callerOf: pages.callerOf,
    database,
    clock,
    suite: () => context.suite?.sites() ?? [],
    secret,
    isSecure: site.isSecure,
  });
  const ownErrorPage = createErrorPage(pages);
  const answer = servePages<TokenPair>(
    app,
    {
      name: 'passwordless',
      secret,
      sessionSeconds: config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS,
      isSecure: site.isSecure,
      clock,
      assets: loadAssets(...['passkeys', 'oidc'].map((name) => new URL(`${name}/assets/`, import.meta.url))),
      apiToken: async (visit) => (await pages.callerOf(visit)) && visit.who?.access_token,
      errorPage: async (visit, error) => (await admin.errorPage(visit, error)) ?? ownErrorPage(visit, error),
    },
    (routes) => {
      addMagicLinkPages(routes, {
        ...parts,
        linkSeconds: config.PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS,
        mailsHint: mailFolder && mailsHint,
      });
      addTotpPages(routes, parts);
      addRecoveryCodePages(routes, parts);
      addPasskeyPages(routes, parts);
      addSessionPages(routes, parts);
      addAccountPages(routes, parts);
      addSuitePages(routes, { ...parts, suiteSignIn: wiring.suiteSignIn, suite: context.suite });
      openId.addPages(routes);
      admin.addRoutes(routes);
      if (mailFolder !== undefined) {
        const hint = {
          text: 'Request a sign-in link, and its e-mail appears here.',
          href: '/',
          label: 'Sign in',
        };
        addMailPages(routes, { folder: mailFolder, frameOf: pages.frameOf, hint });
      }
    },
  );
  openId.mount(app, answer);
  return { showLanding: createLanding(answer, pages), openId };
}
