import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#kit/clock.ts';
import { isoTime } from './iso-time.ts';

export function metaOf(request: FastifyRequest, clock: Clock): { requestId: string; timestamp: string } {
  return { requestId: request.id, timestamp: isoTime(clock.now()) };
}

/** With how long it took so far, in nanoseconds. */
export function timedMetaOf(
  reply: FastifyReply,
  clock: Clock,
): { requestId: string; timestamp: string; duration: number } {
  return { ...metaOf(reply.request, clock), duration: Math.round(reply.elapsedTime * 1_000_000) };
}
