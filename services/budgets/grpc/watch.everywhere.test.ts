import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { openTableEvents } from '@octavo/data/events';
import { openServiceDatabase } from '@octavo/data/service';
import { testFolder, testMode } from '@octavo/testing';
import { decodeJwt } from 'jose';
import { Registry } from 'prom-client';
import { authenticateSession, SessionWatch } from '../authentication/index.ts';
import type { Context } from '../commands.ts';
import { NotificationHub } from '../feed/index.ts';
import { expandEvents } from '../notifications/index.ts';
import { budgets } from '../service.ts';
import type { Tables } from '../store/tables.ts';
import { startBudgets } from '../testing.ts';
import { watchBudget } from './handlers.ts';

const { databaseUrl: url } = await testMode();

test('a watch loses no change between its first state and what follows', async () => {
  const folder = testFolder('budgets-watch');
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await startBudgets({ folder, environment: { DATABASE_URL: url } }));
  const alice = await service.person();
  const { id } = await alice.create('/api/budgets', { name: 'Watched', limit: 100 });

  // The watch of another replica, which is read state by state: a change comes in while the first one is on its way.
  const { clock } = service;
  const metrics = new Registry();
  const place = { dataFolder: folder, host: '127.0.0.1', port: 0, environment: 'test' as const };
  const config = readConfig(budgets.settings, { DATABASE_URL: url });
  const serviceContext = { ...place, log: silentLog, clock, metrics };
  const db = stack.use(
    await openServiceDatabase<Tables, typeof budgets.settings>(budgets, config, serviceContext),
  );
  const context: Context = { db, clock, config, onCommitted: () => {} };
  const times = { clock, leaseMs: 15_000, keptMs: 86_400_000 };
  const common = { database: db, source: '/octavo/budgets', log: silentLog, metrics };
  const events = stack.use(openTableEvents({ ...common, ...times, expand: expandEvents }));
  const hub = stack.use(new NotificationHub(events, stack.use(new SessionWatch(context, silentLog))));
  const caller = await authenticateSession(context, decodeJwt(alice.token).jti ?? '');
  assert.ok(caller);
  const signal = AbortSignal.timeout(60_000);
  const parts = { context, hub, stopping: new AbortController().signal };
  const watch = watchBudget(parts, id, { caller, signal });
  const spent = async () => (await watch.next()).value?.budget?.spent?.units;
  assert.equal(await spent(), 0);
  await alice.create('/api/expenses', { budgetId: id, description: 'Tea', amount: 1 });
  assert.equal(await spent(), 1);
  await watch.return(undefined);
});
