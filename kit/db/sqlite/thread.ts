import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection } from './connection.ts';
import type { Answer, Request } from './threads.ts';

// The entry of a worker thread: it reads for `threads.ts`, each task on a connection of its own and in one snapshot.

interface Task {
  readonly connection: SqliteConnection;
  readonly rows: Iterator<unknown[]>;
  readonly batchRows: number;
}

const { file } = workerData as { file: string };
const port = parentPort;
const tasks = new Map<number, Task>();
const idle: SqliteConnection[] = [];

port?.on('message', (request: Request) => {
  if (request.kind === 'close') {
    close(request.id);
  } else {
    port.postMessage(answer(request));
  }
});

function answer(request: Exclude<Request, { kind: 'close' }>): Answer {
  try {
    if (request.kind === 'open') return open(request);
    return { ...nextBatch(request.id), names: undefined };
  } catch (error) {
    close(request.id);
    const { message, errcode } = error as Error & { errcode?: number };
    return { error: { message, errcode } };
  }
}

function open({ id, query, batchRows }: Extract<Request, { kind: 'open' }>): Answer {
  const connection = idle.pop() ?? new SqliteConnection(file, { readOnly: true, cacheKiB: 4_096 });
  connection.exec('BEGIN');
  const { names, rows } = connection.iterate(query);
  tasks.set(id, { connection, rows, batchRows });
  return { ...nextBatch(id), names };
}

function nextBatch(id: number): { rows: unknown[][]; done: boolean } {
  const task = tasks.get(id);
  const rows: unknown[][] = [];
  while (task !== undefined && rows.length < task.batchRows) {
    const { value, done } = task.rows.next();
    if (done) {
      close(id);
      return { rows, done: true };
    }
    rows.push(value);
  }
  return { rows, done: false };
}

function close(id: number): void {
  const task = tasks.get(id);
  if (task === undefined) return;
  tasks.delete(id);
  task.rows.return?.();
  task.connection.exec('ROLLBACK');
  idle.push(task.connection);
}
