import { join } from 'node:path';
import { adminMigrations, openStaffSignIn } from '@octavo/admin';
import { choice, type Environment, integer, readConfig, type Settings, text } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import { type Database, databaseCheck, databaseSettings, healthMigrations } from '@octavo/data';
import { limitMigrations, SharedLimits } from '@octavo/data/limits';
import {
  defineService,
  openServiceDatabase,
  type ServiceContext,
  type ServiceParts,
} from '@octavo/data/service';
import { accountMigrations, accountSettings, openAccounts, setupAddress } from '@octavo/people/accounts';
import { checkOidc, oidcMigrations, oidcSettings } from '@octavo/people/sign-in';
import type { HttpError } from '@octavo/web/server';
import { createHttpServer, limitSharedRequests, trustProxySetting } from '@octavo/web/server';
import { Counter, Gauge, type Registry } from 'prom-client';
import { createPortfolioAdmin } from './admin.ts';
import { addApi } from './api.ts';
import { readImport } from './imports/pages-file.ts';
import { addPages } from './pages.ts';
import { type Counts, kinds } from './records.ts';
import { holdsOwnRecords, seedFirstStart, seedPortfolio } from './seed.ts';
import { createVisitors } from './site.ts';
import { saveRecords } from './store/import.ts';
import { claimDemoLoad, countRecords, type Tables } from './store/store.ts';
import { parseClients, Tokens } from './tokens.ts';

const secretFile = 'portfolio-jwt-secret';
const clientsText = text({
  secret: true,
  help: 'Clients that can get tokens, as id:secret separated by commas; anyone if unset',
});

const settings = {
  ...databaseSettings,
  ...accountSettings,
  ...oidcSettings,
  PORTFOLIO_JWT_SECRET: text({
    secret: true,
    requiredInProduction: true,
    minLength: 32,
    help: 'Key that tokens are signed with, at least 32 bytes; else a random one in the data folder',
  }),
  PORTFOLIO_TOKEN_RATE_LIMIT: integer({
    default: 30,
    min: 0,
    max: 1_000_000,
    help: 'Tokens that a client address may ask for in a minute; 0 means no limit',
  }),
  PORTFOLIO_PAGES: choice(['auto', 'public', 'signed-in'], {
    default: 'auto',
    help: 'Access to the pages: public, or accounts only; auto is public outside production if anyone can get a token',
  }),
  AUTH_CLIENTS: {
    ...clientsText,
    parse(value: string) {
      parseClients(value);
      return value;
    },
  },
  TRUST_PROXY: trustProxySetting,
} satisfies Settings;

/** People, investments and sectors of a firm, for programs that ask about them. */
export const portfolio = defineService({
  name: 'portfolio',
  summary: 'Team, investments and sectors of a firm, as pages and as an API for the chat',
  settings,
  migrations: [
    accountMigrations,
    adminMigrations,
    healthMigrations,
    limitMigrations,
    oidcMigrations,
    new URL('./migrations/', import.meta.url),
  ],
  backupFiles: [secretFile],
  keptSecrets: { PORTFOLIO_JWT_SECRET: secretFile },
  checks: [checkOidc],
  build,
});

