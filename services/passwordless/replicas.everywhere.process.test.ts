import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { openDatabase } from '@octavo/data';
import { configOf } from '@octavo/data/service';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { testFolder } from '@octavo/testing';
import { passwordless } from './service.ts';
import type { Tables } from './store/store.ts';
import {
  alice,
  type Client,
  claimsOf,
  clientOf,
  databaseOptionsOf,
  inTestMode,
  secret,
  type World,
} from './testing.ts';

interface Place {
  /** Starts another web process on the same data. */
  start(): Promise<Client & { url: string; kill(): Promise<void> }>;
  readonly database: Awaited<ReturnType<typeof openDatabase<Tables>>>;
}

await inTestMode((world) => {
  test('two web processes share everything, and each link works once', async (context) => {
    const place = await openPlace(context, world);
    const [one, two] = await Promise.all([place.start(), place.start()]);
    const { token } = await one.requestLink(alice);
    const used = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? one : two).post('/verify/magic', { token })),
    );
    const [signedIn, ...others] = used.filter(({ status }) => status === 200);
    assert.equal(others.length, 0);
    const { access_token, refresh_token } = signedIn?.json ?? {};
    for (const process of [one, two]) assert.equal((await process.get('/me', access_token)).status, 200);
    const exchanged = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? one : two).post('/token/refresh', { refresh_token }),
      ),
    );
    // A client that lost the response gets the same token again, from any process.
    assert.ok(exchanged.every(({ status }) => status === 200));
    assert.equal(new Set(exchanged.map(({ json }) => json.refresh_token)).size, 1);
    assert.equal((await one.post('/logout-all', undefined, access_token)).status, 200);
    assert.equal((await two.get('/me', access_token)).status, 401);
  });

  test('kill -9 during token exchanges loses none that was acknowledged', async (context) => {
    const place = await openPlace(context, world);
    const victim = await place.start();
    const pairs = [];
    for (let index = 0; index < 8; index++) pairs.push(await victim.signIn(`user${index}@example.com`));
    const acknowledged = pairs.map(() => 1);
    let exchanges = 0;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const chains = pairs.map(async (pair, index) => {
      let { refresh_token } = pair;
      for (;;) {
        const response = await victim.post('/token/refresh', { refresh_token }).catch(() => undefined);
        if (response?.status !== 200) return refresh_token;
        refresh_token = response.json.refresh_token;
        acknowledged[index] = (acknowledged[index] ?? 0) + 1;
        if (++exchanges === 200) resolve();
      }
    });
    await enough;
    await victim.kill();
    const latest = await Promise.all(chains);
    const heir = await place.start();
    for (const [index, pair] of pairs.entries()) {
      const row = await place.database.kysely
        .selectFrom('session')
        .select('generation')
        .where('id', '=', claimsOf(pair.access_token).sid)
        .executeTakeFirstOrThrow();
      // An exchange may have been committed without its response.
      const unanswered = row.generation - (acknowledged[index] ?? 0);
      assert.ok(unanswered === 0 || unanswered === 1, String(unanswered));
      const { status } = await heir.post('/token/refresh', { refresh_token: latest[index] });
      assert.equal(status, 200, `${unanswered} exchanges without a response`);
    }
  });
});

async function openPlace(context: TestContext, world: World): Promise<Place> {
  const dataFolder = testFolder('passwordless');
  const environment = {
    OCTAVO_DATA: dataFolder,
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    DATABASE_URL: world.databaseUrl ?? '',
    PASSWORDLESS_JWT_SECRET: secret,
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
    PASSWORDLESS_WORKER: 'off',
    PASSWORDLESS_LIMIT_POST_PER_IP: '0',
    PASSWORDLESS_LIMIT_REFRESH_PER_IP: '0',
  };
  const config = configOf(passwordless, environment);
  const database = await openDatabase<Tables>(
    databaseOptionsOf(config, { dataFolder, log: silentLog } as never),
  );
  context.after(() => database[Symbol.asyncDispose]());
  const start = async () => {
    const { url, child } = await startProcess('passwordless', environment);
    context.after(() => stopProcess(child));
    return { url, kill: () => stopProcess(child, 'SIGKILL'), ...clientOf(url, database) };
  };
  return { database, start };
}
