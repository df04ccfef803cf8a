import { join } from 'node:path';
import { createHttpServer } from '#kit/http/server.ts';
import { openFolderStore, openS3Store } from '#kit/objects/index.ts';
import type { Client } from '#kit/rpc/index.ts';
import { defineService, type ServiceParts } from '#kit/service.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { Access, createPermits } from './access/access.ts';
import { addLogin } from './access/api.ts';
import { addAnalytics } from './analytics/api.ts';
import { addBulk } from './bulk/api.ts';
import { addExports } from './exports/api.ts';
import { StoredExports } from './exports/store.ts';
import { addPages } from './pages.ts';
import { addPosts } from './posts/api.ts';
import { addReanalysis } from './reanalysis/api.ts';
import { addSentiment } from './sentiment/api.ts';
import { s3Options, secretOf, settings } from './settings.ts';
import { addStatus } from './status/api.ts';
import { addIntegrationMetrics, Integrations } from './status/integrations.ts';
import { backendChecks, createUptime, type RpcAddresses } from './status/status.ts';
import { checkTextParameters } from './text-parameters.ts';

export interface GatewayDeps {
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly rpcAddresses: RpcAddresses;
}

type Parts = ServiceParts<typeof settings, GatewayDeps>;

/** The HTTP API and the pages over posts and access decisions. */
export const gateway = defineService({
  name: 'gateway',
  summary: 'Posts: manage, search, bulk-load, export and analyze them',
  settings,
  checks: [s3Options],
  backupFiles: ['gateway-jwt-secret', 'objects/'],
  build,
});

async function build(parts: Parts) {
  const { config, context, stack } = parts;
  const { posts, authz, rpcAddresses } = parts.deps;
  const { clock, environment, metrics, tracer } = context;
  const secret = await secretOf(config, context.dataFolder);
  const exports = stack.use(await openExports(parts));
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
      title: 'Post gateway',
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

  checkTextParameters(app);
  const permits = createPermits(app, access);
  addLogin(app, { access, clock });
  addPosts(app, { permits, posts, clock });
  addBulk(app, { permits, posts, spillFolder: spillFolderOf(context.dataFolder) });
  addExports(app, { permits, posts, clock, exports });
  addAnalytics(app, { permits, posts, clock });
  addReanalysis(app, { permits, posts, integrations });
  addSentiment(app, { permits, posts, integrations });
  addStatus(app, { permits, integrations, environment, rpcAddresses, uptime });

  addPages(app, {
    access,
    secret,
    clock,
    posts,
    authz,
    integrations,
    exports,
    status: { checks, environment, rpcAddresses, startedMs, apiVersion },
  });
  return { url: await server.listen() };
}

const apiVersion = '3.0.0';

/** Where bytes wait that memory cannot hold. */
function spillFolderOf(dataFolder: string): string {
  return join(dataFolder, 'spill');
}

async function openExports({ config, context }: Parts): Promise<StoredExports | undefined> {
  if (!config.OBJECT_STORE) return undefined;
  const { dataFolder, clock, log, metrics } = context;
  const s3 = s3Options(config);
  const store = await (s3 ? openS3Store(s3) : openFolderStore(join(dataFolder, 'objects')));
  const spillFolder = spillFolderOf(dataFolder);
  const spillBytesMax = config.EXPORT_SPILL_MIB * 1024 * 1024;
  return new StoredExports({ store, spillFolder, spillBytesMax, clock, log, metrics });
}
