import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import pg from 'pg';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';

/** Data that version 0.1.0 wrote (`proof/upgrade/`): 304 posts, a stored export, an account with an authenticator app. */
interface Written {
  readonly editorPassword: string;
  readonly totpSecret: string;
  readonly recoveryCode: string;
}

const onSqlite: Written = {
  editorPassword: '_AfhQ4sIGZPvoTrM',
  totpSecret: 'CHUATE564Y2NMVBFA7KG6VUGE756UGVL',
  recoveryCode: 'BUI2-Q774-L2BL-HFS5',
};
const onPostgres: Written = {
  editorPassword: 'Z19CwQM94iu9WCKq',
  totpSecret: '5VPPHSLGOABVLN2G5YAAO56DFKB6XIWV',
  recoveryCode: 'ZRQ5-JE6R-WVPP-TCMW',
};
const email = 'alice@example.test';
const fixtures = join(import.meta.dirname, 'upgrade');
const octavo = join(import.meta.dirname, '../apps/octavo/octavo.js');

describe('data of version 0.1.0 on SQLite', () => {
  test('opens and works', () => checkServices(onSqlite, { OCTAVO_DATA: unpack('sqlite-folder') }));

  test('is restored from its backup', async () => {
    const folder = unpack('sqlite-folder');
    for (const name of ['posts', 'authz', 'passwordless']) rmSync(join(folder, `${name}.sqlite`));
    restore('sqlite', { OCTAVO_DATA: folder });
    await checkServices(onSqlite, { OCTAVO_DATA: folder });
  });

  test('goes on whole in an empty folder, from a backup of this version', async () => {
    const [folder, file] = [testFolder('upgrade'), join(testFolder('upgrade'), 'backup')];
    octavoWith(['backup', file], { OCTAVO_DATA: unpack('sqlite-folder') });
    octavoWith(['restore', file], { OCTAVO_DATA: folder });
    await checkServices(onSqlite, { OCTAVO_DATA: folder });
  });
});

const [dumped, restored] = [await testDatabaseUrl(), await testDatabaseUrl()];

describe('data of version 0.1.0 on PostgreSQL', { skip: dumped.skip }, () => {
  test('opens and works', async () => {
    await load(dumped.url ?? '');
    await checkServices(onPostgres, { OCTAVO_DATA: unpack('postgres-folder'), DATABASE_URL: dumped.url });
  });

  test('is restored from its backup', async () => {
    const environment = { OCTAVO_DATA: unpack('postgres-folder'), DATABASE_URL: restored.url };
    restore('postgres', environment);
    await checkServices(onPostgres, environment);
  });
});

type Environment = Record<string, string | undefined>;

async function checkServices(written: Written, environment: Environment): Promise<void> {
  const settings = { LOG_LEVEL: 'error', ...environment };
  const gateway = await startProcess('gateway', settings);
  await checkPosts(gateway.url, written);
  await stopProcess(gateway.child);
  const passwordless = await startProcess('passwordless', settings);
  await checkSignIn(passwordless.url, written);
  await stopProcess(passwordless.child);
}

async function checkPosts(url: string, { editorPassword }: Written): Promise<void> {
  const signedIn = await call(url, '/api/v1/auth/login', { username: 'editor', password: editorPassword });
  const { token } = signedIn.data;
  const get = (path: string) => call(url, path, undefined, token);
  const list = await get('/api/v1/posts?pageSize=1&sortBy=title&sortOrder=asc');
  assert.equal(list.pagination.totalItems, 304);
  for (const [search, found] of [
    ['single', 5],
    ['grüße', 75],
    ['京', 75],
    ['😀', 75],
    ['deleted', 0],
  ] as const) {
    const page = await get(`/api/v1/posts?search=${encodeURIComponent(search)}`);
    assert.equal(page.pagination.totalItems, found, search);
  }
  assert.equal((await get('/api/v1/posts/4')).data.title, 'Changed title');
  assert.equal((await get('/api/v1/posts/305/sentiment')).data.label, 'positive');
  assert.equal((await get('/api/v1/exports')).data.length, 1);
  assert.equal((await get('/api/v1/posts/analytics')).data.totalPosts, 304);
  const created = await call(url, '/api/v1/posts', { title: 'After', body: 'the upgrade' }, token);
  assert.equal(created.data.id, 306);
  assert.equal((await get('/api/v1/posts?search=upgrade')).pagination.totalItems, 1);
}

async function checkSignIn(url: string, { totpSecret, recoveryCode }: Written): Promise<void> {
  const { access_token } = await call(url, '/totp/verify', { email, code: codeOf(totpSecret) });
  assert.equal((await call(url, '/me', undefined, access_token)).email, email);
  assert.ok((await call(url, '/recovery/verify', { email, code: recoveryCode })).access_token);
}

// biome-ignore lint/suspicious/noExplicitAny: the contracts' own tests check the shapes.
async function call(url: string, path: string, body?: object, token?: string): Promise<any> {
  const response = await fetch(new URL(path, url), {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.ok, `${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** The code of an authenticator app now (RFC 6238: SHA-1, 30 s, six digits). */
function codeOf(secret: string): string {
  const digits = [...secret].map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter));
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac('sha1', key).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function unpack(name: string): string {
  const folder = testFolder('upgrade');
  execFileSync('tar', ['-xzf', join(fixtures, `${name}.tar.gz`), '-C', folder]);
  return folder;
}

function restore(name: string, environment: Environment): void {
  const file = join(testFolder('upgrade'), 'backup');
  writeFileSync(file, gunzipSync(readFileSync(join(fixtures, `${name}.backup.gz`))));
  octavoWith(['restore', file], environment);
}

function octavoWith(args: readonly string[], environment: Environment): void {
  execFileSync(process.execPath, [octavo, ...args], { env: { PATH: process.env.PATH, ...environment } });
}

async function load(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public');
  await client.query(gunzipSync(readFileSync(join(fixtures, 'postgres.sql.gz'))).toString());
  await client.end();
}
