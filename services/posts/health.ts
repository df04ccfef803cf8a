import { setTimeout as delay } from 'node:timers/promises';
import { type Database, statement } from '#kit/db/index.ts';
import type { Tables } from './database.ts';
import { lastPostId } from './statistics/index.ts';

/** How often it writes at most, and how long a caller waits for a write that waits behind others. */
const writeEveryMs = 900;
const waitMs = 100;

/**
 * Whether the database of the posts can be read and written. It reads the newest post and one at random, which finds damaged pages, and
 * writes a row, which finds a full disk. It costs the same at a million posts. A write that waits behind a long one is no failure.
 */
export class HealthCheck {
  readonly #database: Database<Tables>;
  #writing: Promise<void> | undefined;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #failure: { readonly error: unknown } | undefined;

  constructor(database: Database<Tables>) {
    this.#database = database;
  }

  /** Throws what keeps the posts from being read or written. */
  async run(): Promise<void> {
    const database = this.#database;
    const last = await lastPostId(database);
    const ids = [last, Math.ceil(Math.random() * last)];
    await Promise.all(ids.map((upTo) => postUpTo.first(database, { upTo })));
    if (performance.now() - this.#writtenMs > writeEveryMs) this.#writing ??= this.#write();
    await Promise.race([this.#writing, delay(waitMs, undefined, { ref: false })]);
    if (this.#failure) throw this.#failure.error;
  }

  async #write(): Promise<void> {
    try {
      await this.#database.write((session) => touch.run(session, { nowMs: Date.now() }), { mayBeLost: true });
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
      this.#writtenMs = performance.now();
    }
  }
}

const postUpTo = statement<Tables, { upTo: number }>()((db, p) =>
  db.selectFrom('post').selectAll().where('id', '<=', p('upTo')).orderBy('id', 'desc').limit(1),
);

const touch = statement<Tables, { nowMs: number }>()((db, p) =>
  db.updateTable('health_probe').set({ written_at_ms: p('nowMs') }),
);
