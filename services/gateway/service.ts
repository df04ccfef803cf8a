import { join } from 'node:path';
import { AppError, type Environment } from '@octavo/core';
import { type ObjectStore, openFolderStore, openS3Store } from '@octavo/data/objects';
import { configOf, defineService, type ServiceParts } from '@octavo/data/service';
import { checkOidc, OidcSignIn, providerOf } from '@octavo/people/sign-in';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { HttpApp } from '@octavo/web/server';
import { createHttpServer } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { Access, createPermits } from './access/access.ts';
import { addLogin } from './access/api.ts';
import { accountRealm, admission } from './access/people.ts';
import { addAnalytics } from './analytics/api.ts';
import { addBulk } from './bulk/api.ts';
import { ImportedFiles } from './bulk/imported-files.ts';
import { LargeBodies } from './bulk/large-bodies.ts';
import { addExports } from './exports/api.ts';
import { StoredExports } from './exports/store.ts';
import { contentTypeOf, exportFolder } from './exports/stored-export.ts';
import { addPages } from './pages.ts';
import { addPosts } from './posts/api.ts';
import { addDeletedPosts } from './posts/api-deleted.ts';
import { addReanalysis } from './reanalysis/api.ts';
import { protectedPrefix } from './routes.ts';
import { addSentiment } from './sentiment/api.ts';
import { s3Options, secretOf, settings } from './settings.ts';
import { addStatus } from './status/api.ts';
import { addIntegrationMetrics, Integrations } from './status/integrations.ts';
import { backendChecks, createUptime, type RpcAddresses } from './status/status.ts';

export interface GatewayDeps {
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly rpcAddresses: RpcAddresses;
}

type Parts = ServiceParts<typeof settings, GatewayDeps>;

const objectFolder = 'objects';

/** The HTTP API and the pages over posts and access decisions. */
export const gateway = defineService({
  name: 'gateway',
  summary: 'Posts: manage, search, bulk-load, export and analyze them',
  settings,
  checks: [s3Options, checkOidc],
  backupFiles: ['gateway-jwt-secret', `${objectFolder}/`],
  keptSecrets: { GATEWAY_JWT_SECRET: 'gateway-jwt-secret' },
  build,
});

