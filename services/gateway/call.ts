import type { FastifyRequest } from 'fastify';
import type { CallOptions } from '#kit/rpc/index.ts';
import { formatTraceparent } from '#kit/trace.ts';

/** What goes along with the calls that a request makes: its id and its span, which is made only where a call leaves the process. */
export function callOf(request: Pick<FastifyRequest, 'id' | 'trace'>): CallOptions {
  return { requestId: request.id, traceparent: () => formatTraceparent(request.trace) };
}
