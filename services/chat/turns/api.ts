import { notFound, Type } from '@octavo/core';
import { answerKinds, Source } from '@octavo/reader';
import { type HttpApp, sendNamedEvents } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gate } from '../gate/index.ts';
import { routes } from '../routes.ts';
import { findSession, rateAnswer } from '../sessions/index.ts';
import { searchPassages } from './passages.ts';
import { ChatRequest, questionFields, toQuestionRequest, toTurnRequest } from './question.ts';
import type { TurnRegistry } from './registry/turn-registry.ts';
import type { TurnStream } from './registry/turn-stream.ts';
import type { TurnAnswer } from './turn.ts';

export interface TurnApiParts {
  readonly turns: TurnRegistry;
  readonly gate: Gate;
}

/** A comment goes out after that long without an event, so that proxies keep the connection. */
const pauseMs = 15_000;

const SearchRequest = Type.Object({
  ...questionFields,
  top_k: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
});
const ChatAnswer = Type.Unsafe<TurnAnswer>(
  Type.Object(
    {
      success: Type.Literal(true),
      query: Type.String(),
      strategy: Type.String(),
      answer: Type.String({ description: 'Markdown, with [1] for the first citation' }),
      kind: Type.Enum([...answerKinds], {
        description:
          '`quote`: one place answers. `closest`: up to three places may. `none`: nothing does. `reply`: to a greeting, or about the library. `generated`: written by a model.',
      }),
      grounded: Type.Boolean({ description: 'True if the sources support every sentence' }),
      abstained: Type.Boolean({ description: 'True if no place is known to answer: `closest` and `none`' }),
      citations: Type.Array(Type.Unknown()),
      sources: Type.Array(Source),
      api_data: Type.Unknown(),
      api_chain_trace: Type.Array(Type.Unknown()),
      metadata: Type.Unknown(),
    },
    { title: 'ChatAnswer', additionalProperties: true },
  ),
);
const SearchAnswer = Type.Object({ results: Type.Array(Source), metadata: Type.Unknown() });
const Feedback = Type.Object(
  {
    rating: Type.Enum(['up', 'down']),
    comment: Type.Optional(Type.String({ maxLength: 2_000, format: 'text' })),
  },
  { title: 'Feedback' },
);
const tags = ['Chat'];

/** Adds `POST /api/chat`, the cancellation and the rating of an answer, and `POST /api/search`. */
export function addTurnApi(app: HttpApp, parts: TurnApiParts): void {
  addChat(app, parts);
  addFeedback(app, parts);
  addSearch(app, parts);
}

function addChat(app: HttpApp, { turns, gate }: TurnApiParts): void {
  app.post(
    routes.chat,
    {
      access: gate.access('chat'),
      config: { errors: ['not_found', 'validation_failed', 'conflict', 'rate_limited', 'internal'] },
      schema: {
        tags,
        summary: 'Ask a question',
        body: ChatRequest,
        description:
          'With `stream: true` or `Accept: text/event-stream` the answer comes as server-sent events.',
        response: {
          200: {
            description: 'The answer, or its events',
            content: {
              'application/json': { schema: ChatAnswer },
              'text/event-stream': { schema: Type.String() },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const turn = turns.begin(
        askerOf(gate, request),
        toTurnRequest(request.body, request.headers['accept-language']),
      );
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
        tags,
        summary: 'Stop an answer',
        description:
          'Stops the answer that was asked for with this `request_id`. What was written so far is saved. 404 if no such answer is being written.',
        params: Type.Object({
          id: Type.String({ maxLength: 600, format: 'text', description: 'Its request_id' }),
        }),
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

function addFeedback(app: HttpApp, { turns, gate }: TurnApiParts): void {
  app.post(
    routes.feedback,
    {
      access: gate.access('session'),
      config: { errors: ['not_found', 'validation_failed'] },
      schema: {
        tags,
        summary: 'Rate an answer',
        description:
          'Takes `up` or `down` and a comment for the answer with this `message_id`. A second rating replaces the first.',
        body: Feedback,
        params: Type.Object({
          id: Type.String({ maxLength: 100, format: 'text', description: 'Its message_id' }),
        }),
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const { database, clock } = turns.parts;
      const { rating, comment = '' } = request.body;
      const reach = { owner: gate.ownerOf(request), nowMs: clock.now() };
      if (!(await rateAnswer(database, reach, { id, rating, comment }))) throw notFound('message', id);
      return reply.code(204).send(null);
    },
  );
}

function sendTurn(request: FastifyRequest, reply: FastifyReply, turn: TurnStream): Promise<FastifyReply> {
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
        tags,
        summary: 'Find passages without an answer',
        description:
          'Takes a `query` and returns the best passages with their documents, offsets and scores, each with the place in it that comes closest. It needs no model.',
        body: SearchRequest,
        response: { 200: SearchAnswer },
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
      const found = await searchPassages(parts, { ...question, topK }, owner, session);
      return {
        results: found.ranked.map(({ source }) => source),
        metadata: {
          strategy_requested: question.strategy,
          strategy_used: found.strategyUsed,
          queries: found.queries,
          reranked: found.reranked,
          reranker: found.reranker,
          embedding_model: found.embeddingModel,
          num_documents: found.documentCount,
          confidence: found.confidence,
          latency_ms: found.latencyMs,
          warnings: found.warnings,
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
