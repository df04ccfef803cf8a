import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Log } from '../log.ts';
import { responseOf } from './response.ts';

/** What Fastify would log of its own accord: nothing but an answer that failed after it had begun. */
export class ServerLog extends LogController {
  readonly #log: Log;

  constructor(log: Log) {
    super({ disableRequestLogging: true });
    this.#log = log;
  }

  override streamError(error: Error, request: FastifyRequest, reply: FastifyReply): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    responseOf(reply).hasFailed = true;
    this.#log.error({ err: error, requestId: request.id }, 'answer broken off');
  }
}
