import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import { addAccountPages } from './pages/account.ts';
import { addEntryPages } from './pages/entry.ts';
import type { PageParts } from './pages/parts.ts';
import { frameOf } from './pages/reader.ts';
import type { TokenPair } from './tokens.ts';
import { errorPage } from './views/error.ts';

/** Adds the page, for people what the API is for programs. */
export function addPages(parts: PageParts, sessionSeconds: number): void {
  servePages<TokenPair>(
    parts.app,
    {
      name: 'tokens',
      secret: parts.secret,
      sessionSeconds,
      clock: parts.clock,
      assets: loadAssets(new URL('assets/', import.meta.url)),
      errorPage: (visit, error) => errorPage(frameOf(visit), error, visit.request.id),
    },
    (routes) => {
      addEntryPages(routes, parts);
      addAccountPages(routes, parts);
    },
  );
}
