import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type SqliteConnection, walBytesMax } from './connection.ts';

/** Number and interval of the waits for snapshots that still need the log, before writers go on. */
const attempts = 20;
const attemptEveryMs = 5;
const restMs = 5_000;

const checkpoint = { sql: 'PRAGMA wal_checkpoint(TRUNCATE)', parameters: [], writes: true };

/**
 * Keeps the write-ahead log from growing without end under sustained load. SQLite's own checkpoints copy the log but start it
 * over only when no reader needs it, and under load there always is one. So once the log is large, writers pause for
 * a moment: readers that begin after a complete checkpoint do not use the log (sqlite.org/wal.html, "Avoiding Excessively Large WAL Files").
 */
export class WalLimit {
  readonly #connection: SqliteConnection;
  readonly #file: string;
  #restUntilMs = 0;

  /** The connection must be the only writer of this process and have no busy timeout. */
  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#file = `${connection.database.location()}-wal`;
  }

  /** Limits the file; to be called between transactions. */
  async enforce(): Promise<void> {
    if (performance.now() < this.#restUntilMs) return;
    if ((statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) <= walBytesMax) return;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (this.#truncate()) return;
      await delay(attemptEveryMs);
    }
    this.#restUntilMs = performance.now() + restMs;
  }

  #truncate(): boolean {
    try {
      return this.#connection.first(checkpoint)?.busy === 0;
    } catch {
      // A full disk, for example. The next commit reports it to the writer.
      return false;
    }
  }
}
