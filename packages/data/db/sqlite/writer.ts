import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { WriteOptions } from '../database.ts';
import type { WriteMetrics } from '../metrics.ts';
import { control, type SqliteConnection } from './connection.ts';
import { fromSqliteError, isBusy } from './errors.ts';
import { WalLimit } from './wal-limit.ts';

/** A group commits when it has this many writes, or has been open this long. */
const groupWritesMax = 256;
const groupOpenMs = 20;
/** Longest wait for the lock of another process. */
const lockWaitMs = 15_000;
/**
 * SQLite has no queue between processes, so a process that writes all the time would keep others out. It pauses this long, this
 * often, and more often while others write too.
 */
const gapMs = 5;
const gapEveryMs = 250;
const gapEveryAmongOthersMs = 40;
const othersRememberedMs = 5_000;

const beginImmediate = control('BEGIN IMMEDIATE');
const commit = control('COMMIT');
const savepoint = control('SAVEPOINT one');
const release = control('RELEASE one');
const dataVersion = control('PRAGMA data_version');
const waitForDisk = control('PRAGMA synchronous = FULL');
const leaveToSystem = control('PRAGMA synchronous = NORMAL');
const foreignKeysOn = control('PRAGMA foreign_keys = ON');
const foreignKeysOff = control('PRAGMA foreign_keys = OFF');

interface Write extends WriteOptions {
  /** Runs the work on the open transaction; throws where it failed or lost the transaction. */
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * Queues the writes of one process for the one writer connection. Writes that wait at the same moment share one
 * transaction, with a savepoint each, and so one sync of the disk. None is acknowledged before its COMMIT. A group of writes that may all
 * be lost is not synced; the write-ahead log keeps the order, so what is on disk is always consistent.
 */
export class WriteQueue {
  readonly #connection: SqliteConnection;
  readonly #metrics: WriteMetrics;
  readonly #walLimit: WalLimit;
  #waiting: Write[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;
  #busySinceMs = 0;
  #dataVersion: unknown;
  #othersSeenMs = Number.NEGATIVE_INFINITY;
  #waitsForDisk = true;
  #hasForeignKeys = true;

  constructor(connection: SqliteConnection, metrics: WriteMetrics) {
    this.#connection = connection;
    this.#metrics = metrics;
    this.#walLimit = new WalLimit(connection);
  }

