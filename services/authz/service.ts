import { join } from 'node:path';
import { choice, type Settings, text } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import { Passwords, passwordCost, passwordSettings } from '@octavo/core/passwords';
import { type Database, DatabaseHealth, databaseSettings, engineOf } from '@octavo/data';
import {
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import {
  Checks,
  checkOidc,
  endOtherRoles,
  type Identities,
  oidcMigrations,
  oidcSettings,
  Provider,
  providerOf,
} from '@octavo/people/sign-in';
import { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import { roles } from '@octavo/protocols/authz/v1/permissions';
import { checkRpcToken, type Handlers, rpcSettings, serveRpc } from '@octavo/rpc';
import { createHttpServer } from '@octavo/web/server';
import { Accounts } from './accounts/accounts.ts';
import { Logins } from './accounts/logins.ts';
import { OwnPassword } from './accounts/own-password.ts';
import { PasswordAttempts } from './accounts/password-attempts.ts';
import { accountHost, createPeople } from './accounts/people.ts';
import { Decisions } from './decisions/decisions.ts';
import { Policies } from './decisions/policies.ts';
import { shippedPolicies } from './decisions/policy-files.ts';
import { watchPolicies } from './decisions/policy-watch.ts';
import { createHandlers } from './rpc.ts';
import { seedDemoAccounts } from './seed.ts';
import type { Tables } from './store.ts';
import { openTotpEncryption, Totp } from './totp/totp.ts';

export { type PolicyTestReport, runPolicyTests } from './decisions/policy-cases.ts';

const settings = {
  ...databaseSettings,
  ...rpcSettings,
  AUTHZ_POLICIES: text({
    help: 'Folder of Cedar policies to use instead of the shipped ones; changes apply at once',
  }),
  AUTHZ_SECRET: text({
    secret: true,
    minLength: 32,
    help: 'Key that TOTP secrets are encrypted with, at least 32 bytes; random if unset. In production, TOTP is unavailable without it',
  }),
  DEMO_ADMIN_PASSWORD: text({ secret: true, help: 'Password of the demo account admin; random if unset' }),
  DEMO_EDITOR_PASSWORD: text({
    secret: true,
    help: 'Password of the demo account editor; random if unset',
  }),
  DEMO_VIEWER_PASSWORD: text({
    secret: true,
    help: 'Password of the demo account viewer; random if unset',
  }),
  ...passwordSettings,
  ...oidcSettings,
  OIDC_DEFAULT_ROLE: choice(['viewer', 'none'], {
    default: 'viewer',
    help: 'That of the gateway: with none, sessions of people end with their last role',
  }),
} satisfies Settings;

type Parts = ServiceParts<typeof settings>;

/** Accounts and access decisions. */
export const authz = defineService({
  name: 'authz',
  summary: 'Accounts, sign-in and access decisions',
  settings,
  checks: [checkRpcToken, checkOidc],
  migrations: [oidcMigrations, new URL('./migrations/', import.meta.url)],
  keptSecrets: { AUTHZ_SECRET: 'authz.secret' },
  backupFiles: ['authz.secret', ...roles.map((role) => `authz-demo-${role}.json`)],
  build,
});

async function build(parts: Parts) {
  const { config, context, stack } = parts;
  const { log, metrics, clock } = context;
  const demo = context.environment !== 'production';
  const folder = config.AUTHZ_POLICIES ?? shippedPolicies;
  const passwords = new Passwords({ cost: passwordCost(config) });
  const database = await parts.openDatabase<Tables>();
  // Demo passwords are hashed on other threads while this one loads the policies.
  const [demoSignIns, policies] = await bothSettled(
    demo ? seedAccounts(parts, database, passwords) : undefined,
    Policies.open(folder),
  );
  stack.use(policies);
  stack.use(watchPolicies({ policies, folder, log, metrics }));
  const accounts = new Accounts({ database, passwords, clock, log, demo });
  const attempts = new PasswordAttempts({ database, passwords, clock });
  const logins = new Logins({
    database,
    accounts,
    passwords,
    attempts,
    log,
    metrics,
    isOff: config.OIDC_ONLY,
  });
  const ownPassword = new OwnPassword({ database, accounts, attempts, clock, log });
  const encryption = await openTotpEncryption(config.AUTHZ_SECRET, context);
  const totp = new Totp({ database, accounts, ownPassword, encryption, clock, log, metrics });
  const sweep = async () => {
    await attempts.sweep();
    await totp.sweep();
  };
  stack.use(runEvery(sweepEveryMs, sweep, { log, failure: 'old failed attempts could not be deleted' }));
  const people = await openPeople(parts, database, passwords);
  const hasSession = people && ((key: string) => people.hasSession(key));
  const decisions = new Decisions({ accounts, policies, log, metrics, hasSession });
  // Any uid will do: one that is missing costs the same.
  const health = new DatabaseHealth({ database, log, read: () => accounts.byUid(1) });
  const handlers = createHandlers({
    accounts,
    logins,
    decisions,
    ownPassword,
    totp,
    people,
    health,
    engine: () => engineOf(database),
  });
  return {
    url: await listen(parts, handlers, health),
    handlers,
    demoSignIns: demoSignIns && (async () => demoSignIns),
  };
}

/** People of the OpenID provider, whose roles are asked for again and again; undefined without a provider. */
async function openPeople(
  { config, context, stack }: Parts,
  database: Database<Tables>,
  passwords: Passwords,
): Promise<Identities<Tables> | undefined> {
  const settings = providerOf(config);
  const { clock, log, dataFolder, environment } = context;
  const accountOptions = {
    passwords,
    clock,
    demo: environment !== 'production',
    needsRole: config.OIDC_DEFAULT_ROLE === 'none',
  };
  await endOtherRoles({ database, host: accountHost(accountOptions), issuer: settings?.issuer });
  if (!settings) return undefined;
  const secret = config.AUTHZ_SECRET ?? (await storedSecret(join(dataFolder, 'authz.secret')));
  const people = createPeople({ ...accountOptions, database, secret, issuer: settings.issuer });
  const provider = new Provider({ settings, clock, log });
  stack.use(new Checks({ identities: people, provider, log }));
  return people;
}

function seedAccounts({ config, context }: Parts, database: Database<Tables>, passwords: Passwords) {
  const { clock, log, dataFolder } = context;
  const given = {
    admin: config.DEMO_ADMIN_PASSWORD,
    editor: config.DEMO_EDITOR_PASSWORD,
    viewer: config.DEMO_VIEWER_PASSWORD,
  };
  return seedDemoAccounts({ database, passwords, clock, log, dataFolder, given });
}

const sweepEveryMs = 60_000;

/** Waits for both like `Promise.all`, even if one fails, so that nothing is closed while the other still uses it. */
async function bothSettled<A, B>(
  first: Promise<A> | A,
  second: Promise<B>,
): Promise<[Awaited<A>, Awaited<B>]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

/** Serves the handlers over RPC if there is a port. Otherwise the caller is in the same process and calls them directly. */
async function listen(
  { config, context, stack }: Parts,
  handlers: Handlers<AuthServiceDefinition>,
  health: DatabaseHealth<Tables>,
): Promise<string | undefined> {
  if (context.port === undefined) return undefined;
  const { log, metrics } = context;
  const token = config.RPC_TOKEN;
  const server = stack.use(
    await createHttpServer({
      name: 'authz',
      context,
      title: 'Accounts and access decisions',
      description: 'Serves authz.v1.AuthService to the other services over the Connect protocol.',
      checks: { database: () => health.run() },
      limits: { drainMs: 300 },
    }),
  );
  await serveRpc(server.app, AuthServiceDefinition, handlers, { log, token, metrics });
  return server.listen();
}

/** The accounts alone, for the command line: no policies, no demo accounts. */
export async function openAccounts(
  config: Parts['config'],
  context: ServiceContext,
): Promise<{ readonly accounts: Accounts } & AsyncDisposable> {
  const database = await openServiceDatabase<Tables>(authz, config, context);
  const passwords = new Passwords({ cost: passwordCost(config) });
  const { clock, log, environment } = context;
  const accounts = new Accounts({ database, passwords, clock, log, demo: environment !== 'production' });
  return { accounts, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}
