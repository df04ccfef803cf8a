import { loadAssets } from '#kit/html/assets.ts';
import { type PageAnswer, servePages } from '#kit/html/pages.ts';
import { addAccountPages } from './pages/account.ts';
import { addAuthenticatorPages } from './pages/authenticator.ts';
import { addEntryPages } from './pages/entry.ts';
import { showLanding } from './pages/link.ts';
import { addMailPages } from './pages/mails.ts';
import type { PageParts } from './pages/parts.ts';
import { addPasskeyPages } from './pages/passkeys.ts';
import { frameOf, isSignInRequired } from './pages/reader.ts';
import type { TokenPair } from './session.ts';
import { signInPage } from './views/entry.ts';
import { errorPage } from './views/error.ts';

/** Adds the pages, for people what the API is for programs; gives what a browser is shown that follows a magic link. */
export function addPages(parts: PageParts) {
  const answer: PageAnswer<TokenPair> = servePages<TokenPair>(
    parts.app,
    {
      name: 'passwordless',
      secret: parts.secret,
      sessionSeconds: parts.sessionSeconds,
      clock: parts.clock,
      assets: loadAssets(new URL('assets/', import.meta.url)),
      errorPage: (visit, error) => {
        const frame = frameOf(visit, parts);
        if (isSignInRequired(error)) return signInPage(frame, { problem: error.message });
        return errorPage(frame, error, visit.request.id);
      },
    },
    (routes) => {
      addEntryPages(routes, parts);
      addAccountPages(routes, parts);
      addPasskeyPages(routes, parts);
      addAuthenticatorPages(routes, parts);
      addMailPages(routes, parts);
    },
  );
  return { landing: showLanding(answer, parts) };
}