  /** Runs `run` in a transaction. It runs again if a neighbor ended the transaction of both. */
  submit<T>(run: () => Promise<T>, options?: WriteOptions): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the database is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ ...options, run, resolve: resolve as (value: unknown) => void, reject });
      this.#metrics.queued(this.#waiting.length);
      this.#draining ??= this.#drain();
    });
  }

  /** Takes no more writes, and resolves when those it has taken are done. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    await nextTurn();
    this.#busySinceMs = performance.now();
    while (this.#waiting.length > 0) {
      await this.#runGroup();
      await this.#walLimit.enforce();
      await this.#leaveGap();
    }
    this.#draining = undefined;
  }

  async #leaveGap(): Promise<void> {
    const nowMs = performance.now();
    const amongOthers = nowMs - this.#othersSeenMs < othersRememberedMs;
    if (nowMs - this.#busySinceMs < (amongOthers ? gapEveryAmongOthersMs : gapEveryMs)) return nextTurn();
    await delay(gapMs);
    this.#busySinceMs = performance.now();
  }

  /** The data version of a connection changes when another one has committed. */
  #lookForOthers(): void {
    const version = this.#connection.first(dataVersion)?.data_version;
    if (this.#dataVersion !== undefined && version !== this.#dataVersion)
      this.#othersSeenMs = performance.now();
    this.#dataVersion = version;
  }

  async #runGroup(): Promise<void> {
    const mayBeLost = this.#waiting.every((write) => write.mayBeLost);
    const withoutForeignKeys = this.#waiting[0]?.withoutForeignKeys === true;
    try {
      await this.#begin({ mayBeLost, withoutForeignKeys });
      this.#lookForOthers();
    } catch (error) {
      for (const write of this.#waiting.splice(0)) write.reject(fromSqliteError(error, this.#connection));
      return;
    }
    const group = await this.#runWrites({ mayBeLost, withoutForeignKeys });
    if (group.length === 0) return rollback(this.#connection);
    const lost = !this.#connection.isTransaction;
    const failure = lost ? undefined : this.#commit(group.length);
    if (lost || (failure !== undefined && group.length > 1)) {
      for (const { write } of group) await this.#runAlone(write);
    } else {
      for (const { write, value } of group)
        failure === undefined ? write.resolve(value) : write.reject(failure);
    }
  }

  /** Runs writes of the queue in the open transaction, and gives those that succeeded so far. */
  async #runWrites({ mayBeLost, withoutForeignKeys }: GroupOptions): Promise<Done[]> {
    const openedMs = performance.now();
    const group: Done[] = [];
    while (group.length < groupWritesMax && performance.now() - openedMs < groupOpenMs) {
      if (group.length > 0 && (this.#waiting[0]?.alone || group[0]?.write.alone)) break;
      if (mayBeLost && !this.#waiting[0]?.mayBeLost) break;
      if (withoutForeignKeys !== (this.#waiting[0]?.withoutForeignKeys === true)) break;
      const write = this.#waiting.shift();
      if (write === undefined) break;
      this.#metrics.queued(this.#waiting.length);
      await this.#runSaved(write, group);
      if (withoutForeignKeys || !this.#connection.isTransaction) break;
    }
    return group;
  }

  async #runSaved(write: Write, group: Done[]): Promise<void> {
    try {
      this.#connection.execute(savepoint);
      const value = await write.run();
      if (!this.#connection.isTransaction) throw new Error('the work must not end its transaction');
      this.#connection.execute(release);
      group.push({ write, value });
    } catch (error) {
      rollbackOne(this.#connection);
      write.reject(fromSqliteError(error, this.#connection));
    }
  }

  /** Runs a write again by itself, after its group was lost: only so the write at fault can be told from the others. */
  async #runAlone(write: Write): Promise<void> {
    try {
      const { mayBeLost = false, withoutForeignKeys = false } = write;
      await this.#begin({ mayBeLost, withoutForeignKeys });
      const value = await write.run();
      const failure = this.#commit(1);
      if (failure !== undefined) throw failure;
      write.resolve(value);
    } catch (error) {
      rollback(this.#connection);
      write.reject(fromSqliteError(error, this.#connection));
    }
  }

  /** Begins a transaction. Both settings can only be changed outside of one. */
  async #begin({ mayBeLost, withoutForeignKeys }: GroupOptions): Promise<void> {
    if (this.#waitsForDisk === mayBeLost) {
      this.#connection.execute(mayBeLost ? leaveToSystem : waitForDisk);
      this.#waitsForDisk = !mayBeLost;
    }
    if (this.#hasForeignKeys === withoutForeignKeys) {
      this.#connection.execute(withoutForeignKeys ? foreignKeysOff : foreignKeysOn);
      this.#hasForeignKeys = !withoutForeignKeys;
    }
    await begin(this.#connection);
  }

  /** Commits, or rolls back and gives the error. */
  #commit(writes: number): unknown {
    const startedMs = performance.now();
    try {
      this.#connection.execute(commit);
    } catch (error) {
      rollback(this.#connection);
      return fromSqliteError(error, this.#connection);
    }
    this.#metrics.committed(writes, performance.now() - startedMs);
    return undefined;
  }
}

/** Settings that all writes of a transaction share. */
type GroupOptions = Required<Pick<WriteOptions, 'mayBeLost' | 'withoutForeignKeys'>>;

interface Done {
  readonly write: Write;
  readonly value: unknown;
}

/** BEGIN IMMEDIATE, tried again while another process holds the lock. The event loop stays free. */
export async function begin(connection: SqliteConnection, waitMs: number = lockWaitMs): Promise<void> {
  const giveUpMs = performance.now() + waitMs;
  for (;;) {
    try {
      connection.execute(beginImmediate);
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > giveUpMs) throw error;
    }
    await delay(1 + Math.random() * 2);
  }
}

/** Rolls back one write of the group, or the whole group if that fails. */
function rollbackOne(connection: SqliteConnection): void {
  if (!connection.isTransaction) return;
  try {
    connection.exec('ROLLBACK TO one; RELEASE one');
  } catch {
    rollback(connection);
  }
}

function rollback(connection: SqliteConnection): void {
  if (connection.isTransaction) connection.exec('ROLLBACK');
}
