import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { errorOf, inTestMode, startAuthz, type TestAuthz } from './testing.ts';

const given = {
  DEMO_ADMIN_PASSWORD: 'a',
  DEMO_EDITOR_PASSWORD: 'editor password',
  DEMO_VIEWER_PASSWORD: 'viewer password',
};

await inTestMode((world) => {
  test('makes three accounts with passwords of their own, and keeps them', async (context) => {
    const first = await startAuthz(context, world);
    const passwords = await passwordsInForce(first);
    assert.deepEqual(Object.keys(passwords), ['admin', 'editor', 'viewer']);
    assert.equal(new Set(Object.values(passwords)).size, 3);
    for (const password of Object.values(passwords)) assert.match(password, /^[\w-]{16}$/);
    const files = (await readdir(first.dataFolder)).filter((name) => name.startsWith('authz-demo-'));
    assert.deepEqual(files.sort(), [
      'authz-demo-admin.json',
      'authz-demo-editor.json',
      'authz-demo-viewer.json',
    ]);
    for (const file of files) {
      assert.equal((await stat(join(first.dataFolder, file))).mode & 0o777, 0o600);
    }
    const again = await startAuthz(context, world, { beside: first });
    assert.deepEqual(await passwordsInForce(again), passwords);
  });

  test('takes the passwords of the settings, also when they change, and keeps them', async (context) => {
    const first = await startAuthz(context, world, { environment: given });
    assert.deepEqual(await passwordsInForce(first), {
      admin: 'a',
      editor: 'editor password',
      viewer: 'viewer password',
    });
    const changed = { ...given, DEMO_EDITOR_PASSWORD: 'another password' };
    const second = await startAuthz(context, world, { beside: first, environment: changed });
    assert.equal((await passwordsInForce(second)).editor, 'another password');
    const attempt = { username: 'editor', password: 'editor password', remoteAddress: '' };
    assert.equal((await errorOf(first.client.login(attempt))).code, 'unauthenticated');
    const third = await startAuthz(context, world, { beside: first });
    assert.deepEqual(await third.running.demoSignIns?.(), []);
    await third.client.login({ ...attempt, password: 'another password' });
  });

  test('replicas that start at once agree, with one data folder', async (context) => {
    const first = await startAuthz(context, world, { nodeEnv: 'production' });
    const replicas = await Promise.all([1, 2, 3].map(() => startAuthz(context, world, { beside: first })));
    const passwords = await Promise.all(replicas.map(passwordsInForce));
    assert.equal(Object.keys(passwords[0] ?? {}).length, 3);
    assert.deepEqual(passwords[1], passwords[0]);
    assert.deepEqual(passwords[2], passwords[0]);
    assert.equal(
      (await readdir(first.dataFolder)).filter((name) => name.startsWith('authz-demo-')).length,
      3,
    );
  });

  test('replicas with the same settings start at once', async (context) => {
    const first = await startAuthz(context, world, { nodeEnv: 'production' });
    const start = () => startAuthz(context, world, { beside: first, environment: given });
    for (const replica of await Promise.all([start(), start(), start()])) {
      assert.equal(Object.keys(await passwordsInForce(replica)).length, 3);
    }
  });

  if (world.databaseUrl) {
    test('a replica that cannot know a password does not claim to', async (context) => {
      const first = await startAuthz(context, world);
      const dataFolder = testFolder('authz');
      const second = await startAuthz(context, world, { beside: first, dataFolder });
      assert.deepEqual(await second.running.demoSignIns?.(), []);
      assert.equal(Object.keys(await passwordsInForce(first)).length, 3);
    });
  }

  test('a demo account with a new password is a real one', async (context) => {
    const first = await startAuthz(context, world);
    await first.client.updateAccount({ username: 'admin', password: 'correct horse' });
    const second = await startAuthz(context, world, { beside: first, environment: given });
    assert.deepEqual(Object.keys(await passwordsInForce(second)), ['editor', 'viewer']);
    await second.client.login({ username: 'admin', password: 'correct horse', remoteAddress: '' });
  });

  test('in production there are none, and those of before are of no use', async (context) => {
    const first = await startAuthz(context, world, { environment: given });
    const subject = { uid: 1, username: 'admin', role: 'admin', mfaVerified: true };
    const production = await startAuthz(context, world, {
      beside: first,
      environment: given,
      nodeEnv: 'production',
    });
    assert.equal(production.running.demoSignIns, undefined);
    const { accounts } = await production.client.listAccounts({});
    assert.deepEqual(
      accounts.map(({ disabled }) => disabled),
      [true, true, true],
    );
    const attempt = { username: 'admin', password: given.DEMO_ADMIN_PASSWORD, remoteAddress: '' };
    assert.equal((await errorOf(production.client.login(attempt))).code, 'unauthenticated');
    assert.equal(
      (await production.client.decide({ subject, resourceType: 'post', action: 'read' })).allowed,
      false,
    );

    await production.client.updateAccount({ username: 'admin', password: 'correct horse' });
    await production.client.login({ ...attempt, password: 'correct horse' });
    assert.equal(
      (await production.client.decide({ subject, resourceType: 'post', action: 'read' })).allowed,
      true,
    );
  });

  test('a name that a real account has is left alone', async (context) => {
    const first = await startAuthz(context, world, { nodeEnv: 'production' });
    await first.client.createAccount({ username: 'admin', password: 'correct horse', role: 'viewer' });
    const second = await startAuthz(context, world, { beside: first, environment: given });
    assert.deepEqual(Object.keys(await passwordsInForce(second)), ['editor', 'viewer']);
    const { account } = await second.client.login({
      username: 'admin',
      password: 'correct horse',
      remoteAddress: '',
    });
    assert.deepEqual([account?.uid, account?.role], [4, 'viewer']);
  });

  test('a file of a password that cannot be read stops the start, by name', async (context) => {
    const dataFolder = testFolder('authz');
    await writeFile(join(dataFolder, 'authz-demo-editor.json'), '{"password": "half');
    await assert.rejects(
      startAuthz(context, world, { dataFolder }),
      /authz-demo-editor\.json cannot be read/,
    );
    assert.match(await readFile(join(dataFolder, 'authz-demo-editor.json'), 'utf8'), /half/);
  });
});

async function passwordsInForce({ running, client }: TestAuthz): Promise<Record<string, string>> {
  const signIns = (await running.demoSignIns?.()) ?? [];
  for (const { username, password, role } of signIns) {
    const { account } = await client.login({ username, password, remoteAddress: '192.0.2.1' });
    assert.equal(account?.role, role);
  }
  return Object.fromEntries(signIns.map(({ username, password }) => [username, password]));
}
