import type { Log } from '../log.ts';
import type { HttpResponse } from './response.ts';

/**
 * Writes a line for each answer: at the level that the server was told, `debug` by default, because a line costs
 * more than a trivial request and the figures in `/metrics` tell the same in sum. Answers of 500 and above are
 * logged by what refused them.
 */
export function createAccessLog(
  log: Log,
  level: 'debug' | 'info',
): (response: HttpResponse, durationMs: number) => void {
  return (response, durationMs) => {
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: response.requestId,
        method: response.req.method,
        route: response.route?.route ?? 'unmatched',
        status: statusOf(response),
        durationMs: Math.round(durationMs * 1000) / 1000,
        address: response.clientAddress ?? response.req.socket.remoteAddress,
        ...(response.userId !== undefined && { userId: response.userId }),
      },
      'request',
    );
  };
}

/**
 * The status that the client was told; 500 where the answer broke off, 499 (as in nginx) where the client went away
 * before it was whole.
 */
export function statusOf(response: HttpResponse): number {
  if (response.writableFinished) return response.statusCode;
  if (response.refusedWith !== undefined) return response.refusedWith;
  return response.hasFailed ? 500 : 499;
}
