import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { loadServices, upNames } from '../apps/octavo/index.ts';
import { octavo, quick } from './command-line.ts';

/** Services with a database; that of the gateway is the one of posts, which runs inside it. */
const owners = (await loadServices(upNames())).filter(({ settings }) => 'DATABASE_URL' in settings);
const stores = ['gateway', ...owners.map(({ name }) => name)];

/** Starts a service that cannot start, and returns the one line that says why. */
async function problemOf(service: string, settings: Record<string, string>, data = testFolder('data')) {
  const environment = { ...quick, OCTAVO_DATA: data, ...settings };
  const { code, stderr } = await octavo(['serve', service, '--port', '0'], environment);
  assert.match(stderr, /^octavo: [^\n]+\n$/, `${service} ${JSON.stringify(settings)}`);
  return { code, line: stderr };
}

test('the address of a database is checked before anything starts', async () => {
  for (const service of stores) {
    const { code, line } = await problemOf(service, { DATABASE_URL: 'mysql://me:a-secret@host/x' });
    assert.match(line, /DATABASE_URL must be an address such as postgres:\/\/user:password@host:5432/);
    assert.ok(code === 78 && !line.includes('a-secret'), line);
  }
});

test('a database that cannot be reached is named, with what to do', async () => {
  for (const service of stores) {
    const { code, line } = await problemOf(service, { DATABASE_URL: 'postgres://me:a-secret@127.0.0.1:1/x' });
    assert.match(
      line,
      /PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)\. Start it, or correct/,
    );
    assert.ok(code === 69 && !line.includes('a-secret'), line);
  }
});

const { url, skip } = await testDatabaseUrl();

test('a database that refuses every connection is named, with its reason', { skip }, async () => {
  const address = new URL(url as string);
  address.pathname = '/no_such_database_of_octavo';
  const { code, line } = await problemOf('polls', { DATABASE_URL: address.href });
  assert.match(
    line,
    /refuses it: database "no_such_database_of_octavo" does not exist\. Correct DATABASE_URL/,
  );
  assert.equal(code, 69);
});

test('a folder in the place of a kept secret is named', async () => {
  for (const [service, name] of [
    ['gateway', 'gateway-jwt-secret'],
    ['passwordless', 'passwordless.secret'],
    ['budgets', 'budgets.secret'],
  ] as const) {
    const data = testFolder('data');
    mkdirSync(join(data, name));
    const { code, line } = await problemOf(service, {}, data);
    assert.ok(code === 69 && line.includes(`${join(data, name)} is a folder where a file is expected`), line);
  }
});

test('files for TLS of gRPC that do not fit are named by their settings', async () => {
  const folder = testFolder('tls');
  const file = join(folder, 'no.pem');
  writeFileSync(file, 'no PEM');
  const [certificate, key] = ['BUDGETS_GRPC_CERTIFICATE_FILE', 'BUDGETS_GRPC_KEY_FILE'];
  for (const [settings, words] of [
    [{ [certificate]: file }, `${key} is required with ${certificate}`],
    [{ [certificate]: file, [key]: file }, `${certificate} must hold a certificate in PEM`],
    [{ [certificate]: join(folder, 'none'), [key]: file }, `${join(folder, 'none')} does not exist`],
    [{ [certificate]: folder, [key]: file }, `${folder} is a folder where a file is expected`],
  ] as const) {
    const { code, line } = await problemOf('budgets', settings);
    assert.ok(code === 78 && line.includes(words), line);
  }
});

test('a host that does not exist is named', async () => {
  for (const service of ['polls', 'budgets']) {
    const { code, line } = await problemOf(service, { HOST: 'nowhere.invalid' });
    assert.ok(code === 69 && /on nowhere\.invalid cannot be used: the host does not exist/.test(line), line);
  }
});
