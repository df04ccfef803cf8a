import { Passwords, passwordCost, passwordSettings } from '#kit/auth/passwords.ts';
import { type Config, type Settings, text } from '#kit/config.ts';
import { type Database, type DatabaseOptions, openDatabase } from '#kit/db/index.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { type Handlers, requireTokenOffLoopback, serveRpc } from '#kit/rpc/index.ts';
import type { Running, Service, ServiceContext } from '#kit/service.ts';
import { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import { Accounts } from './accounts.ts';
import { Decisions } from './decisions.ts';
import { Logins } from './logins.ts';
import { Policies } from './policies.ts';
import { shippedPolicies } from './policy-files.ts';
import { watchPolicies } from './policy-watch.ts';
import { createHandlers } from './rpc.ts';
import { seedDemoAccounts } from './seed.ts';
import type { Tables } from './store.ts';

export { type PolicyTestReport, runPolicyTests } from './policy-cases.ts';

const settings = {
  DATABASE_URL: text({ secret: true, help: 'PostgreSQL to keep data in; without it SQLite files' }),
  RPC_TOKEN: text({ secret: true, help: 'Shared secret between the services' }),
  AUTHZ_POLICIES: text({
    help: 'Folder of Cedar policies instead of the shipped ones; changes count at once',
  }),
  DEMO_ADMIN_PASSWORD: text({ secret: true, help: 'Password of the demo account admin; else a random one' }),
  DEMO_EDITOR_PASSWORD: text({
    secret: true,
    help: 'Password of the demo account editor; else a random one',
  }),
  DEMO_VIEWER_PASSWORD: text({
    secret: true,
    help: 'Password of the demo account viewer; else a random one',
  }),
  ...passwordSettings,
} satisfies Settings;

type AuthzConfig = Config<typeof settings>;

export interface RunningAuthz extends Running {
  readonly handlers: Handlers<AuthServiceDefinition>;
}

/** Accounts and access decisions. */
export const authz: Service<typeof settings, object, RunningAuthz> = {
  name: 'authz',
  summary: 'Accounts, sign-in and access decisions',
  settings,
  database: databaseOptions,
  start,
};

async function start(config: AuthzConfig, context: ServiceContext): Promise<RunningAuthz> {
  await using stack = new AsyncDisposableStack();
  const { log, metrics, clock, dataFolder } = context;
  const demo = context.environment !== 'production';
  const folder = config.AUTHZ_POLICIES ?? shippedPolicies;
  const passwords = new Passwords({ cost: passwordCost(config) });
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  // Demo passwords are hashed on other threads while this one loads the policies.
  const given = givenPasswords(config);
  const seeding = demo
    ? seedDemoAccounts({ database, passwords, clock, log, dataFolder, given })
    : Promise.resolve(undefined);
  const [demoSignIns, policies] = await together(seeding, Policies.open(folder));
  stack.use(policies);
  stack.use(watchPolicies({ policies, folder, log, metrics }));
  const accounts = new Accounts({ database, passwords, clock, log, demo });
  const logins = new Logins({ database, accounts, passwords, clock, log, metrics });
  stack.use(logins.sweeping());
  const decisions = new Decisions({ accounts, policies, log, metrics });
  const handlers = createHandlers({ accounts, logins, decisions });
  const url = await listen(stack, { config, context, handlers, database });
  const owned = stack.move();
  return { url, handlers, demoSignIns, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Where one fails, the other has ended too, and nothing that it uses is closed under it. */
async function together<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

/** The accounts alone, for the command line: no policies, no demo accounts. */
export async function openAccounts(
  config: AuthzConfig,
  context: ServiceContext,
): Promise<{ readonly accounts: Accounts } & AsyncDisposable> {
  const database = await openDatabase<Tables>(databaseOptions(config, context));
  const passwords = new Passwords({ cost: passwordCost(config) });
  const { clock, log, environment } = context;
  const accounts = new Accounts({ database, passwords, clock, log, demo: environment !== 'production' });
  return { accounts, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

function databaseOptions(config: AuthzConfig, { dataFolder, log, metrics }: ServiceContext): DatabaseOptions {
  return {
    name: 'authz',
    url: config.DATABASE_URL,
    folder: dataFolder,
    migrations: new URL('./migrations/', import.meta.url),
    log,
    metrics,
  };
}

function givenPasswords(config: AuthzConfig) {
  return {
    admin: config.DEMO_ADMIN_PASSWORD,
    editor: config.DEMO_EDITOR_PASSWORD,
    viewer: config.DEMO_VIEWER_PASSWORD,
  };
}

async function listen(
  stack: AsyncDisposableStack,
  parts: {
    config: AuthzConfig;
    context: ServiceContext;
    handlers: Handlers<AuthServiceDefinition>;
    database: Database<Tables>;
  },
): Promise<string | undefined> {
  const { config, context, handlers, database } = parts;
  if (context.port === undefined) return undefined;
  const { environment, host } = context;
  requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address: host, token: config.RPC_TOKEN, environment });
  const server = stack.use(
    await createHttpServer({
      name: 'authz',
      context,
      title: 'Accounts and access decisions',
      description: 'Serves authz.v1.AuthService by the Connect protocol to the other services.',
      checks: { database: () => database.ping() },
      limits: { drainMs: 300 },
    }),
  );
  await serveRpc(server.app, AuthServiceDefinition, handlers, {
    log: context.log,
    token: config.RPC_TOKEN,
    metrics: context.metrics,
  });
  return server.listen();
}
