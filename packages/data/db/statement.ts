import { createHash } from 'node:crypto';
import {
  type Compilable,
  type CompiledQuery,
  type DeleteResult,
  type Expression,
  ExpressionWrapper,
  type InsertResult,
  type Kysely,
  type RawBuilder,
  type UpdateResult,
  ValueNode,
} from 'kysely';
import { compilingKysely, isWrite } from './kysely.ts';
import type { Dialect, Executor, Query, SqlValue } from './session.ts';

/** Marks the place of a parameter while a statement is built. */
export type Mark<P> = <K extends keyof P & string>(name: K) => Expression<P[K]>;

/**
 * A statement that Kysely compiles once for each dialect, on first use, and that each connection keeps prepared, so that a point
 * read costs microseconds. It runs on any session, with parameters by name.
 */
export class Statement<P, R> {
  readonly #build: (dialect: Dialect, mark: Mark<P>) => CompiledQuery;
  readonly #compiled: Partial<Record<Dialect, Compiled>> = {};

  constructor(build: (dialect: Dialect, mark: Mark<P>) => CompiledQuery) {
    this.#build = build;
  }

  /** The first row, or `undefined` where there is none. */
  async first(session: Executor, params: P): Promise<R | undefined> {
    return (await session.runner.first(this.bind(session.dialect, params))) as R | undefined;
  }

  /** Every row, in memory; `stream` of the database is for many. */
  async all(session: Executor, params: P): Promise<R[]> {
    return (await session.runner.execute(this.bind(session.dialect, params))).rows as R[];
  }

  /** Returns the number of rows inserted, changed or deleted (those returned, if the statement returns rows). */
  async run(session: Executor, params: P): Promise<{ changes: number }> {
    const { changes } = await session.runner.execute(this.bind(session.dialect, params));
    return { changes };
  }

  /** The SQL text and its values in order, for the database's own use and for tests of query plans. */
  bind(dialect: Dialect, params: P): Query {
    const compiled = this.#compiled[dialect] ?? this.#compile(dialect);
    const { slots } = compiled;
    const parameters = new Array<unknown>(slots.length);
    for (let index = 0; index < slots.length; index++) {
      const slot = slots[index];
      const value = slot instanceof Slot ? params[slot.name as keyof P] : slot;
      if (value === undefined)
        throw new TypeError(`parameter ${(slot as Slot).name} of a statement is missing`);
      parameters[index] = value;
    }
    return { sql: compiled.sql, parameters, writes: compiled.writes, name: compiled.name };
  }

  #compile(dialect: Dialect): Compiled {
    const query = this.#build(dialect, (name) => new ExpressionWrapper(ValueNode.create(new Slot(name))));
    const name = createHash('sha256').update(query.sql).digest('base64url');
    const compiled = { sql: query.sql, slots: query.parameters, writes: isWrite(query), name };
    this.#compiled[dialect] = compiled;
    return compiled;
  }
}

/**
 * A statement compiled once, with the tables and the parameters that it is for. The type of its rows comes from the query:
 *
 * ```ts
 * statement<Tables, { id: number }>()((db, p) => db.selectFrom('post').selectAll().where('id', '=', p('id')));
 * statement<Tables>()(() => sql<{ count: number }>`select count(*) as count from post`);
 * ```
 *
 * Where the two databases need different SQL, the third argument says which one it is for.
 */
export function statement<DB, P extends Params<P> = Record<never, never>>(): <O>(
  build: (db: Kysely<DB>, p: Mark<P>, dialect: Dialect) => Compilable<O> | RawBuilder<O>,
) => Statement<P, RowOf<O>> {
  return (build) =>
    new Statement((dialect, mark) => {
      const db = compilingKysely<DB>(dialect);
      const built = build(db, mark, dialect);
      return 'isRawBuilder' in built ? built.compile(db) : built.compile();
    });
}

type Params<P> = { readonly [K in keyof P]: SqlValue };

/** A statement that returns no rows has none, whatever Kysely makes of its outcome. */
type RowOf<O> = O extends InsertResult | UpdateResult | DeleteResult ? never : O;

interface Compiled {
  readonly sql: string;
  /** Values in order: a constant, or a {@link Slot} to fill. */
  readonly slots: readonly unknown[];
  readonly writes: boolean;
  readonly name: string;
}

class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}
