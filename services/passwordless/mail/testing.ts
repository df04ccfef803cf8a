import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@octavo/core';
import { FakeClock } from '@octavo/core';
import { createLog, silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { testConfig, testContext, testFolder } from '@octavo/testing';
import { Keys } from '../keys/keys.ts';
import { passwordless } from '../service.ts';
import type { Tables } from '../store/store.ts';
import { databaseOptionsOf, dropSchema, secret, type World } from '../testing.ts';
import type { NewMail } from './mail.ts';
import { openMail } from './open.ts';
import type { MailRow } from './store.ts';

const patienceMs = 30_000;
/** The magic link in the test mails. */
export const link = 'http://localhost:3003/verify/magic?token=the-live-token';

export interface TestMailing {
  readonly clock: FakeClock;
  readonly dataFolder: string;
  readonly database: Database<Tables>;
  readonly environment: Environment;
  /** The log of the workers. */
  readonly lines: Record<string, unknown>[];
  /** Queues a mail in its own transaction and returns its id. */
  enqueue(mail?: Partial<NewMail>): Promise<string>;
  wakeWorkers(): void;
  /** Starts another worker in this process. It stops after the test at the latest. */
  startWorker(environment?: Environment): Promise<AsyncDisposable>;
  entry(id: string): Promise<MailRow>;
  /** Waits for a log line with this message, and returns it. */
  logged(message: string): Promise<Record<string, unknown>>;
  /** Waits until the entry matches, and returns it. */
  entryWhen(id: string, wanted: (row: MailRow) => boolean): Promise<MailRow>;
}

/** Opens the queue on an empty database, without a worker. */
export async function startMailing(
  context: Pick<TestContext, 'after'>,
  world: World,
  environment: Environment = {},
): Promise<TestMailing> {
  const dataFolder = testFolder('mailing');
  if (world.databaseUrl) await dropSchema(world.databaseUrl);
  const clock = new FakeClock();
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ service: 'mail', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  const keys = new Keys(secret, undefined);
  const all = { DATABASE_URL: world.databaseUrl, PASSWORDLESS_MAIL_POLL_SECONDS: '3600', ...environment };
  const around = () => testContext('mailing', { log, clock, dataFolder });
  const configFor = (more: Environment) => testConfig(passwordless.settings, { ...all, ...more });
  const stack = new AsyncDisposableStack();
  context.after(() => stack.disposeAsync());
  const config = configFor({});
  const open = async () =>
    stack.use(await openDatabase<Tables>(databaseOptionsOf(config, { ...around(), log: silentLog })));
  const database = await open();
  const { queue } = stack.use(
    await openMail({ config, context: around(), database, keys, runsWorker: false }),
  );
  const entry = (id: string) =>
    database.kysely.selectFrom('email_queue').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  return {
    clock,
    dataFolder,
    database,
    environment: all,
    lines,
    entry,
    wakeWorkers: () => queue.wakeWorkers(),
    async enqueue(mail = {}) {
      const before = new Set(await idsOf(database));
      await database.write((session) => queue.enqueue(session, newMail(clock, mail)));
      return (await idsOf(database)).find((id) => !before.has(id)) ?? '';
    },
    async startWorker(more = {}) {
      const parts = {
        config: configFor(more),
        context: around(),
        database: await open(),
        keys,
        runsWorker: true,
      };
      return stack.use(await openMail(parts));
    },
    logged: (message) =>
      eventually(
        async () => lines.find(({ msg }) => msg === message),
        () => message,
      ),
    async entryWhen(id, wanted) {
      let row = await entry(id);
      const look = async () => {
        row = await entry(id);
        return wanted(row) ? row : undefined;
      };
      return eventually(look, () => JSON.stringify({ ...row, text_body: '', html_body: '' }));
    },
  };
}

async function eventually<T>(look: () => Promise<T | undefined>, describe: () => string): Promise<T> {
  const giveUpMs = performance.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.ok(performance.now() < giveUpMs, `still not: ${describe()}`);
    await delay(10);
  }
}

function newMail(clock: FakeClock, mail: Partial<NewMail>): NewMail {
  const magicLink = { kind: 'magic-link', to: 'bob@example.com', link, code: '123456' };
  return { ...magicLink, expiresAtMs: clock.now() + 600_000, ...mail } as NewMail;
}

async function idsOf(database: Database<Tables>): Promise<string[]> {
  return (await database.kysely.selectFrom('email_queue').select('id').execute()).map(({ id }) => id);
}
