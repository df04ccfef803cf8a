import { newOrderedId, Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { eventStreamHeaders, sendStream } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Connected } from '../connection/index.ts';
import { invalidValue } from '../errors.ts';
import type { Gate } from '../gate/index.ts';
import type { ChatModel } from '../model/index.ts';
import { routes } from '../routes.ts';
import {
  builtInModel,
  type TurnAnswer,
  type TurnRegistry,
  type TurnRequest,
  type TurnStream,
  toTurnRequest,
} from '../turns/index.ts';
import { completionErrors, sendCompletionError, toCompletionError } from './api-errors.ts';
import { CompletionRequest, modelNotFound, toConversation, toWriting } from './messages.ts';

export interface CompletionApiParts {
  readonly turns: TurnRegistry;
  readonly gate: Gate;
  readonly models: Connected<ChatModel>;
  /** In Unix seconds. */
  readonly startedAt: number;
}

const pauseMs = 15_000;
const tags = ['Completions'];

/** Adds the endpoints that clients of OpenAI's API know. */
export function addCompletionApi(app: HttpApp, parts: CompletionApiParts): void {
  const { gate } = parts;
  app.register(async (scope) => {
    scope.setErrorHandler(sendCompletionError);
    for (const path of [routes.completions, routes.openaiCompletions]) {
      scope.post(
        path,
        {
          access: gate.access('chat'),
          config: { errors: ['not_found', 'validation_failed', 'rate_limited'] },
          schema: {
            tags,
            summary: 'Create a chat completion (OpenAI API)',
            description:
              'Takes the `messages` of a conversation, the last of which is the question, and returns an answer from the documents in the format of the OpenAI API: as JSON, or as server-sent events with `stream`.',
            body: CompletionRequest,
            response: {
              ...completionErrors,
              200: {
                description: 'The completion, or its chunks',
                content: {
                  'application/json': { schema: Type.Unknown({ title: 'Completion' }) },
                  'text/event-stream': { schema: Type.String() },
                },
              },
            },
          },
        },
        (request, reply) => complete(request as FastifyRequest<{ Body: CompletionRequest }>, reply, parts),
      );
    }
    addModels(scope, parts);
  });
}

/** Adds the list of models, and each by itself. */
function addModels(scope: HttpApp, { gate, models, startedAt }: CompletionApiParts): void {
  const known = async () => [...((await models.current())?.names ?? []), builtInModel];
  const described = (id: string) => ({
    id,
    object: 'model' as const,
    created: startedAt,
    owned_by: 'octavo',
  });
  const Model = Type.Object(
    { id: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String() },
    { title: 'Model' },
  );
  const Models = Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) });
  scope.get(
    routes.openaiModel,
    {
      access: gate.access('read'),
      config: { errors: ['not_found'] },
      schema: {
        tags,
        summary: 'Get a model',
        description: 'Returns one of the models that clients can name, in the format of the OpenAI API.',
        params: Type.Object({ id: Type.String({ maxLength: 600, format: 'text' }) }),
        response: { ...completionErrors, 200: Model },
      },
    },
    async ({ params: { id } }) => {
      if (!(await known()).includes(id)) throw modelNotFound(id);
      return described(id);
    },
  );
  scope.get(
    routes.openaiModels,
    {
      access: gate.access('read'),
      schema: {
        tags,
        summary: 'List the available models',
        description: 'Returns the models that clients can name, in the format of the OpenAI API.',
        response: { ...completionErrors, 200: Models },
      },
    },
    async () => ({ object: 'list' as const, data: (await known()).map(described) }),
  );
}

