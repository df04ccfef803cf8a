import { basename, dirname, resolve } from 'node:path';
import { type Config, refuse, type Settings } from '#kit/config.ts';
import type { Database } from '#kit/db/index.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import { trustProxySetting } from '#kit/http/client-address.ts';
import { createHttpServer, type HttpApp, type HttpServer } from '#kit/http/server.ts';
import { defineService, openServiceDatabase, type ServiceContext, type ServiceParts } from '#kit/service.ts';
import { addAccountApi } from './account/api.ts';
import { addAccountPages, createAccountPage } from './account/pages.ts';
import { createApiAccess } from './api-access.ts';
import { createRequestLimits } from './api-limits.ts';
import { Cleanup } from './cleanup.ts';
import { withConfigFile } from './config-file.ts';
import { createFeatures, type Features } from './features.ts';
import { type Keys, openKeys } from './keys.ts';
import { Limits, type RequestLimits } from './limits.ts';
import { addMagicLinkApi, type ShowLanding } from './magic-links/api.ts';
import { addMagicLinkPages, createLanding } from './magic-links/pages.ts';
import {
  Alerts,
  checkWorkers,
  MailNotifier,
  MailQueueAdmin,
  openMail,
  shownMailFolder,
} from './mail/index.ts';
import { addMailPages, mailsHint } from './mail/pages.ts';
import { createPageContext, errorPage } from './pages.ts';
import { addPasskeyApi } from './passkeys/api.ts';
import { addPasskeyPages, passkeysCard } from './passkeys/pages.ts';
import { addRecoveryCodeApi } from './recovery-codes/api.ts';
import { addRecoveryCodePages, recoveryCodesCard } from './recovery-codes/pages.ts';
import { addSessionApi } from './sessions/api.ts';
import type { TokenPair } from './sessions/index.ts';
import { addSessionPages, sessionsCard } from './sessions/pages.ts';
import { settings as commonSettings } from './settings.ts';
import { Site } from './site.ts';
import { checkWritable, type Tables } from './store.ts';
import { addTotpApi } from './totp/api.ts';
import { addTotpPages, totpCard } from './totp/pages.ts';

const settings = { ...commonSettings, PASSWORDLESS_TRUST_PROXY: trustProxySetting } satisfies Settings;

type PasswordlessConfig = Config<typeof settings>;
type Parts = ServiceParts<typeof settings>;

const sources = withConfigFile(settings);

export type { MailQueueAdmin, QueuedMail } from './mail/index.ts';

/** Sign-in without passwords: by link, code or passkey. */
export const passwordless = defineService({
  name: 'passwordless',
  summary: 'Sign-in by e-mail link, authenticator code or passkey',
  settings,
  sources,
  migrations: new URL('./migrations/', import.meta.url),
  backupFiles: ['passwordless.secret'],
  databaseLocation,
  build,
});

/** The e-mail worker alone; any number of them may run. Its port serves probes and metrics. */
export const passwordlessWorker = defineService({
  name: 'passwordless-worker',
  summary: 'Sends the mails of passwordless',
  settings,
  sources,
  build: buildWorker,
});

async function build({ config, context, stack, openDatabase }: Parts) {
  const { clock, log } = context;
  const site = new Site(config.PASSWORDLESS_MAGIC_LINK_BASE_URL);
  const keys = await openKeys(config, context);
  const database = await openDatabase<Tables>();
  const runsWorker = config.PASSWORDLESS_WORKER;
  const { queue: mails } = stack.use(await openMail({ config, context, database, keys, runsWorker }));
  const alerts = stack.use(new Alerts({ database, mails, log }));
  const server = stack.use(await createServer(config, context, database));
  const features = createFeatures({ config, context, site, keys, database, mails, alerts });
  const limits = new Limits(config);
  const requestLimits = createRequestLimits(limits, clock);
  const showLanding = addPages(server.app, { config, context, keys, features, limits: requestLimits });
  addApi(server.app, { site, features, limits: requestLimits, showLanding });
  stack.use(limits.startSweeping(clock));
  stack.use(new Cleanup({ database, clock, log, auditDays: config.PASSWORDLESS_AUDIT_DAYS }).start());
  return { url: site.listensAt(await server.listen()) };
}

async function buildWorker({ config, context, stack }: Parts) {
  const keys = await openKeys(config, context);
  const database = stack.use(await openServiceDatabase<Tables>(passwordless, config, context));
  stack.use(await openMail({ config, context, database, keys, runsWorker: true }));
  const server = stack.use(
    await createHttpServer({
      name: 'passwordless-worker',
      context,
      title: 'E-mail worker',
      description: 'Sends the mails of passwordless. It serves probes and metrics, nothing else.',
      checks: { database: () => database.ping() },
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

function databaseLocation(config: PasswordlessConfig) {
  const { PASSWORDLESS_DATABASE_PATH: path, PASSWORDLESS_DATABASE_URL: url } = config;
  if (path === undefined) return { url: url ?? config.DATABASE_URL };
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
  return createHttpServer({
    name: 'passwordless',
    context,
    title: 'Passwordless sign-in',
    description: 'Sign-in by e-mail link, authenticator code or passkey; access and refresh tokens.',
    checks: { database: () => checkWritable(database) },
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

/** Gives what a browser is shown that follows a magic link. */
function addPages(
  app: HttpApp,
  wiring: {
    config: PasswordlessConfig;
    context: ServiceContext;
    keys: Keys;
    features: Features;
    limits: RequestLimits;
  },
): ShowLanding {
  const { config, context, keys, features, limits } = wiring;
  const { clock } = context;
  const { sessions, accounts } = features;
  const mailFolder = shownMailFolder(config, context);
  const pages = createPageContext({
    sessions,
    serviceName: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
    showsMails: mailFolder !== undefined,
  });
  const cards = {
    passkeys: passkeysCard(features.passkeys),
    totp: totpCard,
    recoveryCodes: recoveryCodesCard,
    sessions: sessionsCard(sessions),
  };
  const showAccount = createAccountPage({ pages, accounts, clock, cards });
  const parts = { ...features, pages, limits, showAccount };
  const answer = servePages<TokenPair>(
    app,
    {
      name: 'passwordless',
      secret: keys.current('session').toString('base64url'),
      sessionSeconds: config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS,
      clock,
      assets: loadAssets(new URL('passkeys/assets/', import.meta.url)),
      errorPage: (visit, error) => errorPage(pages.frameOf(visit), error, visit.request.id),
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
      if (mailFolder !== undefined) addMailPages(routes, { pages, folder: mailFolder });
    },
  );
  return createLanding(answer, pages);
}
