import { AppError, toAppError } from '@octavo/core';
import { isBlank } from '@octavo/core/text';
import type { Visit } from '@octavo/web/pages';
import { listDocuments, reachOf } from '../documents/index.ts';
import { errorTable } from '../errors.ts';
import { visibilities } from '../library.ts';
import { defaultStrategy, type Strategy, strategyIds } from '../retrieval/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  deleteSession,
  findSession,
  listSessions,
  messagesOf,
  rateAnswer,
  ratingsOf,
  renameSession,
  type Session,
  titleMax,
} from '../sessions/index.ts';
import { toTurnRequest } from '../turns/index.ts';
import {
  framed,
  idIn,
  mayConnect,
  type PageParts,
  type Routes,
  type Visitor,
  visitorsOf,
} from './pages-visitor.ts';
import { type ChatView, chatPage, chatsPage } from './views-chat.ts';
import { deletePage, renamePage } from './views-dialogs.ts';

const gone = 'This chat was deleted, expired 30 days after its last use, or belongs to another person.';
const documentsNamed = 50;
const pageSize = 50;

export function addChats(routes: Routes, parts: PageParts): void {
  const access = visitorsOf(parts);
  routes.get(pageRoutes.home, { access: homeAccess(parts) }, async (visitor) => {
    return visitor.owner === undefined
      ? visitor.visit.redirect(pageRoutes.signIn)
      : openChat(parts, { visit: visitor.visit, owner: visitor.owner });
  });
  routes.get(pageRoutes.chats, { access }, (visitor) => listChats(parts, visitor));
  routes.get(pageRoutes.chat, { access }, (visitor) => openChat(parts, visitor, { id: idIn(visitor.visit) }));
  routes.post(pageRoutes.ask, { access }, (visitor) => askQuestion(parts, visitor));
  routes.post(pageRoutes.rate, { access }, (visitor) => rate(parts, visitor));
  addChanges(routes, parts);
}

/** The start page is where strangers come first. */
function homeAccess(parts: PageParts) {
  const access = visitorsOf(parts);
  return async (visit: Visit<never>) => {
    return access(visit).catch(() => ({ visit, owner: undefined }));
  };
}

async function openChat(
  parts: PageParts,
  visitor: Visitor,
  { id, failed }: { id?: string | undefined; failed?: ChatView['failed'] } = {},
): Promise<string> {
  const { database } = parts;
  const { visit, owner } = visitor;
  const session = id === undefined ? undefined : await sessionOr404(parts, visitor, id);
  const messages = session ? await messagesOf(database, session.id) : [];
  const reach = reachOf(parts.library, owner);
  const { documents, total: documentCount } = await listDocuments(
    database,
    { reach },
    { limit: documentsNamed },
  );
  const strategy = strategyNamed(visit.field('strategy') || messages.at(-1)?.strategy);
  const { edit } = visit.request.query as { edit?: unknown };
  const view = {
    session,
    messages,
    documents: documents.slice(0, documentsNamed),
    documentCount,
    strategy,
    tags: [...new Set(documents.flatMap(({ tags }) => tags))].sort(),
    within: visit.field('within'),
    ratings: session ? await ratingsOf(database, session.id) : new Map(),
    starters: messages.length > 0 ? [] : await parts.starters.for(parts.turns.parts, owner),
    draft: messages.find((each) => each.id === edit && each.role === 'user')?.content,
    failed,
    lacksModel: await lacksModel(parts, visitor),
  };
  return chatPage(await framed(parts, visitor), view);
}

/** True once: for a person without a chat who may connect a model, while there is none. */
async function lacksModel(parts: PageParts, { visit, owner }: Visitor): Promise<boolean> {
  if (!(await mayConnect(parts, visit)) || (await parts.models.current())) return false;
  const { sessions } = await listSessions(parts.database, { owner, nowMs: parts.clock.now() }, { limit: 1 });
  return sessions.length === 0;
}

/** For browsers without JavaScript: the answer is on the next page. What cannot be answered stays in the form. */
async function askQuestion(parts: PageParts, visitor: Visitor) {
  const { turns, gate } = parts;
  const { visit, owner } = visitor;
  const session_id = visit.field('session') || undefined;
  const query = visit.field('query');
  try {
    const client = gate.clientOf(visit.request);
    gate.take('chat', client);
    const strategy = strategyNamed(visit.field('strategy'));
    const body = { query, strategy, session_id, ...filtersOf(visit.field('within')) };
    const request = toTurnRequest(body, visit.request.headers['accept-language']);
    const turn = turns.begin({ owner, client }, request);
    visit.reply.raw.once('close', turn.follow());
    return visit.redirect(pathOf(pageRoutes.chat, (await turn.answer).session_id));
  } catch (thrown) {
    const error = toAppError(thrown);
    if (error.code === 'internal' || error.code === 'not_found') throw thrown;
    visit.reply.code(errorTable[error.code].status);
    const problem = error.message.replace(/^query /, 'The question ');
    return openChat(parts, visitor, { id: session_id, failed: { query, problem } });
  }
}

