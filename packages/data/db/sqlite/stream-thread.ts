import { workerData } from 'node:worker_threads';
import { serveTasks } from '@octavo/core/concurrency';
import type { Query } from '../session.ts';
import type { SqliteConnection } from './connection.ts';
import { fromSqliteError } from './errors.ts';
import { openReader } from './snapshots.ts';

// The module of the threads that read streams. Each stream has a connection of its own.

export interface StreamRequest {
  readonly query: Query;
  readonly batchRows: number;
}

/** Rows as arrays in the order of `names`: they cross to the other thread faster than objects. */
export interface RowBatch {
  readonly names: readonly string[];
  readonly rows: unknown[][];
}

const { file } = workerData as { file: string };
const idle: SqliteConnection[] = [];

const tasks = { stream: readBatches };

export type StreamTasks = typeof tasks;

serveTasks(tasks, {
  close: () => {
    for (const connection of idle) connection[Symbol.dispose]();
  },
});

function* readBatches({ query, batchRows }: StreamRequest): Generator<RowBatch> {
  const connection = idle.pop() ?? openReader(file, 4_096);
  try {
    connection.exec('BEGIN');
    const { names, rows } = connection.iterate(query);
    let batch: unknown[][] = [];
    for (const row of rows) {
      batch.push(row);
      if (batch.length < batchRows) continue;
      yield { names, rows: batch };
      batch = [];
    }
    if (batch.length > 0) yield { names, rows: batch };
  } catch (error) {
    throw fromSqliteError(error, connection);
  } finally {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    idle.push(connection);
  }
}
