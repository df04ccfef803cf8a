import type { FastifyRequest } from 'fastify';

export const mediaType = {
  json: 'application/json',
  response: 'application/graphql-response+json',
  eventStream: 'text/event-stream',
} as const;

/** Returns true if a client accepts server-sent events. */
export function takesEventStream({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b/.test(headers.accept ?? '');
}

/** The media type of responses that a client wants: that of GraphQL if it comes first among those it takes, else JSON. */
export function responseTypeFor({ headers }: FastifyRequest): string {
  const [first] = /application\/(?:graphql-response\+json|json|\*)|\*\/\*/i.exec(headers.accept ?? '') ?? [];
  return first?.toLowerCase() === mediaType.response ? mediaType.response : mediaType.json;
}
