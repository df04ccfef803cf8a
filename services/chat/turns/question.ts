import { newOrderedId, type Static, Type } from '@octavo/core';
import { isBlank } from '@octavo/core/text';
import { preferredLanguage } from '@octavo/reader';
import { invalidValue } from '../errors.ts';
import { visibilities } from '../library.ts';
import { defaultStrategy, type Strategy, strategyIds } from '../retrieval/index.ts';
import type { TurnRequest } from './turn.ts';

export const queryMax = 4_000;
const ids = Type.Array(Type.String({ maxLength: 200, format: 'text' }), { maxItems: 100 });

/** Fields shared by the requests for an answer and for passages. */
export const questionFields = {
  query: Type.String({ minLength: 1, format: 'text', examples: ['How many vacation days do I have?'] }),
  strategy: Type.Optional(Type.String({ description: strategyIds.join(', '), examples: [defaultStrategy] })),
  session_id: Type.Optional(Type.String({ maxLength: 100, format: 'text' })),
  rerank: Type.Optional(Type.Boolean()),
  filters: Type.Optional(
    Type.Object({
      document_ids: Type.Optional(ids),
      tags: Type.Optional(ids),
      media_types: Type.Optional(ids),
      visibility: Type.Optional(
        Type.Enum([...visibilities], { description: '`private` for your own documents alone' }),
      ),
    }),
  ),
};

/** The body of `POST /api/chat`, and the message `chat_message` of sockets. */
export const ChatRequest = Type.Object(
  {
    ...questionFields,
    request_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: 'text' })),
    top_k: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 20,
        description:
          'Number of sources; 5 by default, and with a model as many of 20 as its context has room for',
      }),
    ),
    use_tools: Type.Optional(Type.Boolean()),
    stream: Type.Optional(Type.Boolean()),
  },
  { title: 'ChatRequest' },
);
export type ChatRequest = Static<typeof ChatRequest>;

/** The turn that a request of a client with these preferred languages asks for. Throws `validation_failed`. */
export function toTurnRequest(body: ChatRequest, acceptLanguage?: string): TurnRequest {
  return {
    ...toQuestionRequest(body),
    preferred: preferredLanguage(acceptLanguage),
    requestId: body.request_id ?? newOrderedId(),
    topK: body.top_k,
    usesTools: body.use_tools ?? true,
  };
}

/** Converts a request to a search. Throws `validation_failed`. */
export function toQuestionRequest(
  body: Pick<ChatRequest, 'query' | 'strategy' | 'session_id' | 'rerank' | 'filters'>,
) {
  const query = body.query.trim();
  if (isBlank(query)) throw invalidValue('query', 'must not be empty');
  if ([...query].length > queryMax) throw invalidValue('query', `must be at most ${queryMax} characters`);
  const { document_ids: documentIds, tags, media_types: mediaTypes, visibility } = body.filters ?? {};
  return {
    query,
    strategy: toStrategy(body.strategy),
    sessionId: body.session_id,
    rerank: body.rerank,
    filters: body.filters && { documentIds, tags, mediaTypes, visibility },
  };
}

/** Throws `validation_failed` with the allowed ones. */
function toStrategy(given: string = defaultStrategy): Strategy {
  const known = strategyIds.find((id) => id === given);
  if (!known) throw invalidValue('strategy', `must be one of ${strategyIds.join(', ')}`, strategyIds);
  return known;
}
