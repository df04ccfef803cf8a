import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import { type OnEnd, routeOf, statusOf } from './active-requests.ts';
import { clientAddress } from './client-address.ts';

/**
 * Writes a line for each response at the given level. `debug` is the default of a server, because a line costs more than a
 * trivial request and `/metrics` tells the same in sum. What failed with 500 or above is logged with its error.
 */
export function createAccessLog(log: Log, level: 'debug' | 'info'): OnEnd {
  return (request: FastifyRequest, reply: FastifyReply) => {
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: request.id,
        method: request.method,
        route: routeOf(request),
        status: statusOf(request, reply),
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
        address: clientAddress(request),
        ...(request.userId !== null && { userId: request.userId }),
      },
      'request',
    );
  };
}
