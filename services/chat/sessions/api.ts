import type { Clock } from '@octavo/core';
import { notFound, Type } from '@octavo/core';
import { notBlank } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { invalidValue } from '../errors.ts';
import type { Gate } from '../gate/index.ts';
import { pathOf, routes } from '../routes.ts';
import type { Tables } from '../tables.ts';
import {
  asMarkdown,
  detailsOf,
  keptMs,
  type Message,
  metadataBytesMax,
  type Session,
  titleMax,
} from './session.ts';
import {
  clearMessages,
  createSession,
  deleteSession,
  findSession,
  listSessions,
  messagesOf,
  type Reach,
  renameSession,
} from './store.ts';

export interface SessionApiParts {
  readonly database: Database<Tables>;
  readonly gate: Gate;
  readonly clock: Clock;
}

const instant = Type.String({ format: 'date-time' });
const fields = {
  session_id: Type.String(),
  title: Type.String(),
  metadata: Type.Unknown(),
  created_at: instant,
  updated_at: instant,
  expires_at: instant,
  message_count: Type.Integer(),
};
const SessionShown = Type.Object(fields, { title: 'Session' });
const Opened = Type.Object({ ...fields, messages: Type.Array(Type.Unknown()) }, { title: 'OpenedSession' });
const Listed = Type.Object({
  sessions: Type.Array(SessionShown),
  total: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
const Id = Type.String({ maxLength: 100, format: 'text' });
const Key = Type.Object({ id: Id });
const Title = Type.String({ minLength: 1, maxLength: titleMax, format: 'text', ...notBlank });
const NewSession = Type.Object({
  title: Type.Optional(Title),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const page = {
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  before: Type.Optional(Id),
};
const tags = ['Sessions'];
const config = { errors: ['not_found'] } as const;

/** Adds the endpoints of sessions. */
export function addSessionApi(app: HttpApp, parts: SessionApiParts): void {
  addCreation(app, parts);
  addReading(app, parts);
  addExport(app, parts);
  addChanges(app, parts);
}

function addCreation(app: HttpApp, { database, gate, clock }: SessionApiParts): void {
  app.post(
    routes.session,
    {
      access: gate.access('session'),
      config: { errors: ['validation_failed'] },
      // Everything in it is optional, and so is the body.
      preValidation: async (request) => {
        request.body ??= {};
      },
      schema: {
        tags,
        summary: 'Begin a session',
        description:
          'Creates an empty conversation and returns its `session_id`. Questions that name it can refer to earlier messages.',
        body: NewSession,
        response: { 201: SessionShown },
      },
    },
    async (request, reply) => {
      const owner = gate.ownerOf(request);
      const { title = 'New chat', metadata = {} } = request.body;
      const text = JSON.stringify(metadata);
      if (Buffer.byteLength(text) > metadataBytesMax)
        throw invalidValue('metadata', `must be at most ${metadataBytesMax} bytes of JSON`);
      if (text.includes('\\u0000')) throw invalidValue('metadata', 'must not contain NUL characters');
      const session = await createSession(database, { owner, title, metadata }, clock.now());
      return reply.code(201).header('location', pathOf(routes.sessionItem, session.id)).send(shown(session));
    },
  );
}

function addReading(app: HttpApp, parts: SessionApiParts): void {
  const { database, gate } = parts;
  const access = gate.access('read');
  const summary = 'A session with its messages';
  const description =
    'Returns the session and its last messages, oldest first. `before` takes the id of a message and leads to older ones.';
  const open = async (
    request: FastifyRequest,
    id: string,
    paging: { limit: number; before?: string | undefined },
  ) => {
    const session = await findOr404(parts, request, id);
    const messages = await messagesOf(database, session.id, paging);
    return { ...shown(session), messages: messages.map(shownMessage) };
  };
  const one = {
    tags,
    summary,
    description,
    params: Key,
    querystring: Type.Object(page),
    response: { 200: Opened },
  };
  app.get(routes.sessionItem, { access, config, schema: one }, (request) =>
    open(request, request.params.id, request.query),
  );
  const byQuery = {
    tags,
    summary,
    description,
    response: { 200: Opened },
    querystring: Type.Object({ session_id: Id, ...page }),
  };
  app.get(routes.session, { access, config, schema: byQuery }, (request) =>
    open(request, request.query.session_id, request.query),
  );
  const listing = {
    tags,
    summary: 'Your sessions, latest first',
    description: 'Returns a page, with a `cursor` for the next one. `q` looks in titles and messages.',
    response: { 200: Listed },
    querystring: Type.Object({
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      cursor: Type.Optional(Type.String({ maxLength: 200 })),
      q: Type.Optional(
        Type.String({ maxLength: 200, format: 'text', description: 'In titles and messages' }),
      ),
    }),
  };
  app.get(routes.sessions, { access, schema: listing }, async (request) => {
    const { limit, cursor, q } = request.query;
    const text = q?.trim() || undefined;
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const found = await listSessions(database, reachOf(parts, request), { limit: limit + 1, after, text });
    const sessions = found.sessions.slice(0, limit);
    const last = found.sessions.length > limit ? sessions.at(-1) : undefined;
    const next_cursor = last ? cursorAfter(last) : null;
    return { sessions: sessions.map(shown), total: found.total, next_cursor };
  });
}

function addExport(app: HttpApp, parts: SessionApiParts): void {
  const { database, gate } = parts;
  const access = gate.access('read');
  const Format = Type.Object({ format: Type.Enum(['json', 'md'], { default: 'json' }) });
  const exported = {
    200: { content: { 'application/json': { schema: Opened }, 'text/markdown': { schema: Type.String() } } },
  };
  app.get(
    routes.sessionExport,
    {
      access,
      config,
      schema: {
        tags,
        summary: 'A session as a file',
        description: 'Returns the whole conversation with its citations as a download, as JSON or Markdown.',
        params: Key,
        querystring: Format,
        response: exported,
      },
    },
    async (request, reply) => {
      const { format } = request.query;
      const session = await findOr404(parts, request, request.params.id);
      const messages = await messagesOf(database, session.id);
      reply.header('content-disposition', `attachment; filename="chat-${session.id}.${format}"`);
      if (format === 'json') return reply.send({ ...shown(session), messages: messages.map(shownMessage) });
      const text = asMarkdown(session, messages);
      return reply.type('text/markdown; charset=utf-8').serializer(String).send(text);
    },
  );
}

function addChanges(app: HttpApp, parts: SessionApiParts): void {
  const { database, gate } = parts;
  const access = gate.access('session');
  app.patch(
    routes.sessionItem,
    {
      access,
      config,
      schema: {
        tags,
        summary: 'Rename a session',
        description:
          'Takes another `title` and returns the session. The title is otherwise made from the first question.',
        params: Key,
        response: { 200: SessionShown },
        body: Type.Object({ title: Title }),
      },
    },
    async (request) => {
      const { id } = request.params;
      const reach = reachOf(parts, request);
      const isRenamed = await renameSession(database, reach, { id, title: request.body.title });
      if (!isRenamed) throw notFound('session', id);
      return shown(await findOr404(parts, request, id));
    },
  );
  app.delete(
    routes.sessionItem,
    {
      access,
      config,
      schema: {
        tags,
        summary: 'Delete a session',
        description: 'Deletes the session with its messages and with the documents that were uploaded to it.',
        params: Key,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      if (!(await deleteSession(database, reachOf(parts, request), id))) throw notFound('session', id);
      return reply.code(204).send(null);
    },
  );
  app.post(
    routes.sessionClear,
    {
      access,
      config,
      schema: {
        tags,
        summary: 'Remove its messages',
        description: 'Deletes the messages of the session. The session and its documents stay.',
        params: Key,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await clearMessages(database, (await findOr404(parts, request, request.params.id)).id);
      return reply.code(204).send(null);
    },
  );
}

async function findOr404(parts: SessionApiParts, request: FastifyRequest, id: string): Promise<Session> {
  const session = await findSession(parts.database, reachOf(parts, request), id);
  if (!session) throw notFound('session', id);
  return session;
}

function reachOf({ gate, clock }: SessionApiParts, request: FastifyRequest): Reach {
  return { owner: gate.ownerOf(request), nowMs: clock.now() };
}

function cursorAfter({ updatedAtMs, id }: Session): string {
  return Buffer.from(`${updatedAtMs} ${id}`).toString('base64url');
}

function readCursor(cursor: string): { updatedAtMs: number; id: string } {
  const [, time, id] = /^(\d{1,15}) ([\w-]{1,100})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (time === undefined || id === undefined) throw invalidValue('cursor', 'is not one that was given out');
  return { updatedAtMs: Number(time), id };
}

function shown({ id, title, metadata, createdAtMs, updatedAtMs, messageCount }: Session) {
  return {
    session_id: id,
    title,
    metadata,
    created_at: timeOf(createdAtMs),
    updated_at: timeOf(updatedAtMs),
    expires_at: timeOf(updatedAtMs + keptMs),
    message_count: messageCount,
  };
}

function shownMessage(message: Message) {
  const { id, role, content, createdAtMs, strategy, details } = message;
  const ofAnswer = { citations: [], api_chain_trace: [], metadata: {} };
  const { kind, sources } = detailsOf(message);
  const whole = { ...ofAnswer, ...details, sources, ...(role === 'assistant' && { kind }) };
  return { id, role, content, created_at: timeOf(createdAtMs), strategy, ...whole };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
