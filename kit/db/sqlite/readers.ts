import { control, SqliteConnection } from './connection.ts';

/** Each keeps a cache. */
const idleMax = 4;

const begin = control('BEGIN');
const end = control('ROLLBACK');

/**
 * Read-only connections handed out one by one, so that what awaits on one never mixes with another. The one given back
 * last goes first: its cache is warm. There is no bound; the load that a server accepts is one.
 */
export class Readers implements Disposable {
  readonly #file: string;
  readonly #idle: SqliteConnection[] = [];
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Runs `work` on a connection inside one deferred transaction: one snapshot from its first statement. */
  async snapshot<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    const connection = this.take();
    try {
      connection.execute(begin);
      return await work(connection);
    } finally {
      this.give(connection);
    }
  }

  take(): SqliteConnection {
    if (this.#closed) throw new Error('the database is closed');
    return this.#idle.pop() ?? new SqliteConnection(this.#file, { readOnly: true });
  }

  /** Ends what is open on the connection and keeps it for the next. */
  give(connection: SqliteConnection): void {
    if (connection.isTransaction) connection.execute(end);
    if (this.#closed || this.#idle.length >= idleMax) connection[Symbol.dispose]();
    else this.#idle.push(connection);
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) connection[Symbol.dispose]();
  }
}
