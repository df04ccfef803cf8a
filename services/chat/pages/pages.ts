import { toAppError } from '#kit/errors.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { servePages } from '#kit/html/pages.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { pageRoutes } from '../routes.ts';
import { addChats } from './pages-chats.ts';
import { addDocuments } from './pages-documents.ts';
import { errorPage, signInPage } from './pages-frame.ts';
import type { PageParts, Routes } from './pages-visitor.ts';

/** Browser modules of packages, under the names of their files. */
const modules = [
  new URL('client-dist/socket.io.esm.min.js', import.meta.resolve('socket.io/package.json')),
  new URL(import.meta.resolve('marked')),
];

/** Adds the pages: chats with their answers, and documents with the quoted passage marked. */
export function addPages(app: HttpApp, parts: PageParts): void {
  const { secret, clock } = parts;
  const assets = loadAssets(new URL('./assets/', import.meta.url), ...modules);
  const options = {
    name: 'chat',
    secret,
    clock,
    sessionSeconds: 30 * 86_400,
    sameSite: 'lax' as const,
    assets,
  };
  servePages<never>(app, { ...options, errorPage }, (routes) => {
    addSignIn(routes, parts);
    addChats(routes, parts);
    addDocuments(routes, parts);
  });
}

function addSignIn(routes: Routes, { gate, clock }: PageParts): void {
  if (!gate.hasSignIn) return;
  const open = { access: 'public' } as const;
  routes.get(pageRoutes.signIn, open, async (visit) => signInPage(visit));
  routes.post(pageRoutes.signIn, open, async (visit) => {
    const key = visit.field('key').trim() || undefined;
    try {
      const owner = await gate.identify({ bearer: key, apiKey: key });
      if (owner !== undefined) gate.rememberSignedIn(visit.reply, owner, clock.now());
    } catch (error) {
      visit.reply.code(401);
      return signInPage(visit, toAppError(error).message);
    }
    return visit.redirect(pageRoutes.home);
  });
  routes.post(pageRoutes.signOut, open, async (visit) => {
    gate.forget(visit.reply);
    return visit.redirect(pageRoutes.signIn);
  });
}