/** The filters for `tag:NAME`, `document:ID` or `visibility:private`; none for all documents. */
function filtersOf(within: string) {
  const [, kind, value = ''] = /^(tag|document|visibility):(.+)$/s.exec(within) ?? [];
  if (kind === undefined) return {};
  if (kind === 'visibility') return { filters: { visibility: visibilities.find((each) => each === value) } };
  return { filters: kind === 'tag' ? { tags: [value] } : { document_ids: [value] } };
}

async function rate(parts: PageParts, { visit, owner }: Visitor) {
  const { database, clock } = parts;
  const id = idIn(visit);
  const rating = visit.field('rating');
  if (rating !== 'up' && rating !== 'down') throw new AppError('validation_failed', 'Choose a rating.');
  const session = await rateAnswer(database, { owner, nowMs: clock.now() }, { id, rating, comment: '' });
  if (session === undefined) throw new AppError('not_found', gone);
  return visit.redirect(`${pathOf(pageRoutes.chat, session)}#turn-${id}`);
}

async function listChats(parts: PageParts, visitor: Visitor): Promise<string> {
  const { database, clock } = parts;
  const { q = '', before } = visitor.visit.request.query as { q?: string; before?: string };
  const [, time = '', id = ''] = /^(\d{1,15})_([\w-]{1,100})$/.exec(String(before ?? '')) ?? [];
  const text = String(q).trim().slice(0, titleMax);
  const { sessions: found, total } = await listSessions(
    database,
    { owner: visitor.owner, nowMs: clock.now() },
    {
      limit: pageSize + 1,
      text: text === '' ? undefined : text,
      after: id === '' ? undefined : { updatedAtMs: Number(time), id },
    },
  );
  const sessions = found.slice(0, pageSize);
  const last = found.length > pageSize ? sessions.at(-1) : undefined;
  const following = last && new URLSearchParams({ q: text, before: `${last.updatedAtMs}_${last.id}` });
  const next = following && `${pageRoutes.chats}?${following}`;
  return chatsPage(await framed(parts, visitor), { sessions, total, q: text, next });
}

function addChanges(routes: Routes, parts: PageParts): void {
  const { database, clock } = parts;
  const access = visitorsOf(parts);
  const reach = ({ owner }: Visitor) => ({ owner, nowMs: clock.now() });
  routes.get(pageRoutes.renameChat, { access }, async (visitor) => {
    const { id, title } = await sessionOr404(parts, visitor, idIn(visitor.visit));
    const action = pathOf(pageRoutes.renameChat, id);
    return renamePage(await framed(parts, visitor), { title, action, back: backOf(visitor, id) });
  });
  routes.post(pageRoutes.renameChat, { access }, async (visitor) => {
    const { visit } = visitor;
    const id = idIn(visit);
    const title = visit.field('title').replace(/\s+/g, ' ').trim().slice(0, titleMax);
    const isKnown = isBlank(title)
      ? await sessionOr404(parts, visitor, id)
      : await renameSession(database, reach(visitor), { id, title });
    if (!isKnown) throw new AppError('not_found', gone);
    return visit.redirect(visit.field('back'));
  });
  routes.get(pageRoutes.deleteChat, { access }, async (visitor) => {
    const { id, title } = await sessionOr404(parts, visitor, idIn(visitor.visit));
    const text = 'Its questions, its answers and the documents that were added to it are deleted for good.';
    return deletePage(await framed(parts, visitor), {
      what: 'chat',
      name: title,
      text,
      action: pathOf(pageRoutes.deleteChat, id),
      back: backOf(visitor, id),
    });
  });
  routes.post(pageRoutes.deleteChat, { access }, async (visitor) => {
    const { visit } = visitor;
    const id = idIn(visit);
    await deleteSession(database, reach(visitor), id);
    const back = visit.field('back');
    const isGone = back === '' || back.startsWith(pathOf(pageRoutes.chat, id));
    const flash = { tone: 'good', text: 'The chat was deleted.' } as const;
    return visit.redirect(isGone ? pageRoutes.home : back, flash);
  });
}

/** The page that a dialog was opened on. */
function backOf({ visit }: Visitor, id: string): string {
  const { back } = visit.request.query as { back?: unknown };
  return typeof back === 'string' ? back : pathOf(pageRoutes.chat, id);
}

function strategyNamed(name: string | null | undefined): Strategy {
  return strategyIds.find((id) => id === name) ?? defaultStrategy;
}

async function sessionOr404(
  { database, clock }: PageParts,
  { owner }: Visitor,
  id: string,
): Promise<Session> {
  const session = await findSession(database, { owner, nowMs: clock.now() }, id);
  if (!session) throw new AppError('not_found', gone);
  return session;
}
