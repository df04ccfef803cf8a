import {
  type BinaryOperationNode,
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  DummyDriver,
  Kysely,
  type Dialect as KyselyDialect,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type QueryResult,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Dialect, Query, Runner } from './session.ts';

/** A Kysely whose queries go to `runner`. It refuses Kysely's transactions and streams: use `write`, `read` and `stream`. */
export function kyselyOver<DB>(dialect: Dialect, runner: Runner): Kysely<DB> {
  return new Kysely<DB>({ dialect: { ...dialects[dialect], createDriver: () => new RunnerDriver(runner) } });
}

/** A Kysely that only compiles. */
export function compilingKysely<DB>(dialect: Dialect): Kysely<DB> {
  return new Kysely<DB>({ dialect: { ...dialects[dialect], createDriver: () => new DummyDriver() } });
}

/** A query as the driver runs it. */
export function compileQuery<DB>(kysely: Kysely<DB>, built: Compilable | RawBuilder<unknown>): Query {
  const query = 'isRawBuilder' in built ? built.compile(kysely) : built.compile();
  return { sql: query.sql, parameters: query.parameters, writes: isWrite(query) };
}

/** Returns true if a query may change data. Raw SQL counts as reading when it starts like a read. */
export function isWrite({ query, sql }: CompiledQuery): boolean {
  if (query.kind === 'SelectQueryNode') return false;
  return query.kind !== 'RawNode' || !/^\s*(?:select|values|with|explain|pragma|show)\b/i.test(sql);
}

const dialects: Readonly<Record<Dialect, Omit<KyselyDialect, 'createDriver'>>> = {
  sqlite: {
    createAdapter: () => new RunnerSqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  },
  postgres: {
    createAdapter: () => new RunnerPostgresAdapter(),
    createQueryCompiler: () => new EmptyListCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  },
};

/** PostgreSQL refuses `in ()`, which SQLite takes: nothing is in an empty list. */
class EmptyListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node;
    const name = OperatorNode.is(operator) ? operator.operator : undefined;
    const isEmpty = PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length === 0;
    if (isEmpty && name === 'in') this.append('false');
    else if (isEmpty && name === 'not in') this.append('true');
    else super.visitBinaryOperation(node);
  }
}

/** Kysely's own adapter lets queries wait for one another; the runner orders them where that is necessary. */
class RunnerSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

/** Migrations run inside a transaction of ours, which holds the lock; as on SQLite, where Kysely takes none. */
class RunnerPostgresAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}

  override async releaseMigrationLock(): Promise<void> {}
}

class RunnerDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(runner: Runner) {
    this.#connection = new RunnerConnection(runner);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error('use database.write (or read), not a transaction of Kysely');
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class RunnerConnection implements DatabaseConnection {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query;
    const { rows, changes } = await this.#runner.execute({ sql, parameters, writes: isWrite(query) });
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('use database.stream, not a stream of Kysely');
  }
}