/** Stored exports without serving them: where the settings say, or at another place. */
export async function openObjects(
  environment: Environment,
  { dataFolder, folder, bucket }: { dataFolder: string; folder?: string; bucket?: string },
) {
  const given = bucket === undefined ? environment : { ...environment, S3_BUCKET: bucket };
  const s3 = folder === undefined ? s3Options(configOf(gateway, given)) : undefined;
  const store = s3 ? await openS3Store(s3) : await openFolderStore(folder ?? join(dataFolder, objectFolder));
  return {
    store,
    folder: exportFolder,
    contentTypeOf,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function build(parts: Parts) {
  const { config, context, stack } = parts;
  const { posts, authz, rpcAddresses } = parts.deps;
  const { clock, environment, metrics, tracer } = context;
  const secret = await secretOf(config, context.dataFolder);
  const s3 = s3Options(config);
  const store = await openStore(parts, s3);
  const exports = stack.use(store && openExports(parts, store));
  // Without a bucket, only the processes on this machine see an uploaded file.
  const uploads = store && s3 ? store : stack.use(await openFolderStore(join(context.dataFolder, 'uploads')));
  const integrations = new Integrations({
    posts,
    objectStore: exports && ((signal) => exports.ping(signal)),
    tracing: tracer && (() => tracer.ping()),
  });
  addIntegrationMetrics(metrics, integrations);
  const checks = backendChecks(posts, authz);
  const server = stack.use(
    await createHttpServer({
      name: 'gateway',
      context,
      title: 'Posts',
      version: apiVersion,
      description: 'Manage, search, bulk-load, export and analyze posts.',
      checks,
      optionalChecks: integrations.checks(),
      corsOrigin: config.CORS_ORIGIN,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const { app } = server;
  const startedMs = clock.now();
  const uptime = createUptime(clock);
  const access = new Access({ authz, secret, clock, mfaAssertion: config.MFA_ASSERTION });
  const oidc = openSignIn(parts, access, secret);
  const largeBodies = new LargeBodies(spillFolderOf(context.dataFolder));

  checkTextParameters(app);
  const permits = createPermits(app, access);
  addLogin(app, { access, clock });
  addPosts(app, { permits, posts, clock });
  addDeletedPosts(app, { permits, posts, clock });
  addBulk(app, { permits, posts, largeBodies });
  addExports(app, { permits, posts, clock, exports });
  addAnalytics(app, { permits, posts, clock });
  addReanalysis(app, { permits, posts, integrations });
  addSentiment(app, { permits, posts, integrations });
  addStatus(app, { permits, integrations, environment, rpcAddresses, uptime });

  addPages(app, {
    access,
    oidc,
    secret,
    clock,
    posts,
    authz,
    integrations,
    largeBodies,
    importedFiles: new ImportedFiles(uploads, clock),
    exports,
    status: { checks, environment, rpcAddresses, startedMs, apiVersion },
  });
  return { url: await server.listen() };
}

const apiVersion = '3.0.0';

/** Returns the folder for bytes that memory cannot hold. */
function spillFolderOf(dataFolder: string): string {
  return join(dataFolder, 'spill');
}

/** The sign-in with the OpenID provider of the settings; undefined without one. */
function openSignIn({ config, context, deps }: Parts, access: Access, secret: string) {
  const settings = providerOf(config);
  if (!settings) return undefined;
  const { clock, log, suite } = context;
  const admit = admission({ provider: settings.name, defaultRole: config.OIDC_DEFAULT_ROLE });
  const site = accountRealm(deps.authz, access, { admit, nowMs: () => clock.now() });
  const names = { name: 'gateway', title: 'Posts' };
  const oidc = new OidcSignIn({ settings, ...names, secret, clock, log, suite, realms: { site } });
  access.takeTokensOf(oidc);
  return oidc;
}

async function openStore(
  { config, context }: Parts,
  s3: ReturnType<typeof s3Options>,
): Promise<ObjectStore | undefined> {
  if (!config.OBJECT_STORE) return undefined;
  return s3 ? openS3Store(s3) : openFolderStore(join(context.dataFolder, objectFolder));
}

function openExports({ config, context }: Parts, store: ObjectStore): StoredExports {
  const { dataFolder, clock, log, metrics } = context;
  const spillFolder = spillFolderOf(dataFolder);
  const spillBytesMax = config.EXPORT_SPILL_MIB * 1024 * 1024;
  return new StoredExports({ store, spillFolder, spillBytesMax, clock, log, metrics });
}

/**
 * Refuses text in the path, and in the query of the API, that no parameter can be: U+0000, which PostgreSQL does not store, and an id
 * with leading zeros, which would be a second address of the same post. Pages ignore what they cannot use of a query.
 */
function checkTextParameters(app: HttpApp): void {
  app.addHook('preValidation', async (request) => {
    for (const [name, text] of parametersOf(request)) {
      const problem = problemOf(name, text);
      if (problem) throw new AppError('invalid_input', `${name} ${problem}`, { fields: { [name]: problem } });
    }
  });
}

function parametersOf({ params, query, url }: FastifyRequest): [name: string, text: unknown][] {
  const ofQuery = url.startsWith(`${protectedPrefix}/`) ? Object.entries(query ?? {}) : [];
  return [...Object.entries(params ?? {}), ...ofQuery].flatMap(([name, given]) =>
    [given].flat().map((text): [string, unknown] => [name, text]),
  );
}

/** The name of a stored export: whatever is not one is 404, and no database sees it. */
const exportNames = new Set(['key', 'name']);

function problemOf(name: string, text: unknown): string | undefined {
  if (typeof text !== 'string' || exportNames.has(name)) return undefined;
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return name === 'id' && /^0\d/.test(text) ? 'must not start with a zero' : undefined;
}