async function complete(
  request: FastifyRequest<{ Body: CompletionRequest }>,
  reply: FastifyReply,
  parts: CompletionApiParts,
): Promise<unknown> {
  const { turns, gate } = parts;
  const { body } = request;
  const turnRequest = await toRequest(body, parts, request.headers['accept-language']);
  const turn = turns.begin({ owner: gate.ownerOf(request), client: gate.clientOf(request) }, turnRequest);
  const leave = turn.follow();
  const gone = new AbortController();
  reply.raw.once('close', () => {
    leave();
    gone.abort();
  });
  const head = {
    id: `chatcmpl-${turnRequest.requestId}`,
    created: Math.floor(turns.parts.clock.now() / 1_000),
    model: body.model,
  };
  if (!body.stream) return { ...head, object: 'chat.completion', ...choiceOf(await turn.answer) };
  const hasUsage = body.stream_options?.include_usage ?? false;
  reply.headers(eventStreamHeaders);
  return sendStream(reply, chunksOf(turn, { head, hasUsage, signal: gone.signal }));
}

async function toRequest(
  body: CompletionRequest,
  { models }: CompletionApiParts,
  acceptLanguage: string | undefined,
): Promise<TurnRequest> {
  if ((body.n ?? 1) !== 1) throw invalidValue('n', 'must be 1');
  const isExtractive = body.model === builtInModel;
  if (!isExtractive && !(await models.current())?.names.includes(body.model)) throw modelNotFound(body.model);
  const writing = toWriting(body);
  const { query, history, instructions, warnings } = toConversation(body.messages);
  const { strategy, session_id, top_k } = body;
  const asked = { query, strategy, session_id, top_k, request_id: newOrderedId() };
  return {
    ...toTurnRequest(asked, acceptLanguage),
    isExtractive,
    modelName: body.model,
    instructions,
    writing,
    warnings,
    isKept: session_id !== undefined,
    // With a session, its messages are the history, unless the client sends one.
    history: session_id !== undefined && history.length === 0 ? undefined : history,
  };
}

interface ChunkOptions {
  readonly head: { readonly id: string; readonly created: number; readonly model: string };
  readonly hasUsage: boolean;
  readonly signal: AbortSignal;
}

async function* chunksOf(turn: TurnStream, { head, hasUsage, signal }: ChunkOptions): AsyncGenerator<string> {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`;
  const delta = (content: object, finish: string | null = null) => [
    { index: 0, delta: content, finish_reason: finish, logprobs: null },
  ];
  const noUsage = hasUsage ? { usage: null } : {};
  let isFirst = true;
  try {
    for await (const event of turn.events(signal, { pauseMs })) {
      if (event === undefined) yield ':\n\n';
      if (event?.event === 'delta') {
        const role = isFirst ? { role: 'assistant' } : {};
        isFirst = false;
        yield chunk({ choices: delta({ ...role, content: event.data.text }), ...noUsage });
      }
      if (event?.event === 'error') yield `data: ${JSON.stringify({ error: failureOf(event.data) })}\n\n`;
      if (event?.event !== 'done') continue;
      const extras = extrasOf(event.data);
      yield chunk({ choices: delta({}, finishOf(event.data)), ...extras, ...noUsage });
      if (hasUsage) yield chunk({ choices: [], usage: usageOf(event.data), ...extras });
      yield 'data: [DONE]\n\n';
    }
  } catch (error) {
    // An error before the first event has a status of its own.
    if (isFirst) throw error;
    yield `data: ${JSON.stringify(toCompletionError(error).body)}\n\n`;
  }
}

function choiceOf(answer: TurnAnswer) {
  const message = { role: 'assistant', content: answer.answer, refusal: null };
  return {
    choices: [{ index: 0, message, finish_reason: finishOf(answer), logprobs: null }],
    usage: usageOf(answer),
    ...extrasOf(answer),
  };
}

function extrasOf({ kind, sources, citations, api_data, api_chain_trace, metadata }: TurnAnswer) {
  return { kind, sources, citations, api_data, api_chain_trace, metadata };
}

function finishOf({ metadata }: TurnAnswer): 'stop' | 'length' {
  return metadata.finish_reason === 'length' ? 'length' : 'stop';
}

function usageOf({ metadata: { usage } }: TurnAnswer) {
  return {
    prompt_tokens: usage?.input_tokens ?? 0,
    completion_tokens: usage?.output_tokens ?? 0,
    total_tokens: usage?.total_tokens ?? 0,
  };
}

function failureOf({ code, message }: { readonly code: string; readonly message: string }) {
  return { message, type: 'server_error', param: null, code };
}
