import type { Kysely } from 'kysely';
import { kyselyOver } from './kysely.ts';
import type { Dialect, Outcome, Query, Row, Runner, WriteSession } from './session.ts';

interface TransactionOptions {
  readonly dialect: Dialect;
  /** Runs the statements, and throws the errors of the driver. */
  readonly runner: Runner;
  /** Turns an error of the driver into what callers see. */
  readonly translate: (error: unknown) => unknown;
  readonly lock?: (name: string, mode: 'alone' | 'shared') => Promise<void>;
}

/**
 * The session of one `read` or `write`. A statement that fails ends it on both databases: what follows fails the same
 * way and nothing is committed, also where the work swallows the error (PostgreSQL has aborted the transaction then,
 * and SQLite may have).
 */
export class Transaction<DB> implements WriteSession<DB>, Runner {
  readonly dialect: Dialect;
  readonly runner: Runner = this;
  readonly #options: TransactionOptions;
  #kysely: Kysely<DB> | undefined;
  #open = true;
  #failure: { raw: unknown; translated: unknown } | undefined;

  constructor(options: TransactionOptions) {
    this.dialect = options.dialect;
    this.#options = options;
  }

  get kysely(): Kysely<DB> {
    this.#kysely ??= kyselyOver<DB>(this.dialect, this);
    return this.#kysely;
  }

  /** False once the work is over: statements are refused then. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** The error of the driver that ended the transaction, if any. */
  get failure(): unknown {
    return this.#failure?.raw;
  }

  /** Runs the work, and closes the session behind it. */
  async run<T>(work: (session: WriteSession<DB>) => Promise<T>): Promise<T> {
    try {
      const value = await work(this);
      if (this.#failure) throw this.#failure.translated;
      return value;
    } finally {
      this.#open = false;
    }
  }

  first(query: Query): Promise<Row | undefined> {
    return this.#guard(() => this.#options.runner.first(query));
  }

  execute(query: Query): Promise<Outcome> {
    return this.#guard(() => this.#options.runner.execute(query));
  }

  async lock(name: string): Promise<void> {
    await this.#guard(async () => this.#options.lock?.(name, 'alone'));
  }

  async share(name: string): Promise<void> {
    await this.#guard(async () => this.#options.lock?.(name, 'shared'));
  }

  async #guard<T>(act: () => Promise<T>): Promise<T> {
    if (!this.#open) throw new Error('this session has ended: await every statement inside read or write');
    if (this.#failure) throw this.#failure.translated;
    try {
      return await act();
    } catch (raw) {
      this.#failure ??= { raw, translated: this.#options.translate(raw) };
      throw this.#failure.translated;
    }
  }
}
