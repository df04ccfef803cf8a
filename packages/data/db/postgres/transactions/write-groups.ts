import { setTimeout as delay } from 'node:timers/promises';
import { Batches } from '@octavo/core/concurrency';
import type { ClientBase } from 'pg';
import type { Transaction } from '../../transaction.ts';
import { isTransient } from '../errors.ts';
import { postgresTransaction, retriable, type SessionOptions } from './session.ts';

/** A group commits when it has this many writes, whose savepoints PostgreSQL keeps at hand (64), or has been open this long. */
const groupWritesMax = 64;
const groupOpenMs = 100;

const savepoint = 'SAVEPOINT one';
const nextSavepoint = 'RELEASE one; SAVEPOINT one';
const rollback = 'ROLLBACK TO one';

/** The work of one write, which throws where it failed. */
export type Work<DB> = (session: Transaction<DB>) => Promise<unknown>;

type Settled = PromiseSettledResult<unknown>;

interface GroupOptions {
  readonly session: SessionOptions;
  /**
   * Runs `act` in a transaction on a connection of its own, and again after a conflict with another one. `countWrites` is asked after
   * the commit.
   */
  transact<T>(act: (client: ClientBase) => Promise<T>, countWrites: () => number): Promise<T>;
}

/**
 * Writes that wait for the same locks share a transaction, with a savepoint each, and so one wait for the locks and one for the disk. None
 * is answered before its COMMIT, also none that failed, which may have met what a neighbor has changed. A process has one transaction for the
 * same locks at a time; those of others run beside it.
 */
export class WriteGroups<DB> {
  readonly #options: GroupOptions;
  readonly #waiting = new Map<string, Batches<Work<DB>, Settled>>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** The value of the work, once its group has committed. */
  async submit<T>(locks: readonly string[], work: (session: Transaction<DB>) => Promise<T>): Promise<T> {
    const running = this.#batchesOf(locks).add(work);
    this.#running.add(running);
    const settled = await running.finally(() => this.#running.delete(running));
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value as T;
  }

  /** Resolves when all writes are done, or after `closeMs`. */
  async ended(closeMs: number): Promise<void> {
    const done = new AbortController();
    const late = delay(closeMs, undefined, { signal: done.signal }).catch(() => {});
    await Promise.race([Promise.allSettled(this.#running), late]);
    done.abort();
  }

  #batchesOf(locks: readonly string[]): Batches<Work<DB>, Settled> {
    const key = JSON.stringify(locks);
    const known = this.#waiting.get(key);
    if (known) return known;
    const batches = new Batches<Work<DB>, Settled>({
      itemsMax: groupWritesMax,
      run: (works) => this.#commit(locks, works),
      onIdle: () => this.#waiting.delete(key),
    });
    this.#waiting.set(key, batches);
    return batches;
  }

  #commit(locks: readonly string[], works: Iterable<Work<DB>>): Promise<Settled[]> {
    const taken: Work<DB>[] = [];
    return this.#options.transact(
      // After a conflict those run again that have been taken.
      (client) => this.#runGroup(client, locks, taken.length > 0 ? [...taken] : remembered(works, taken)),
      () => taken.length,
    );
  }

  async #runGroup(
    client: ClientBase,
    locks: readonly string[],
    works: Iterable<Work<DB>>,
  ): Promise<Settled[]> {
    const { session: options } = this.#options;
    let held = new Set<string>();
    const opening = postgresTransaction<DB>(client, { ...options, held });
    for (const name of locks)
      await opening.lock(name).catch((error: unknown) => {
        throw retriable(opening, error);
      });
    const openedMs = performance.now();
    const group: Settled[] = [];
    for (const work of works) {
      // What a savepoint locked is let go with it.
      const locks = new Set(held);
      const session = postgresTransaction<DB>(client, { ...options, held: locks });
      const settled = await runSaved(client, session, { work, before: group.length });
      if (settled.status === 'fulfilled') held = locks;
      group.push(settled);
      if (performance.now() - openedMs > groupOpenMs) break;
    }
    return group;
  }
}

/**
 * Runs the work behind those `before` it, in a savepoint of its own, and gives how it ended. The first needs none: where it fails there is
 * nothing to commit. Throws that error, and others that end the transaction.
 */
async function runSaved<DB>(
  client: ClientBase,
  session: Transaction<DB>,
  { work, before }: { work: Work<DB>; before: number },
): Promise<Settled> {
  const saved = before === 0 ? undefined : client.query(before === 1 ? savepoint : nextSavepoint);
  // It goes in one round trip with the first statement, which fails with it.
  saved?.catch(() => {});
  try {
    const value = await work(session);
    await saved;
    return { status: 'fulfilled', value };
  } catch (error) {
    if (before === 0 || isTransient(session.failure)) throw retriable(session, error);
    await client.query(rollback);
    return { status: 'rejected', reason: error };
  }
}

function* remembered<T>(items: Iterable<T>, taken: T[]): Generator<T> {
  for (const item of items) {
    taken.push(item);
    yield item;
  }
}
