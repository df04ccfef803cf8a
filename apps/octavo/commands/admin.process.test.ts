import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, type Settings } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { databaseSettings, openDatabase } from '@octavo/data';
import { defineService, type Service } from '@octavo/data/service';
import {
  type AccountTables,
  accountMigrations,
  accountSettings,
  openAccounts,
} from '@octavo/people/accounts';
import { testFolder } from '@octavo/testing';
import { octavo } from '../../../proof/command-line.ts';
import { run } from './admin.ts';

const fixture = defineService({
  name: 'fixture',
  summary: 'A service with accounts',
  settings: { ...databaseSettings, ...accountSettings },
  migrations: [accountMigrations],
  build: async () => ({}),
}) as unknown as Service<Settings, never>;
const password = 'correct horse battery';

test('creates an administrator, and sets the password of an account', async () => {
  const environment = {
    OCTAVO_DATA: testFolder('admin'),
    LOG_LEVEL: 'silent',
    NODE_ENV: 'test',
    ARGON2_MEMORY_KIB: '8',
    ADMIN_PASSWORD: password,
  };
  const admin = (args: string[], changes: object = {}) =>
    run(args, { ...environment, ...changes }, async () => [fixture]);
  assert.equal(await admin(['create', 'fixture', 'Alice']), 0);
  await assert.rejects(admin(['create', 'fixture', 'alice']), { reason: 'USERNAME_TAKEN' });
  await assert.rejects(admin(['create', 'fixture', 'bob'], { ADMIN_PASSWORD: 'short' }), {
    reason: 'WEAK_PASSWORD',
  });
  assert.equal(await admin(['password', 'fixture', 'ALICE'], { ADMIN_PASSWORD: `${password} 2` }), 0);
  await assert.rejects(admin(['password', 'fixture', 'nobody']), { code: 'not_found' });
  await assert.rejects(admin(['create', 'fixture']), { code: 'invalid_input', message: /usage/ });
  await using stack = new AsyncDisposableStack();
  const place = { name: 'fixture', url: undefined, folder: environment.OCTAVO_DATA };
  const database = stack.use(
    await openDatabase<AccountTables>({ ...place, migrations: [accountMigrations], log: silentLog }),
  );
  const config = readConfig(accountSettings, environment);
  const accounts = await openAccounts({ database, config, log: silentLog, words: [], stack });
  const alice = await accounts.signIn({ username: 'alice', password: `${password} 2` });
  assert.ok(alice.isStaff && alice.isSuperuser);
});

test('refuses a service without accounts of its own, and one that does not exist', async () => {
  const environment = { OCTAVO_DATA: testFolder('admin'), LOG_LEVEL: 'silent' };
  const without = await octavo(['admin', 'create', 'tokens', 'alice'], environment, `${password}\n`);
  assert.equal(without.stderr, 'octavo: tokens has no administrators of its own\n');
  assert.equal(without.code, 64);
  const unknown = await octavo(['admin', 'create', 'nothing', 'alice'], environment, `${password}\n`);
  assert.match(unknown.stderr, /unknown service nothing/);
});
