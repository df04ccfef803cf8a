import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import { tokenLifetimeSeconds } from './access.ts';
import { addAnalysisPage } from './pages/analysis.ts';
import { addDeletePages } from './pages/delete.ts';
import { errorPageFor } from './pages/errors.ts';
import { addExportPage } from './pages/export.ts';
import { addStoredExportPages } from './pages/exports.ts';
import { addImportPages } from './pages/import.ts';
import { addListPage } from './pages/list.ts';
import type { PageParts, Ticket } from './pages/parts.ts';
import { addPostPages } from './pages/posts.ts';
import { createReaders } from './pages/reader.ts';
import { addReanalysisPages } from './pages/reanalyses.ts';
import { addSentimentPage } from './pages/sentiment.ts';
import { addSignInPages } from './pages/sign-in.ts';
import { addStatusPage } from './pages/status.ts';

/** Adds the pages, for people what the API is for programs. */
export function addPages(parts: PageParts): void {
  const assets = loadAssets(new URL('assets/', import.meta.url));
  const readers = createReaders(parts);
  servePages<Ticket>(
    parts.app,
    {
      name: 'gateway',
      secret: parts.secret,
      sessionSeconds: tokenLifetimeSeconds,
      clock: parts.clock,
      assets,
      errorPage: errorPageFor(parts),
    },
    (routes) => {
      addSignInPages(routes, readers, parts);
      addListPage(routes, readers, parts);
      addPostPages(routes, readers, parts);
      addDeletePages(routes, readers, parts);
      addExportPage(routes, readers, parts);
      addStoredExportPages(routes, readers, parts);
      addImportPages(routes, readers, parts);
      addAnalysisPage(routes, readers, parts);
      addReanalysisPages(routes, readers, parts);
      addSentimentPage(routes, readers, parts);
      addStatusPage(routes, readers, parts);
    },
  );
}
