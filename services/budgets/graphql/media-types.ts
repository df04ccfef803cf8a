import type { FastifyRequest } from 'fastify';

export const mediaType = { eventStream: 'text/event-stream' } as const;

/** Whether a client wants server-sent events. */
export function takesEventStream({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b/.test(headers.accept ?? '');
}
