import { silentLog } from '@octavo/core/log';
import type { Database, DatabaseOptions } from '../index.ts';
import { openDatabase } from '../index.ts';
import { countNotes, insertNote, note, type Tables } from './fixture.ts';

// A process of its own that writes and reads until it is told to stop or is killed. Sends `{ id }` for each
// acknowledged write, or `{ error }`, or `{ done }`.

/** First message of the parent. */
export interface WriterTask {
  readonly options: Pick<DatabaseOptions, 'name' | 'url' | 'pooler' | 'folder'> & { migrations: string };
  readonly firstId: number;
  readonly writers: number;
  readonly readers: number;
}

export type WriterReport = { id: number } | { error: string } | { done: true };

let stopped = false;
process.on('message', (message: WriterTask | 'stop') => {
  if (message === 'stop') stopped = true;
  else void run(message);
});

async function run(task: WriterTask): Promise<void> {
  const options = { ...task.options, migrations: new URL(task.options.migrations), log: silentLog };
  try {
    await using database = await openDatabase<Tables>(options);
    let nextId = task.firstId;
    // Every second one shares its commits.
    const writers = Array.from({ length: task.writers }, (_, index) =>
      keepWriting(database, () => nextId++, index % 2 === 0 ? ['notes'] : []),
    );
    const readers = Array.from({ length: task.readers }, () => keepReading(database));
    await Promise.all([...writers, ...readers]);
    report({ done: true });
  } catch (error) {
    report({ error: String((error as Error).cause ?? error) });
  }
  process.disconnect?.();
}

async function keepWriting(
  database: Database<Tables>,
  nextId: () => number,
  locks: readonly string[],
): Promise<void> {
  while (!stopped) {
    const id = nextId();
    await database.write((session) => insertNote.run(session, note(id)), { locks });
    report({ id });
  }
}

async function keepReading(database: Database<Tables>): Promise<void> {
  while (!stopped) {
    await database.read((session) => countNotes.first(session, {}));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function report(report: WriterReport): void {
  process.send?.(report);
}
