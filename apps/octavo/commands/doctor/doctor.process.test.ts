import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { mountingIsForbidden, mountSmallDisk, startTestS3, testDatabaseUrl } from '@octavo/testing/engines';
import { entry, octavo } from '../../../../proof/command-line.ts';
import { diagnose } from './doctor.ts';

const secret = '4f1c9a02be7d63581f0e6a7c9d2b4835';

/** The problems of settings, as `subject: text; fix`. */
async function problems(settings: Record<string, string>, names = ['polls'], clock?: FakeClock) {
  const environment = { OCTAVO_DATA: testFolder('data'), PORT: '0', GRPC_PORT: '0', ...settings };
  const folder = testFolder('project');
  const findings = await diagnose({ names, environment, folder, ...(clock && { clock }) });
  return findings.filter(({ fix }) => fix).map(({ subject, text, fix }) => `${subject}: ${text}; ${fix}`);
}

/** Makes one mistake, and expects that it alone is found. */
async function finds(expected: RegExp, settings: Record<string, string>, names?: string[]): Promise<void> {
  const found = await problems(settings, names);
  assert.equal(found.length, 1, found.join('\n'));
  assert.match(found[0] as string, expected);
}

async function takenPort(context: TestContext): Promise<string> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  return String((server.address() as AddressInfo).port);
}

test('a machine without mistakes is told so, and help says what the command does', async () => {
  const settings = { OCTAVO_DATA: testFolder('data') };
  const { code, stdout } = await octavo(['doctor', '--port', '0'], { ...settings, GRPC_PORT: '0' });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^ok {4}Node +26[\s\S]*ok {4}data folder[\s\S]*\nNothing is wrong\.\n$/);
  const help = await octavo(['doctor', '--help']);
  assert.deepEqual([help.code, /Usage: octavo doctor \[NAME\.\.\.\]/.test(help.stdout)], [0, true]);
});

test('a mistake gives exit status 1 and a line with the remedy', async (context) => {
  const port = await takenPort(context);
  const { code, stdout } = await octavo(['doctor', 'polls', '--port', port], {
    OCTAVO_DATA: testFolder('data'),
  });
  assert.equal(code, 1);
  const line = `FAIL  port of polls         port ${port} on 127.0.0.1 is in use\n +fix: stop what holds it`;
  assert.match(stdout, new RegExp(`${line}[\\s\\S]*\nWrong: 1\n$`));
});

test('a port that a service of Octavo holds is no mistake', async (context) => {
  const service = createHttpServer((_request, response) => response.end('{"status":"ready","checks":{}}'));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  context.after(() => service.close());
  assert.deepEqual(await problems({ PORT: String((service.address() as AddressInfo).port) }), []);
});

describe('mistakes with the machine', () => {
  test('a port that is taken, or needs rights', async (context) => {
    await finds(/^port of polls: port \d+ on 127\.0\.0\.1 is in use; stop what holds it/, {
      PORT: await takenPort(context),
    });
    await finds(/^port of polls: .*does not have that address; .*HOST/, {
      HOST: '192.0.2.1',
      NODE_ENV: 'production',
      POLLS_SECRET: secret,
    });
  });

  test('a data folder that is a file', async () => {
    const file = join(testFolder('data'), 'file');
    writeFileSync(file, '');
    await finds(/^data folder: .*is a file where a folder is expected.*; .*OCTAVO_DATA/, {
      OCTAVO_DATA: file,
    });
  });

  test('a data folder, or a file in it, of another user', { skip: process.getuid?.() !== 0 }, async () => {
    const OCTAVO_DATA = testFolder('data');
    writeFileSync(join(OCTAVO_DATA, 'polls.secret'), 'x');
    chownSync(join(OCTAVO_DATA, 'polls.secret'), 12_345, 12_345);
    await finds(/^data folder: .*polls\.secret belongs to another user.*; chown -R 0 /, { OCTAVO_DATA });
    chownSync(OCTAVO_DATA, 12_345, 12_345);
    await finds(/^data folder: .* belongs to user 12345, and this is user 0.*; run Octavo as its owner/, {
      OCTAVO_DATA,
    });
  });

  test('a disk that is nearly full', { skip: mountingIsForbidden() }, async () => {
    const disk = mountSmallDisk(1024 * 1024);
    await finds(/^disk: .* has 0\.0 GB free.*; free at least 1 GB/, { OCTAVO_DATA: disk.folder });
  });

  test('too few open files', { skip: process.platform !== 'linux' }, () => {
    const script = `ulimit -n 256; exec ${process.execPath} ${entry} doctor polls --port 0`;
    const env = { PATH: process.env.PATH, OCTAVO_DATA: testFolder('data') };
    const { status, stdout } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
    assert.equal(status, 1, stdout);
    assert.match(stdout, /FAIL {2}open files +this process may open 256 files.*\n +fix: .*LimitNOFILE=65536/);
  });

  test('a database that was copied while in use', async () => {
    const OCTAVO_DATA = testFolder('data');
    const file = join(OCTAVO_DATA, 'polls.sqlite');
    const database = new DatabaseSync(file);
    database.exec(
      `CREATE TABLE poll (id INTEGER PRIMARY KEY, text TEXT); CREATE INDEX by_text ON poll (text);
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO poll SELECT i, hex(randomblob(20)) FROM n`,
    );
    const pages = database.prepare('PRAGMA page_count').get()?.page_count as number;
    database.close();
    // A page of the middle as it was before.
    spawnSync('dd', [
      'if=/dev/zero',
      `of=${file}`,
      'bs=4096',
      `seek=${pages >> 1}`,
      'count=2',
      'conv=notrunc',
    ]);
    await finds(/^database polls: .*polls\.sqlite is damaged .*; restore a backup/, { OCTAVO_DATA });
  });
});

