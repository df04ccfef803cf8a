import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound, toAppError } from '#kit/errors.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { type PageRoutes, servePages } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpApp } from '#kit/http/server.ts';
import {
  checkMayChange,
  deleteDocument,
  findDocument,
  type IngestParts,
  listDocuments,
  textOf,
} from '../documents/index.ts';
import type { Gate } from '../gate/index.ts';
import { type LibraryMode, libraryKeyOf } from '../library.ts';
import type { Owner } from '../owner.ts';
import { defaultStrategy, strategyIds } from '../retrieval/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { deleteSession, findSession, listSessions, messagesOf, type Session } from '../sessions/index.ts';
import type { Tables } from '../tables.ts';
import { type Turns, toTurnRequest } from '../turns/index.ts';
import { errorPage, frameOf, signInPage } from './pages-frame.ts';
import { chatPage, deletePage, documentPage, documentsPage } from './views.ts';

export interface PageParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly libraryMode: LibraryMode;
  readonly turns: Turns;
  readonly gate: Gate;
  readonly ingest: IngestParts;
  readonly secret: string;
}

type Visitor = { readonly visit: Visit<never>; readonly owner: Owner };
type Routes = PageRoutes<never>;

const chatsShown = 30;
const documentsShown = 100;
const queryMax = 4_000;

/** Adds the pages: chats with their answers, and documents with the quoted passage marked. */
export function addPages(app: HttpApp, parts: PageParts): void {
  const { secret, clock } = parts;
  const assets = loadAssets(new URL('./assets/', import.meta.url));
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

/** Who is at the browser. With sign-in, strangers are shown where to sign in. */
function visitorsOf({ gate, clock }: PageParts) {
  return async (visit: Visit<never>): Promise<Visitor> => {
    if (!gate.hasSignIn) return { visit, owner: gate.remember(visit.request, visit.reply) };
    const owner = gate.browserOwner(visit.request.cookies, clock.now());
    if (owner === undefined) throw new AppError('unauthenticated', 'Sign in first.');
    return { visit, owner };
  };
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
}

function addChats(routes: Routes, parts: PageParts): void {
  const { database, clock, turns } = parts;
  const access = visitorsOf(parts);
  const open = async ({ visit, owner }: Visitor, id?: string) => {
    const session = id === undefined ? undefined : await sessionOr404(parts, owner, id);
    const messages = session ? await messagesOf(database, session.id) : [];
    const { total: documentCount } = await listDocuments(database, reachOf(parts, owner), { limit: 1 });
    return chatPage(await framed(parts, { visit, owner }), { session, messages, documentCount });
  };
  routes.get(pageRoutes.home, { access: homeAccess(parts) }, async (visitor) => {
    return visitor.owner === undefined
      ? visitor.visit.redirect(pageRoutes.signIn)
      : open({ visit: visitor.visit, owner: visitor.owner });
  });
  routes.get(pageRoutes.chat, { access }, async (visitor) => open(visitor, idIn(visitor.visit)));
  routes.post(pageRoutes.ask, { access }, async ({ visit, owner }) => {
    const query = visit.field('query').trim().slice(0, queryMax);
    const session_id = visit.field('session') || undefined;
    if (query === '')
      return visit.redirect(session_id ? pathOf(pageRoutes.chat, session_id) : pageRoutes.home);
    const strategy = strategyIds.find((id) => id === visit.field('strategy')) ?? defaultStrategy;
    const client = parts.gate.clientOf(visit.request);
    parts.gate.take('chat', client);
    const turn = turns.begin({ owner, client }, toTurnRequest({ query, strategy, session_id }));
    visit.reply.raw.once('close', turn.follow());
    return visit.redirect(pathOf(pageRoutes.chat, (await turn.answer).session_id));
  });
  routes.get(pageRoutes.deleteChat, { access }, async (visitor) => {
    const { id, title } = await sessionOr404(parts, visitor.owner, idIn(visitor.visit));
    const text = 'Its questions, its answers and the documents that were added to it are deleted for good.';
    return deletePage(await framed(parts, visitor), {
      ...{ what: 'chat', name: title, text, action: pathOf(pageRoutes.deleteChat, id) },
      back: pathOf(pageRoutes.chat, id),
    });
  });
  routes.post(pageRoutes.deleteChat, { access }, async ({ visit, owner }) => {
    await deleteSession(database, { owner, nowMs: clock.now() }, idIn(visit));
    return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The chat was deleted.' });
  });
}

/** The start page is where strangers come first. */
function homeAccess(parts: PageParts) {
  const access = visitorsOf(parts);
  return async (visit: Visit<never>) => {
    return access(visit).catch(() => ({ visit, owner: undefined }));
  };
}

function addDocuments(routes: Routes, parts: PageParts): void {
  const { database, ingest, gate } = parts;
  const access = visitorsOf(parts);
  const findOr404 = async ({ visit, owner }: Visitor) => {
    const document = await findDocument(database, reachOf(parts, owner), idIn(visit));
    if (!document) throw notFound('document', idIn(visit));
    return document;
  };
  routes.get(pageRoutes.documents, { access }, async (visitor) => {
    const listed = await listDocuments(database, reachOf(parts, visitor.owner), { limit: documentsShown });
    return documentsPage(await framed(parts, visitor), listed);
  });
  routes.get(pageRoutes.document, { access }, async (visitor) => {
    const document = await findOr404(visitor);
    const text = await textOf(database, document.id);
    const { start, end } = visitor.visit.request.query as { start?: string; end?: string };
    const passage = { text, start: offsetIn(start, text), end: offsetIn(end, text) };
    return documentPage(await framed(parts, visitor), document, passage);
  });
  routes.get(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const { title, publicId } = await findOr404(visitor);
    return deletePage(await framed(parts, visitor), {
      ...{ what: 'document', name: title, text: 'No answer will quote it from now on.' },
      ...{ action: pathOf(pageRoutes.deleteDocument, publicId), back: pageRoutes.documents },
    });
  });
  routes.post(pageRoutes.deleteDocument, { access }, async (visitor) => {
    const document = await findOr404(visitor);
    checkMayChange(document, visitor.owner, gate.hasSignIn);
    await deleteDocument(ingest, document);
    return visitor.visit.redirect(pageRoutes.documents, { tone: 'good', text: 'The document was deleted.' });
  });
}

async function framed({ database, clock }: PageParts, { visit, owner }: Visitor) {
  const reach = { owner, nowMs: clock.now() };
  const { sessions } = await listSessions(database, reach, { limit: chatsShown });
  return frameOf(visit, sessions);
}

async function sessionOr404({ database, clock }: PageParts, owner: Owner, id: string): Promise<Session> {
  const session = await findSession(database, { owner, nowMs: clock.now() }, id);
  if (!session) throw notFound('chat', id);
  return session;
}

function reachOf({ libraryMode }: PageParts, owner: Owner) {
  return { owner, libraryKey: libraryKeyOf(libraryMode, owner) };
}

function idIn({ request }: Visit<never>): string {
  return (request.params as { id: string }).id;
}

function offsetIn(given: string | undefined, text: string): number {
  const offset = Number(given ?? 0);
  return Number.isSafeInteger(offset) ? Math.min(Math.max(offset, 0), text.length) : 0;
}
