import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import pg, { type ClientBase } from 'pg';

/** Runs `COPY … FROM STDIN` with the chunks as its input. If they throw, nothing is copied and their error is thrown. */
export function copyIn(client: ClientBase, sql: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  return new Promise((resolve, reject) => {
    const ended = new AbortController();
    const query = new CopyIn(sql, { chunks, ended: ended.signal }, (error) => {
      ended.abort();
      if (error) reject(query.failure ?? error);
      else resolve();
    });
    client.query(query);
  });
}

/** Runs `COPY … TO STDOUT` and passes on each line of its output. */
export function copyOut(client: ClientBase, sql: string, onLine: (line: Uint8Array) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new CopyOut(sql, onLine, (error) => (error ? reject(error) : resolve())));
  });
}

/** Parts of a connection of `pg` for COPY. */
interface CopyConnection {
  readonly stream: Duplex;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

type Callback = (error: Error | undefined) => void;

class CopyIn extends pg.Query {
  /** Error of the chunks. */
  failure: unknown;
  readonly #chunks: AsyncIterable<Uint8Array>;
  readonly #ended: AbortSignal;

  constructor(
    sql: string,
    { chunks, ended }: { chunks: AsyncIterable<Uint8Array>; ended: AbortSignal },
    callback: Callback,
  ) {
    super(sql, callback);
    this.#chunks = chunks;
    this.#ended = ended;
  }

  /** Called by `pg` when the server waits for the input. */
  handleCopyInResponse(connection: CopyConnection): void {
    this.#send(connection).catch((error: unknown) => {
      // The server has ended it already.
      if (this.#ended.aborted) return;
      this.failure = error;
      connection.sendCopyFail('its source failed');
    });
  }

  async #send(connection: CopyConnection): Promise<void> {
    for await (const chunk of this.#chunks) {
      if (this.#ended.aborted) return;
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain)
        await once(connection.stream, 'drain', { signal: this.#ended });
    }
    connection.endCopyFrom();
  }
}

class CopyOut extends pg.Query {
  readonly #onLine: (line: Uint8Array) => void;

  constructor(sql: string, onLine: (line: Uint8Array) => void, callback: Callback) {
    super(sql, callback);
    this.#onLine = onLine;
  }

  /** Called by `pg` for each line. */
  handleCopyData({ chunk }: { chunk: Uint8Array }): void {
    this.#onLine(chunk);
  }
}