describe('mistakes with settings', () => {
  test('a value that is no value, and a name that is no name', async () => {
    await finds(/^settings: DATABASE_URL must be an address.*; correct it/, { DATABASE_URL: 'localhost' });
    await finds(/^settings: POLLS_SECERT is not a setting.*; did you mean POLLS_SECRET\?$/, {
      POLLS_SECERT: secret,
    });
    await finds(/^settings: PORT must be a whole number/, { PORT: 'http' });
  });

  test('secrets that can be guessed, repeat, or can be read by all', async () => {
    await finds(/^secrets: POLLS_SECRET is a placeholder.*; .*openssl rand -hex 32/, {
      POLLS_SECRET: 'changeme-changeme-changeme-changeme',
    });
    await finds(/^secrets: POLLS_SECRET repeats few characters/, { POLLS_SECRET: 'ab'.repeat(20) });
    await finds(/^secrets: RPC_TOKEN is shorter than 32 bytes/, { RPC_TOKEN: 'a1b2c3d4e5f6' });
    await finds(/^secrets: POLLS_SECRET is the same as RPC_TOKEN/, {
      POLLS_SECRET: secret,
      RPC_TOKEN: secret,
    });
    const folder = testFolder('project');
    writeFileSync(join(folder, '.env'), `POLLS_SECRET=${secret}\n`);
    chmodSync(join(folder, '.env'), 0o644);
    const environment = { OCTAVO_DATA: testFolder('data'), PORT: '0' };
    const found = await diagnose({ names: ['polls'], environment, folder });
    const wrong = found.filter(({ fix }) => fix);
    assert.match(wrong[0]?.fix ?? '', /^chmod 600 .*\.env$/);
    assert.equal(wrong.length, 1);
  });

  test('a secret is never printed', async () => {
    const found = await problems({
      POLLS_SECRET: 'changeme-abcdefghijklmnopqrstuvwxyz',
      RPC_TOKEN: 'short-one',
    });
    assert.equal(found.length, 2);
    assert.doesNotMatch(found.join(), /abcdefghij|short-one/);
  });

  test('public addresses that do not work', async () => {
    const production = { NODE_ENV: 'production', POLLS_SECRET: secret, TRUST_PROXY: '127.0.0.1' };
    await finds(/^addresses: POLLS_URL is not https:\/\//, { POLLS_URL: 'http://polls.example.com' });
    await finds(/^addresses: POLLS_URL is localhost, which only this machine can open/, {
      ...production,
      POLLS_URL: 'http://localhost:3000',
    });
    await finds(/^addresses: SUITE_SITES \(polls\) is not https/, { SUITE_SITES: 'polls=http://192.0.2.1' });
    await finds(/^addresses: TRUST_PROXY is not set, so all people .*; set TRUST_PROXY/, {
      POLLS_URL: 'https://192.0.2.1',
    });
    await finds(/^addresses: everybody who reaches 0\.0\.0\.0 can use the demo accounts/, {
      HOST: '0.0.0.0',
    });
  });
});

test('models that administrators connected are asked, and a database is not made or changed for it', async (context) => {
  const server = createHttpServer((_request, response) => response.end('{"data":[{"id":"small"}]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const OCTAVO_DATA = testFolder('data');
  const file = join(OCTAVO_DATA, 'chat.sqlite');
  const told = async () => {
    const { stdout } = await octavo(['doctor', 'chat', '--port', '0'], { OCTAVO_DATA });
    assert.doesNotMatch(stdout, /a-key/);
    return stdout.slice(stdout.search(/^\w+ +models/m)).split(/\n\n/)[0] as string;
  };
  assert.match(await told(), /^ok {4}models +nothing is connected: there is no database yet$/);
  assert.ok(!existsSync(file));
  const database = new DatabaseSync(file);
  context.after(() => database.close());
  database.exec('CREATE TABLE document (id text)');
  assert.match(await told(), /^ok {4}models +nothing is connected at \/settings$/);
  database.exec(`CREATE TABLE connection (kind text PRIMARY KEY, base_url text NOT NULL, model text NOT NULL, api_key text, changed_at_ms bigint NOT NULL);
    INSERT INTO connection VALUES ('llm', 'http://127.0.0.1:${(server.address() as AddressInfo).port}/v1', 'small', NULL, 1),
      ('reranker', 'http://127.0.0.1:1', '', 'a-key', 1)`);
  assert.match(
    await told(),
    /^ok {4}models +language model of \/settings: small is there\nFAIL {2}models +reranker of \/settings: The key was encrypted with another CHAT_SECRET\n +fix: set the former CHAT_SECRET/,
  );
});

describe('mistakes with engines', () => {
  test('a database that does not respond', async () => {
    await finds(/^PostgreSQL: PostgreSQL at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\).*; start/, {
      DATABASE_URL: 'postgres://me:a-secret@127.0.0.1:1/x',
    });
  });

  test('a broker that does not respond', async () => {
    const found = await problems({ NATS_URL: 'nats://me:a-secret@127.0.0.1:1' }, ['posts']);
    assert.match(found.join('\n'), /^NATS: 127\.0\.0\.1:1 cannot be used: .*; start NATS with JetStream/);
    assert.doesNotMatch(found.join(), /a-secret/);
  });

  test('a bucket that does not exist, and a server that does not respond', async () => {
    const { endpoint, credentials } = await startTestS3();
    const keys = {
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
    const bucket = { S3_ENDPOINT: endpoint, S3_BUCKET: 'missing', ...keys };
    await finds(/^S3: missing does not exist; create the bucket/, bucket, ['gateway']);
    await finds(
      /^S3: test cannot be reached: .*; .*S3_ENDPOINT/,
      { S3_ENDPOINT: 'http://127.0.0.1:1', S3_BUCKET: 'test', ...keys },
      ['gateway'],
    );
  });

  test('a mail server that does not respond, and a sender that it would refuse', async () => {
    const server = { SMTP_HOST: '127.0.0.1', SMTP_PORT: '1' };
    await finds(
      /^mail server: 127\.0\.0\.1:1 takes no mail: .*; correct SMTP_HOST/,
      { ...server, BUDGETS_MAIL_FROM: 'Budgets <budgets@example.com>' },
      ['budgets'],
    );
    const found = await problems({ ...server, NODE_ENV: 'development' }, ['budgets']);
    assert.match(found.join('\n'), /BUDGETS_MAIL_FROM is an address at localhost.*; set BUDGETS_MAIL_FROM/);
  });
});

const { url = '', skip } = await testDatabaseUrl();

test('a clock that is wrong, which the database tells', { skip }, async () => {
  const [found, ...others] = await problems(
    { DATABASE_URL: url },
    ['polls'],
    new FakeClock(Date.now() + 90_000),
  );
  assert.match(found ?? '', /^PostgreSQL: the clock of this machine is (89|90|91) s ahead .*set-ntp true/);
  assert.deepEqual([others, await problems({ DATABASE_URL: url })], [[], []]);
});