async function build(parts: ServiceParts<typeof settings>) {
  const { config, context, stack } = parts;
  const { clock, dataFolder, environment, log, metrics } = context;
  const secret = config.PORTFOLIO_JWT_SECRET ?? (await storedSecret(join(dataFolder, secretFile)));
  const database = await parts.openDatabase<Tables>();
  const accounts = await openAccounts({
    database,
    config,
    clock,
    log,
    stack,
    words: ['octavo', 'portfolio'],
  });
  await seedFirstStart(database, { nowMs: clock.now(), isDemo: environment !== 'production' });
  const server = stack.use(
    await createHttpServer({
      name: 'portfolio',
      context,
      title: 'Portfolio',
      description: 'Team, investments and sectors of a firm. `GET /auth/token` gives the bearer token.',
      checks: { database: databaseCheck({ database, log }) },
      errorTable: {
        validation_failed: { status: 400, code: 'VALIDATION_FAILED' },
        rate_limited: { status: 429, code: 'RATE_LIMIT_EXCEEDED' },
      },
      errorBody,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const clients = config.AUTH_CLIENTS === undefined ? undefined : parseClients(config.AUTH_CLIENTS);
  const limits = stack.use(new SharedLimits({ database, clock, log }));
  const shared = limits.named('token', config.PORTFOLIO_TOKEN_RATE_LIMIT, 60_000);
  const issued = new Counter({
    name: 'portfolio_tokens_total',
    help: 'Tokens that were issued, and requests for one that were refused.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const pageSecret = await accounts.secret('portfolio', undefined);
  const oidc = await openStaffSignIn(accounts, {
    config,
    database,
    context,
    name: 'portfolio',
    title: 'Portfolio',
    secret: pageSecret,
    stack,
  });
  const tokens = new Tokens({ secret, clock, clients });
  const limit = limitSharedRequests({ shared }, clock);
  addApi(server.app, { database, accounts, oidc, tokens, issued, limit });
  const isPublic =
    config.PORTFOLIO_PAGES === 'auto'
      ? environment !== 'production' && clients === undefined
      : config.PORTFOLIO_PAGES === 'public';
  addPages(server.app, {
    database,
    accounts,
    oidc,
    tokens,
    visitors: createVisitors(accounts, isPublic),
    admin: createPortfolioAdmin({ accounts, database, clock, oidc }),
    secret: pageSecret,
    clock,
  });
  measure(database, metrics);
  const url = await server.listen();
  const inProduction = config.ADMIN_SETUP_LINK;
  return { url, setupLink: () => setupAddress(accounts, { url, context, inProduction }) };
}

function measure(database: Database<Tables>, metrics: Registry): void {
  new Gauge({
    name: 'portfolio_records',
    help: 'Records by kind.',
    labelNames: ['kind'],
    registers: [metrics],
    async collect() {
      const counts = await countRecords(database).catch(() => undefined);
      for (const kind of kinds) this.set({ kind }, counts?.[kind] ?? Number.NaN);
    },
  });
}

/** Loads the demo data without serving, and returns how many records are new; undefined beside the owner's own unless it is forced. */
export async function loadDemo(
  environment: Environment,
  context: ServiceContext,
  isForced: boolean,
): Promise<number | undefined> {
  await using database = await openDatabase(environment, context);
  if (!isForced && (await holdsOwnRecords(database))) return undefined;
  return await seedPortfolio(database, context.clock.now());
}

/** Reads a file of the owner's data in the format of `parseImport`. */
export async function importFile(options: {
  readonly environment: Environment;
  readonly context: ServiceContext;
  readonly file: string;
  readonly kind: string | undefined;
  /** The decimal sign of amounts, where the file allows both. */
  readonly decimal?: string | undefined;
  readonly replaces: boolean;
}): Promise<Counts> {
  const { environment, context, file, replaces } = options;
  const records = await readImport(file, options);
  await using database = await openDatabase(environment, context);
  const nowMs = context.clock.now();
  return await database.write(
    async (store) => {
      await claimDemoLoad(store, nowMs);
      return saveRecords(store, records, { nowMs, replaces });
    },
    { alone: true },
  );
}

function openDatabase(environment: Environment, context: ServiceContext): Promise<Database<Tables>> {
  return openServiceDatabase(portfolio, readConfig(portfolio.settings, environment), context);
}

/** An error that names fields is `VALIDATION_FAILED`, wherever these are in the request. */
function errorBody({ code, message, fields }: HttpError, { id: requestId }: { readonly id: string }) {
  const isInvalid = code === 'INVALID_INPUT' && Object.keys(fields).length > 0;
  return { error: { code: isInvalid ? 'VALIDATION_FAILED' : code, message, fields, requestId } };
}
