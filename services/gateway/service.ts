import { join } from 'node:path';
import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { openFolderStore, openS3Store } from '#kit/objects/index.ts';
import type { Client } from '#kit/rpc/index.ts';
import { defineService, type ServiceParts } from '#kit/service.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { Access, createPermits, tokenLifetimeSeconds } from './access/access.ts';
import { addLogin } from './access/api.ts';
import { addSignInPages } from './access/pages.ts';
import { createErrorPage } from './access/pages-error.ts';
import { createVisitors, type PageSession } from './access/visitors.ts';
import { addAccountPage } from './account/pages.ts';
import { addAppPages } from './account/pages-app.ts';
import { addPasswordPages } from './account/pages-password.ts';
import { addAnalytics } from './analytics/api.ts';
import { addAnalysisPage } from './analytics/pages.ts';
import { addBulk } from './bulk/api.ts';
import { addImportPages } from './bulk/pages.ts';
import { addExports } from './exports/api.ts';
import { addExportPages } from './exports/pages.ts';
import { StoredExports } from './exports/store.ts';
import { addPosts } from './posts/api.ts';
import { addPostPages } from './posts/pages.ts';
import { addDeletePages } from './posts/pages-delete.ts';
import { addEditPages } from './posts/pages-edit.ts';
import { addListPage } from './posts/pages-list.ts';
import { restoreForm } from './posts/post-form.ts';
import { addReanalysis } from './reanalysis/api.ts';
import { addReanalysisPages } from './reanalysis/pages.ts';
import { addSentiment } from './sentiment/api.ts';
import { addSentimentPage } from './sentiment/pages.ts';
import { s3Options, secretOf, settings } from './settings.ts';
import { addStatus } from './status/api.ts';
import { addIntegrationMetrics, Integrations } from './status/integrations.ts';
import { addStatusPage } from './status/pages.ts';
import { backendChecks, createUptime, type RpcAddresses } from './status/status.ts';
import { checkTextParameters } from './text-parameters.ts';
import { Usernames } from './users/index.ts';
import { addUserPages } from './users/pages.ts';
import { addUserPage } from './users/pages-user.ts';

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
      version: '3.0.0',
      description: 'Manage, search, bulk-load, export and analyze posts.',
      checks,
      optionalChecks: integrations.checks(),
      corsOrigin: config.CORS_ORIGIN,
      trustedProxy: config.TRUST_PROXY,
    }),
  );
  const { app } = server;
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

  const visitors = createVisitors(access, clock);
  const usernames = new Usernames(authz, clock);
  const assets = loadAssets(...assetFolders);
  const errorPage = createErrorPage({ access, restoreForm });
  const sessionSeconds = tokenLifetimeSeconds;
  servePages<PageSession>(
    app,
    { name: 'gateway', secret, sessionSeconds, clock, assets, errorPage },
    (routes) => {
      addSignInPages(routes, { access, visitors, restoreForm });
      addListPage(routes, { visitors, posts, usernames });
      addPostPages(routes, { visitors, posts, integrations, usernames });
      addDeletePages(routes, { visitors, posts, authz, usernames });
      addEditPages(routes, { visitors, posts });
      addImportPages(routes, { visitors, posts });
      addExportPages(routes, { visitors, posts, clock, exports });
      addAnalysisPage(routes, { visitors, posts });
      addReanalysisPages(routes, { visitors, posts, integrations });
      addSentimentPage(routes, { visitors, posts, integrations });
      addUserPages(routes, { visitors, authz });
      addUserPage(routes, { visitors, authz });
      addAccountPage(routes, { visitors, authz });
      addPasswordPages(routes, { access, visitors, authz });
      addAppPages(routes, { visitors, authz });
      addStatusPage(routes, { visitors, integrations, checks, environment, rpcAddresses, uptime });
    },
  );
  return { url: await server.listen() };
}

const assetFolders = ['./bulk/assets/', './reanalysis/assets/'].map((path) => new URL(path, import.meta.url));

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
