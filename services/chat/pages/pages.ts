import { toAppError } from '@octavo/core';
import type { Visit } from '@octavo/web/pages';
import { loadAssets, servePages } from '@octavo/web/pages';
import type { HttpApp, HttpError } from '@octavo/web/server';
import { pageRoutes } from '../routes.ts';
import { addAccountPages } from './pages-account.ts';
import { addChats } from './pages-chats.ts';
import { addDocuments } from './pages-documents.ts';
import { signInPage } from './pages-frame.ts';
import { errorPageOf, type PageParts, type Routes } from './pages-visitor.ts';
import { addSettings } from './settings/pages-settings.ts';
import { addSharing } from './sharing/pages-sharing.ts';
import { Starters } from './starters.ts';

/** Browser modules of packages, under the names of their files. */
const modules = [
  new URL('client-dist/socket.io.esm.min.js', import.meta.resolve('socket.io/package.json')),
  new URL(import.meta.resolve('marked')),
];

/** Adds the pages: chats with their answers, and documents with the quoted passage marked. */
export function addPages(app: HttpApp, given: Omit<PageParts, 'starters'>): void {
  const parts: PageParts = { ...given, starters: new Starters() };
  const { secret, clock, publicUrl } = parts;
  const assets = loadAssets(new URL('./assets/', import.meta.url), ...modules);
  const options = {
    name: 'chat',
    secret,
    publicUrl,
    clock,
    sessionSeconds: 30 * 86_400,
    sameSite: 'lax' as const,
    assets,
  };
  const errorPage = (visit: Visit<never>, error: HttpError) => errorPageOf(parts, visit, error);
  servePages<never>(app, { ...options, errorPage }, (routes) => {
    addSignIn(routes, parts);
    addAccountPages(routes, parts);
    addChats(routes, parts);
    addDocuments(routes, parts);
    addSettings(routes, parts);
    addSharing(routes, parts);
  });
}

function addSignIn(routes: Routes, { gate, clock, oidc }: PageParts): void {
  if (!gate.hasSignIn) return;
  oidc?.addRoutes(routes);
  const open = { access: 'public' } as const;
  const choices = { oidc, hasKeys: gate.takesKeys };
  routes.get(pageRoutes.signIn, open, (visit) => signInPage(visit, choices));
  routes.post(pageRoutes.signIn, open, async (visit) => {
    const key = visit.field('key').trim() || undefined;
    try {
      const identity = await gate.identifyKey(key);
      if (identity !== undefined) gate.rememberSignedIn(visit.reply, identity, clock.now());
    } catch (error) {
      visit.reply.code(401);
      return signInPage(visit, choices, toAppError(error).message);
    }
    return visit.redirect(pageRoutes.home);
  });
  routes.post(pageRoutes.signOut, open, async (visit) => {
    const person = gate.personOf(visit.request.cookies, clock.now());
    gate.forget(visit.reply);
    if (await oidc?.signOut(visit, person?.key)) return visit.reply;
    return visit.redirect(gate.requiresSignIn ? pageRoutes.signIn : pageRoutes.home);
  });
}
