import type { Clock } from '#kit/clock.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import type { HttpApp } from '#kit/http/access.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { type Access, tokenLifetimeSeconds } from './access/access.ts';
import { addSignInPages } from './access/pages.ts';
import { createErrorPage } from './access/pages-error.ts';
import { createVisitors, type PageSession } from './access/visitors.ts';
import { addAccountPage } from './account/pages.ts';
import { addAppPages } from './account/pages-app.ts';
import { addPasswordPages } from './account/pages-password.ts';
import { createGatewayAdmin } from './admin.ts';
import { addAnalysisPage } from './analytics/pages.ts';
import { addImportPages } from './bulk/pages.ts';
import { addExportPages } from './exports/pages.ts';
import { addDeleteExportPage } from './exports/pages-delete.ts';
import type { StoredExports } from './exports/store.ts';
import { addPostPages } from './posts/pages.ts';
import { addDeletePages } from './posts/pages-delete.ts';
import { addDeleteManyPages } from './posts/pages-delete-many.ts';
import { addEditPages } from './posts/pages-edit.ts';
import { addListPage } from './posts/pages-list.ts';
import { restoreForm } from './posts/post-form.ts';
import { addReanalysisPages } from './reanalysis/pages.ts';
import { addSentimentPage } from './sentiment/pages.ts';
import type { Integrations } from './status/index.ts';
import { addStatusPage, type StatusParts } from './status/pages.ts';
import { Usernames } from './users/index.ts';
import { addUserPages } from './users/pages.ts';
import { addUserPage } from './users/pages-user.ts';

export interface PageParts {
  readonly access: Access;
  /** Encrypts sessions and signs forms. */
  readonly secret: string;
  readonly clock: Clock;
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly integrations: Integrations;
  /** Absent if the object store is off. */
  readonly exports: StoredExports | undefined;
  /** What only the status page shows. */
  readonly status: Omit<StatusParts, 'visitors' | 'integrations' | 'posts' | 'authz' | 'clock'>;
}

/** Serves the pages of all features. */
export function addPages(app: HttpApp, parts: PageParts): void {
  const { access, secret, clock, posts, authz, integrations, exports, status } = parts;
  const visitors = createVisitors(access, clock);
  const usernames = new Usernames(authz, clock);
  const assets = loadAssets(...assetFolders);
  const admin = createGatewayAdmin({ access, posts, usernames, clock });
  const ownErrorPage = createErrorPage({ access, restoreForm });
  const errorPage: typeof ownErrorPage = async (visit, error) =>
    (await admin.errorPage(visit, error)) ?? ownErrorPage(visit, error);
  const sessionSeconds = tokenLifetimeSeconds;
  const options = { name: 'gateway', secret, sessionSeconds, clock, assets, errorPage };
  servePages<PageSession>(app, options, (routes) => {
    addSignInPages(routes, { access, visitors, restoreForm });
    addListPage(routes, { visitors, posts, integrations, usernames });
    addPostPages(routes, { visitors, posts, integrations, usernames });
    addDeletePages(routes, { visitors, posts, authz, usernames });
    addDeleteManyPages(routes, { visitors, posts, authz, usernames });
    addEditPages(routes, { visitors, posts });
    addImportPages(routes, { visitors, posts });
    addExportPages(routes, { visitors, posts, clock, exports });
    if (exports) addDeleteExportPage(routes, { visitors, authz, exports });
    addAnalysisPage(routes, { visitors, posts, usernames });
    addReanalysisPages(routes, { visitors, posts, integrations });
    addSentimentPage(routes, { visitors, posts, integrations });
    addUserPages(routes, { visitors, authz });
    addUserPage(routes, { visitors, authz });
    addAccountPage(routes, { visitors, authz });
    addPasswordPages(routes, { access, visitors, authz });
    addAppPages(routes, { visitors, authz });
    addStatusPage(routes, { visitors, integrations, posts, authz, clock, ...status });
    admin.addRoutes(routes);
  });
}

const assetFolders = ['./bulk/assets/', './reanalysis/assets/'].map((path) => new URL(path, import.meta.url));
