import type { Outcome, Query, Row } from '../session.ts';
import { control, type SqliteConnection } from './connection.ts';

const begin = control('BEGIN');
const end = control('ROLLBACK');

/** Counts the commits of this process, on whichever handle: a snapshot from before one of them is not for later reads. */
let commits = 0;

/** To be called after each commit. */
export function noteCommit(): void {
  commits++;
}

/**
 * Reads of single statements. Those of one turn of the event loop share a snapshot: taking SQLite's read lock costs more
 * than reading a row. What a turn works on arrived before its snapshot was taken, so that nobody reads what was true before they
 * asked; a commit of this process ends it at once.
 */
export class TurnReader implements Disposable {
  readonly connection: SqliteConnection;
  /** The number of commits when the snapshot was taken; -1 without one. */
  #heldAt = -1;
  readonly #endTurn = () => this.#release();

  constructor(connection: SqliteConnection) {
    this.connection = connection;
  }

  first(query: Query): Row | undefined {
    if (this.#heldAt !== commits) this.#hold();
    return this.connection.first(query);
  }

  execute(query: Query): Outcome {
    if (this.#heldAt !== commits) this.#hold();
    return this.connection.execute(query);
  }

  [Symbol.dispose](): void {
    this.#release();
    this.connection[Symbol.dispose]();
  }

  #hold(): void {
    if (this.#heldAt < 0) setImmediate(this.#endTurn);
    else this.#release();
    this.connection.execute(begin);
    this.#heldAt = commits;
  }

  #release(): void {
    if (this.#heldAt < 0) return;
    this.#heldAt = -1;
    if (this.connection.isTransaction) this.connection.execute(end);
  }
}
