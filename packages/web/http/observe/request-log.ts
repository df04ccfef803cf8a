import type { Log } from '@octavo/core';
import type { FastifyBaseLogger } from 'fastify';

type Line = Parameters<Log['info']>;

/**
 * Gives `request.log`: a child of the service's log with the id of the request, made when it first writes. Most requests
 * write nothing, and a child for each would cost a fifth of a trivial one.
 */
export function createRequestLog(log: Log, requestId: string): FastifyBaseLogger {
  return new RequestLog(log, requestId) as unknown as FastifyBaseLogger;
}

class RequestLog {
  readonly #log: Log;
  readonly #requestId: string;
  #child: Log | undefined;

  constructor(log: Log, requestId: string) {
    this.#log = log;
    this.#requestId = requestId;
  }

  get level(): string {
    return this.#log.level;
  }

  fatal(...line: Line): void {
    this.#own().fatal(...line);
  }

  error(...line: Line): void {
    this.#own().error(...line);
  }

  warn(...line: Line): void {
    this.#own().warn(...line);
  }

  info(...line: Line): void {
    this.#own().info(...line);
  }

  debug(...line: Line): void {
    this.#own().debug(...line);
  }

  trace(...line: Line): void {
    this.#own().trace(...line);
  }

  silent(): void {}

  child(...given: Parameters<Log['child']>): ReturnType<Log['child']> {
    return this.#own().child(...given);
  }

  #own(): Log {
    this.#child ??= this.#log.child({ requestId: this.#requestId });
    return this.#child;
  }
}
