import type { Clock } from '@octavo/core';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { Visit } from '@octavo/web/pages';
import { loadAssets, servePages } from '@octavo/web/pages';
import type { HttpApp } from '@octavo/web/server';
import { type Access, tokenLifetimeSeconds } from './access/access.ts';
import { addSignInPages, createErrorPage } from './access/pages.ts';
import { createVisitors, findSignedIn, type PageSession } from './access/visitors.ts';
import { addAccountPage } from './account/pages.ts';
import { addAppPages } from './account/pages-app.ts';
import { addLeavePage } from './account/pages-leave.ts';
import { addPasswordPages } from './account/pages-password.ts';
import { addAnalysisPage } from './analytics/pages.ts';
import type { ImportedFiles } from './bulk/imported-files.ts';
import type { LargeBodies } from './bulk/large-bodies.ts';
import { addImportPages } from './bulk/pages.ts';
import { addExportPages } from './exports/pages.ts';
import { addDeleteExportPage } from './exports/pages-delete.ts';
import type { StoredExports } from './exports/store.ts';
import { addPostPages } from './posts/pages.ts';
import { addDeletePages } from './posts/pages-delete.ts';
import { addDeleteManyPages } from './posts/pages-delete-many.ts';
import { addDeletedPages } from './posts/pages-deleted.ts';
import { addEditPages } from './posts/pages-edit.ts';
import { addListPage } from './posts/pages-list/page.ts';
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
  /** The sign-in with the OpenID provider, if there is one. */
  readonly oidc: OidcSignIn<PageSession> | undefined;
  /** Encrypts sessions and signs forms. */
  readonly secret: string;
  readonly clock: Clock;
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly integrations: Integrations;
  readonly largeBodies: LargeBodies;
  readonly importedFiles: ImportedFiles;
  /** Absent if the object store is off. */
  readonly exports: StoredExports | undefined;
  /** Dependencies of only the status page. */
  readonly status: Omit<StatusParts, 'visitors' | 'integrations' | 'posts' | 'authz' | 'clock'>;
}

/** Serves the pages of all features. */
export function addPages(app: HttpApp, parts: PageParts): void {
  const {
    access,
    oidc,
    secret,
    clock,
    posts,
    authz,
    integrations,
    largeBodies,
    importedFiles,
    exports,
    status,
  } = parts;
  const visitors = createVisitors(access, clock);
  const usernames = new Usernames(authz, clock);
  const assets = loadAssets(...assetFolders);
  const errorPage = createErrorPage({ access, restoreForm, oidc });
  const sessionSeconds = tokenLifetimeSeconds;
  const apiToken = async (visit: Visit<PageSession>) => findSignedIn(visit, access) && visit.who?.token;
  const options = { name: 'gateway', secret, sessionSeconds, clock, assets, apiToken, errorPage };
  servePages<PageSession>(app, options, (routes) => {
    oidc?.addRoutes(routes);
    addSignInPages(routes, { access, visitors, restoreForm, oidc });
    addListPage(routes, { visitors, posts, integrations, usernames });
    addPostPages(routes, { visitors, posts, integrations, usernames });
    addDeletePages(routes, { visitors, posts, authz, usernames });
    addDeleteManyPages(routes, { visitors, posts, authz, usernames });
    addDeletedPages(routes, { visitors, posts, usernames });
    addEditPages(routes, { visitors, posts, usernames });
    addImportPages(routes, { visitors, posts, largeBodies, importedFiles, usernames });
    addExportPages(routes, { visitors, posts, clock, exports });
    if (exports) addDeleteExportPage(routes, { visitors, authz, exports });
    addAnalysisPage(routes, { visitors, posts, usernames });
    addReanalysisPages(routes, { visitors, posts, integrations });
    addSentimentPage(routes, { visitors, posts, integrations });
    addUserPages(routes, { visitors, authz });
    addUserPage(routes, { visitors, authz });
    addAccountPage(routes, { visitors, authz, oidc });
    addLeavePage(routes, { access, authz, oidc });
    addPasswordPages(routes, { access, visitors, authz });
    addAppPages(routes, { visitors, authz });
    addStatusPage(routes, { visitors, integrations, posts, authz, clock, ...status });
  });
}

const assetFolders = [new URL('./reanalysis/assets/', import.meta.url)];
