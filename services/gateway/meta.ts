import type { Clock } from '@octavo/core';
import { isoTime, type Static, Type } from '@octavo/core';
import type { FastifyRequest } from 'fastify';

const example = { requestId: '5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b', timestamp: '2026-01-31T08:15:00.000Z' };

/** The `meta` of a response. */
export const Meta = Type.Object(
  { requestId: Type.String(), timestamp: Type.String({ format: 'date-time' }) },
  { title: 'ResponseMeta', examples: [example] },
);

/** The `meta` of a response that also says how long it took. */
export const TimedMeta = Type.Object(
  { ...Meta.properties, duration: Type.Integer({ description: 'Nanoseconds' }) },
  { title: 'TimedResponseMeta', examples: [{ ...example, duration: 1_250_000 }] },
);

export function metaOf(request: Pick<FastifyRequest, 'id'>, clock: Clock): Static<typeof Meta> {
  return { requestId: request.id, timestamp: isoTime(clock.now()) };
}

/** `startedMs` is the time of `performance.now()` at which the work began. */
export function timedMetaOf(
  request: Pick<FastifyRequest, 'id'>,
  clock: Clock,
  startedMs: number,
): Static<typeof TimedMeta> {
  const duration = Math.round((performance.now() - startedMs) * 1_000_000);
  return { ...metaOf(request, clock), duration };
}
