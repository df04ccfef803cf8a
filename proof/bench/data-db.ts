import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { silentLog } from '@octavo/core/log';
import { type Database, openDatabase, statement } from '@octavo/data';
import { testFolder } from '@octavo/testing';

// Point reads, durable writes and a stream through packages/data/db, each beside bare node:sqlite in the same run.

interface Tables {
  post: Post;
}

interface Post {
  id: number;
  user_id: number;
  title: string;
  body: string;
  created_at_ms: number;
}

const rows = 50_000;
const reads = 100_000;
const writeMs = 300;
const rounds = 6;
const clients = 64;

const byId = statement<Tables, { id: number }>()((db, p) =>
  db.selectFrom('post').selectAll().where('id', '=', p('id')),
);
const insert = statement<Tables, Post>()((db, p) =>
  db.insertInto('post').values({
    id: p('id'),
    user_id: p('user_id'),
    title: p('title'),
    body: p('body'),
    created_at_ms: p('created_at_ms'),
  }),
);

const folder = testFolder('bench');
await run();

async function run(): Promise<void> {
  const migrations = new URL('./data-db/', import.meta.url);
  await using db = await openDatabase<Tables>({
    name: 'bench',
    url: undefined,
    folder,
    migrations,
    log: silentLog,
  });
  await db.write(async (session) => {
    for (let id = 1; id <= rows; id++) await insert.run(session, post(id));
  });
  using bare = new DatabaseSync(join(folder, 'bench.sqlite'));
  bare.exec('PRAGMA synchronous = FULL');
  await benchReads(db, bare);
  await benchWrites(db, bare);
  await benchStream(db, bare);
}

async function benchReads(db: Database<Tables>, bare: DatabaseSync): Promise<void> {
  const select = bare.prepare('SELECT * FROM post WHERE id = ?');
  const bareUs = await timeUs((id) => select.get(id));
  const ours = await timeUs((id) => byId.first(db, { id }));
  const snapshot = await timeUs((id) => db.read((session) => byId.first(session, { id })));
  show('point read', `${ours.toFixed(2)} µs`, `${bareUs.toFixed(2)} µs`, bareUs / ours);
  show('point read in a snapshot', `${snapshot.toFixed(2)} µs`, `${bareUs.toFixed(2)} µs`, bareUs / snapshot);
}

async function benchWrites(db: Database<Tables>, bare: DatabaseSync): Promise<void> {
  const statement = bare.prepare('INSERT INTO post VALUES (?, ?, ?, ?, ?)');
  const write = (id: number): Promise<unknown> => db.write((session) => insert.run(session, post(id)));
  const writeBare = async (id: number): Promise<unknown> =>
    statement.run(...Object.values(post(10_000_000 + id)));
  let [floor, one, many] = [0, 0, 0];
  // In turns, because the disk of a shared machine is not equally fast all the time.
  const delayMs = await loopDelayMs(async () => {
    for (let round = 0; round < rounds; round++) {
      floor += (await perSecond(1, (id) => writeBare(round * 1_000_000 + id))) / rounds;
      one += (await perSecond(1, (id) => write(100_000_000 + round * 1_000_000 + id))) / rounds;
      many += (await perSecond(clients, (id) => write(200_000_000 + round * 1_000_000 + id))) / rounds;
    }
  });
  show('durable insert, 1 client', `${one | 0}/s`, `${floor | 0}/s`, one / floor);
  show(`durable insert, ${clients} clients`, `${many | 0}/s`, `${floor | 0}/s`, many / floor);
  console.log(`  event loop delay meanwhile: p99 ${delayMs.toFixed(1)} ms`);
}

async function benchStream(db: Database<Tables>, bare: DatabaseSync): Promise<void> {
  const scan = bare.prepare('SELECT * FROM post ORDER BY id');
  const bareMs = await timeMs(async () => {
    for (const row of scan.iterate()) JSON.stringify(row);
  });
  let ms = 0;
  const delayMs = await loopDelayMs(async () => {
    ms = await timeMs(async () => {
      const all = db.kysely.selectFrom('post').selectAll().orderBy('id');
      for await (const batch of db.stream(all, { batchRows: 500 })) JSON.stringify(batch);
    });
  });
  show('every row to JSON', `${ms | 0} ms`, `${bareMs | 0} ms`, bareMs / ms);
  console.log(`  event loop delay meanwhile: p99 ${delayMs.toFixed(1)} ms`);
}

function post(id: number): Post {
  return {
    id,
    user_id: id % 100,
    title: `Post ${id}`,
    body: 'A sentence of a post. '.repeat(15),
    created_at_ms: 1.7e12 + id,
  };
}

async function timeMs(act: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return performance.now() - startedMs;
}

async function timeUs(act: (id: number) => unknown): Promise<number> {
  const idOf = (index: number): number => 1 + ((index * 7919) % rows);
  for (let index = 0; index < reads / 10; index++) await act(idOf(index));
  const ms = await timeMs(async () => {
    for (let index = 0; index < reads; index++) await act(idOf(index));
  });
  return (ms * 1000) / reads;
}

async function loopDelayMs(act: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await act();
  delay.disable();
  return delay.percentile(99) / 1e6;
}

async function perSecond(concurrency: number, act: (id: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  const endMs = performance.now() + writeMs;
  const ms = await timeMs(async () => {
    const client = async (): Promise<void> => {
      while (performance.now() < endMs) await act(++done);
    };
    await Promise.all(Array.from({ length: concurrency }, client));
  });
  return (done * 1000) / ms;
}

function show(what: string, ours: string, floor: string, ratio: number): void {
  console.log(
    `${what.padEnd(30)} ${ours.padStart(12)}   bare ${floor.padStart(12)}   ratio ${ratio.toFixed(2)}`,
  );
}
