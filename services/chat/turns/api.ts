import type { FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '#kit/errors.ts';
import type { HttpApp } from '#kit/http/access.ts';
import { sendNamedEvents } from '#kit/http/event-stream.ts';
import { Type } from '#kit/schema.ts';
import type { Gate } from '../gate/index.ts';
import { routes } from '../routes.ts';
import { findSession } from '../sessions/index.ts';
import { ChatRequest, questionFields, toQuestionRequest, toTurnRequest } from './question.ts';
import { searchFor } from './run.ts';
import type { RunningTurn } from './running.ts';
import type { Turns } from './turns.ts';

export interface TurnApiParts {
  readonly turns: Turns;
  readonly gate: Gate;
}

/** A comment goes out after that long without an event, so that proxies keep the connection. */
const pauseMs = 15_000;

const SearchRequest = Type.Object({
  ...questionFields,
  top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});
const ChatAnswer = Type.Unknown({ title: 'ChatAnswer' });
const SearchAnswer = Type.Object({ results: Type.Array(Type.Unknown()), metadata: Type.Unknown() });
const tags = ['Chat'];

/** Adds `POST /api/chat`, its cancellation, and `POST /api/search`. */
export function addTurnApi(app: HttpApp, parts: TurnApiParts): void {
  addChat(app, parts);
  addSearch(app, parts);
}

function addChat(app: HttpApp, { turns, gate }: TurnApiParts): void {
  app.post(
    routes.chat,
    {
      access: gate.access('chat'),
      config: { errors: ['not_found', 'validation_failed', 'conflict', 'rate_limited', 'internal'] },
      schema: {
        ...{ tags, summary: 'Ask a question', body: ChatRequest },
        description:
          'With `stream: true` or `Accept: text/event-stream` the answer comes as server-sent events.',
        response: { 200: ChatAnswer },
      },
    },
    async (request, reply) => {
      const turn = turns.begin(askerOf(gate, request), toTurnRequest(request.body));
      if (wantsStream(request, request.body.stream)) return sendTurn(request, reply, turn);
      const leave = turn.follow();
      reply.raw.once('close', leave);
      return turn.answer;
    },
  );
  app.post(
    routes.cancel,
    {
      access: gate.access('read'),
      config: { errors: ['not_found'] },
      schema: {
        ...{ tags, summary: 'Stop an answer' },
        params: Type.Object({ id: Type.String({ maxLength: 600, description: 'Its request_id' }) }),
        response: { 202: Type.Object({ success: Type.Boolean(), request_id: Type.String() }) },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      if (!(await turns.cancel(gate.ownerOf(request), id))) throw notFound('request', id);
      return reply.code(202).send({ success: true, request_id: id });
    },
  );
}

function sendTurn(request: FastifyRequest, reply: FastifyReply, turn: RunningTurn): Promise<FastifyReply> {
  const gone = new AbortController();
  const leave = turn.follow();
  reply.raw.once('close', () => {
    leave();
    gone.abort();
  });
  const last = Number(request.headers['last-event-id'] ?? 0);
  const after = Number.isSafeInteger(last) && last > 0 ? last : 0;
  return sendNamedEvents(reply, turn.events(gone.signal, { after, pauseMs }));
}

function addSearch(app: HttpApp, { turns, gate }: TurnApiParts): void {
  app.post(
    routes.search,
    {
      access: gate.access('read'),
      config: { errors: ['not_found', 'validation_failed'] },
      schema: {
        ...{ tags, summary: 'Find passages without an answer' },
        ...{ body: SearchRequest, response: { 200: SearchAnswer } },
      },
    },
    async (request) => {
      const { parts } = turns;
      const { top_k: topK = 10, session_id: session } = request.body;
      const owner = gate.ownerOf(request);
      const reach = { owner, nowMs: parts.clock.now() };
      if (session !== undefined && !(await findSession(parts.database, reach, session)))
        throw notFound('session', session);
      const question = toQuestionRequest(request.body);
      const found = await searchFor(parts, { ...question, topK }, owner, session);
      return {
        results: found.ranked.map(({ source }) => source),
        metadata: {
          ...{ strategy_requested: question.strategy, strategy_used: found.strategyUsed },
          ...{ queries: found.queries, reranked: found.reranked, reranker: found.reranker },
          ...{ embedding_model: found.embeddingModel, num_documents: found.documentCount },
          ...{ confidence: found.confidence, latency_ms: found.latencyMs },
        },
      };
    },
  );
}

function askerOf(gate: Gate, request: FastifyRequest) {
  return { owner: gate.ownerOf(request), client: gate.clientOf(request) };
}

function wantsStream({ headers }: FastifyRequest, stream: boolean | undefined): boolean {
  return stream ?? /\btext\/event-stream\b/i.test(headers.accept ?? '');
}
