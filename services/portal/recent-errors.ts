import type { DestinationStream } from 'pino';

/** An error of the log, without its stack. */
export interface LoggedError {
  /** Time in ISO 8601 UTC. */
  readonly time: string;
  readonly service: string;
  readonly message: string;
  /** Type and message of the error; empty if the line has none. */
  readonly cause: string;
  readonly requestId: string | undefined;
}

const linesMax = 50;
const charactersMax = 500;

/** A destination of logs that passes every line on, and keeps the last 50 errors of all of them in memory. Secrets are redacted before. */
export class RecentErrors implements DestinationStream {
  readonly #next: DestinationStream;
  readonly #lines: string[] = [];

  constructor(next: DestinationStream) {
    this.#next = next;
  }

  write(line: string): void {
    // The level is the first property of each line.
    if (/^\{"level":"(error|fatal)"/.test(line)) {
      this.#lines.push(line);
      if (this.#lines.length > linesMax) this.#lines.shift();
    }
    this.#next.write(line);
  }

  /** The errors, newest first. */
  list(): LoggedError[] {
    return this.#lines.map(parse).reverse();
  }
}

function parse(line: string): LoggedError {
  const { time, service, msg, err, requestId } = JSON.parse(line);
  const cause = [err?.type, err?.message].filter((part) => typeof part === 'string').join(': ');
  return {
    time: String(time),
    service: String(service),
    message: cut(String(msg ?? '')),
    cause: cut(cause),
    requestId: typeof requestId === 'string' ? requestId : undefined,
  };
}

function cut(text: string): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax).toWellFormed()}…` : text;
}
