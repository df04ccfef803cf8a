import type { Clock } from '#kit/clock.ts';
import type { Config, Settings } from '#kit/config.ts';
import { type Database, openDatabase } from '#kit/db/index.ts';
import { trustProxySetting } from '#kit/http/client-address.ts';
import { createHttpServer, type HttpServer } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import type { Running, Service, ServiceContext } from '#kit/service.ts';
import { Alerts } from './alerts.ts';
import { addApi } from './api.ts';
import { createGuards } from './api-guard.ts';
import { Limits } from './api-limits.ts';
import { Cleanup } from './cleanup.ts';
import { withConfigFile } from './config-file.ts';
import { databaseOptions } from './database.ts';
import { createDomain } from './domain.ts';
import { MailDesk } from './mail-desk.ts';
import { checkWorkers } from './mail-heartbeat.ts';
import { MailNudge } from './mail-nudge.ts';
import { openMailOffice } from './mail-office.ts';
import { shownMailFolder } from './mail-sender.ts';
import { addPages } from './pages.ts';
import { chooseKeys } from './secrets.ts';
import { settings as commonSettings } from './settings.ts';
import { Site } from './site.ts';
import { writeNothing } from './store-writable.ts';
import type { Tables } from './tables.ts';

const settings = { ...commonSettings, PASSWORDLESS_TRUST_PROXY: trustProxySetting } satisfies Settings;

type PasswordlessConfig = Config<typeof settings>;

export type { MailDesk, QueuedMail } from './mail-desk.ts';

/** Signing in without passwords: by link, code or passkey. */
export const passwordless: Service<typeof settings> = {
  name: 'passwordless',
  summary: 'Sign-in by e-mail link, authenticator code or passkey',
  settings,
  sources: (environment, log) => withConfigFile(settings, environment, log),
  database: databaseOptions,
  start,
};

/** The e-mail worker alone, as many as wanted; its port has probes and figures. */
export const passwordlessWorker: Service<typeof settings> = {
  name: 'passwordless-worker',
  summary: 'Sends the mails of passwordless',
  settings,
  sources: passwordless.sources,
  start: startWorker,
};

async function start(config: PasswordlessConfig, context: ServiceContext): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const site = new Site(config.PASSWORDLESS_MAGIC_LINK_BASE_URL);
  const keys = await chooseKeys(config, context);
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  const works = config.PASSWORDLESS_WORKER;
  const { queue: mails } = stack.use(await openMailOffice({ config, context, database, keys }, { works }));
  const alerts = stack.use(new Alerts({ database, mails, log: context.log }));
  const server = stack.use(await createServer(config, context, database));
  const domain = createDomain({ config, context, site, keys, database, mails, alerts });
  const limits = new Limits(config);
  const guards = createGuards({ sessions: domain.sessions, limits, clock: context.clock });
  const { clock, log } = context;
  const { landing } = addPages({
    ...domain,
    app: server.app,
    clock,
    secret: keys.current('session').toString('base64url'),
    sessionSeconds: config.PASSWORDLESS_SESSION_MAX_AGE_SECONDS,
    linkSeconds: config.PASSWORDLESS_MAGIC_LINK_EXPIRY_SECONDS,
    issuer: config.PASSWORDLESS_WEBAUTHN_RP_NAME,
    mailFolder: shownMailFolder(config, context),
    limits: {
      open: guards.open.preValidation,
      enroll: guards.enroll.preValidation,
      verify: guards.verify.preValidation,
      sendMagic: guards.sendMagic,
    },
    visitorOf,
  });
  addApi({ app: server.app, guards, landing, ...domain });
  stack.use(sweeping(limits, clock));
  stack.use(new Cleanup({ database, clock, log, auditDays: config.PASSWORDLESS_AUDIT_DAYS }).repeating());
  const url = site.listensAt(await server.listen());
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startWorker(config: PasswordlessConfig, context: ServiceContext): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const keys = await chooseKeys(config, context);
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  stack.use(await openMailOffice({ config, context, database, keys }, { works: true }));
  const server = stack.use(
    await createHttpServer({
      name: 'passwordless-worker',
      context,
      title: 'E-mail worker',
      description: 'Sends the mails of passwordless. It answers probes and gives figures, nothing else.',
      checks: { database: () => database.ping() },
    }),
  );
  const url = await server.listen();
  const owned = stack.move();
  return { url, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The e-mail queue alone, for the command line. */
export async function openMailDesk(
  config: PasswordlessConfig,
  context: ServiceContext,
): Promise<{ readonly desk: MailDesk } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const { clock, dataFolder } = context;
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  const nudge = stack.use(new MailNudge(dataFolder));
  const desk = new MailDesk({ database, clock, onDue: () => nudge.ring() });
  const owned = stack.move();
  return { desk, [Symbol.asyncDispose]: () => owned.disposeAsync() };
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
    checks: { database: async () => void (await writeNothing.run(database, {})) },
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
      // The id of a passkey is one.
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
      keepAliveTimeoutMs: 5_000,
    },
  });
}

/** Clients that have gone are forgotten every minute. */
function sweeping(limits: Limits, clock: Clock): Disposable {
  const timer = setInterval(() => limits.sweep(clock.now()), 60_000).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
