import { databaseUnavailable } from '../errors.ts';
import { control, SqliteConnection } from './connection.ts';
import { describeFileError } from './errors.ts';

/** Most idle snapshots, as each keeps a page cache. */
const idleMax = 4;

const begin = control('BEGIN');
const end = control('ROLLBACK');

/**
 * Read-only connections, one for each snapshot that is open. There is no bound on them: the requests that a server accepts are
 * bounded. The connection that came back last goes out first, because its cache is warm.
 */
export class SnapshotPool implements Disposable {
  readonly #file: string;
  readonly #idle: SqliteConnection[] = [];
  #isClosed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Connections that are open and not in use. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Runs `work` on a connection inside one deferred transaction: one snapshot from its first statement. */
  async run<T>(work: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('the database is closed');
    const connection = this.#idle.pop() ?? openReader(this.#file);
    try {
      connection.execute(begin);
      return await work(connection);
    } finally {
      this.#giveBack(connection);
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const connection of this.#idle.splice(0)) connection[Symbol.dispose]();
  }

  #giveBack(connection: SqliteConnection): void {
    if (connection.isTransaction) connection.execute(end);
    if (this.#isClosed || this.#idle.length >= idleMax) connection[Symbol.dispose]();
    else this.#idle.push(connection);
  }
}

/** A read-only connection. Throws `unavailable`, for instance if this process has too many open files. */
export function openReader(file: string, cacheKiB?: number): SqliteConnection {
  try {
    return new SqliteConnection(file, { readOnly: true, ...(cacheKiB !== undefined && { cacheKiB }) });
  } catch (error) {
    throw databaseUnavailable(describeFileError(error, file));
  }
}
