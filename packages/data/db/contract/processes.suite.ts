import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { idsOf, Place, type Server } from './fixture.ts';
import type { WriterReport, WriterTask } from './writer-process.ts';

const together = { writers: 1, readers: 5 };
const togetherMs = 2_000;

/** Several processes share one database, and one that dies takes nothing with it that it had acknowledged. */
export function processContract(server: Server): void {
  test('two processes with two writers and ten readers never meet a locked database', async () => {
    await using place = new Place(server);
    const one = new Writer(place, { firstId: 1, ...together });
    const two = new Writer(place, { firstId: 1_000_000, ...together });
    await Promise.all([one.acknowledged(1), two.acknowledged(1)]);
    await delay(togetherMs);
    await Promise.all([one.acknowledged(20), two.acknowledged(20)]);
    await Promise.all([one.stop(), two.stop()]);
    assert.deepEqual([one.errors, two.errors], [[], []]);
    assert.deepEqual(
      await idsOf(await place.open()),
      [...one.ids, ...two.ids].sort((a, b) => a - b),
    );
  });

  test('two processes that start at once migrate once', async () => {
    await using place = new Place(server);
    const task = { firstId: 1, writers: 0, readers: 0 };
    const processes = [new Writer(place, task), new Writer(place, task)];
    for (const process of processes) await process.stop();
    assert.deepEqual(
      processes.map(({ errors }) => errors),
      [[], []],
    );
    const { kysely } = await place.open();
    for (const table of ['schema_migration', 'kysely_migration']) {
      assert.equal((await sql`select 1 from ${sql.table(table)}`.execute(kysely)).rows.length, 1);
    }
  });

  test('after kill -9 every acknowledged row is there', async () => {
    await using place = new Place(server);
    const writer = new Writer(place, { firstId: 1, writers: 8, readers: 0 });
    await writer.acknowledged(500);
    await writer.kill();
    const ids = new Set(await idsOf(await place.open()));
    assert.deepEqual(
      writer.ids.filter((id) => !ids.has(id)),
      [],
    );
  });
}

/** A child process that writes, and its reports. */
class Writer {
  readonly ids: number[] = [];
  readonly errors: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(place: Place, task: Omit<WriterTask, 'options'>) {
    const { name, url, pooler, folder, migrations } = place.options;
    this.#process = fork(new URL('./writer-process.ts', import.meta.url), { execArgv: [] });
    this.#ended = once(this.#process, 'exit');
    this.#process.on('message', (report: WriterReport) => {
      if ('id' in report) this.ids.push(report.id);
      if ('error' in report) this.errors.push(report.error);
    });
    this.#process.send({
      options: { name, url, pooler, folder, migrations: (migrations as URL).href },
      ...task,
    } satisfies WriterTask);
  }

  /** Resolves when `count` writes have been acknowledged. */
  async acknowledged(count: number): Promise<void> {
    while (this.ids.length < count && this.errors.length === 0) {
      await Promise.race([once(this.#process, 'message'), this.#ended]);
    }
  }

  async stop(): Promise<void> {
    if (this.#process.connected) this.#process.send('stop');
    await this.#ended;
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }
}
