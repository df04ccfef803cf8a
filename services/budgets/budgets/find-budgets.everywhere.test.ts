import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { openServiceDatabase } from '@octavo/data/service';
import { testConfig, testContext, testFolder, testMode } from '@octavo/testing';
import { decodeJwt } from 'jose';
import { authenticateSession } from '../authentication/index.ts';
import type { Context } from '../commands.ts';
import { budgets } from '../service.ts';
import type { Tables } from '../store/tables.ts';
import { startBudgets } from '../testing.ts';
import { findBudgets, findSpending } from './index.ts';

const { databaseUrl: url } = await testMode();

test('of many ids, only the budgets of the caller are found, whoever asks for them', async () => {
  const folder = testFolder('budgets-found');
  await using service = await startBudgets({ folder, environment: { DATABASE_URL: url } });
  const [alice, bob] = [await service.person('alice'), await service.person('bob')];
  const [hers, his] = [
    await alice.create('/api/budgets', { name: 'Hers', limit: 100 }),
    await bob.create('/api/budgets', { name: 'His', limit: 100 }),
  ];
  const { clock } = service;
  const config = testConfig(budgets.settings, { DATABASE_URL: url });
  const around = testContext('budgets', { log: silentLog, clock, dataFolder: folder });
  await using db = await openServiceDatabase<Tables, typeof budgets.settings>(budgets, config, around);
  const context: Context = { db, clock, config, onCommitted: () => {} };
  const caller = await authenticateSession(context, decodeJwt(alice.token).jti ?? '');
  assert.ok(caller);
  const ids = [hers.id, his.id];
  assert.deepEqual([...(await findBudgets(context, caller, ids)).keys()], [hers.id]);
  assert.deepEqual([...(await findSpending(context, caller, ids, '')).keys()], [hers.id]);
  assert.equal((await findBudgets(context, caller, [])).size, 0);
});
