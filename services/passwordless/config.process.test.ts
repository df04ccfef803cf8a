import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Environment } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { configOf } from '@octavo/data/service';
import { testFolder } from '@octavo/testing';
import { passwordless } from './service.ts';
import { databaseOptionsOf, startService } from './testing.ts';

const folder = testFolder('passwordless-config');
const octavo = join(import.meta.dirname, '../../apps/octavo/octavo.js');
/** The specified keys with the values of the reference configuration. */
const reference = {
  jwt_secret: 'a-secret-that-is-32-characters-or-more',
  access_token_expiry_seconds: 900,
  refresh_token_expiry_seconds: 604_800,
  magic_link_expiry_seconds: 600,
  magic_link_base_url: 'https://sign-in.example.com/verify/magic',
  smtp_host: 'smtp.example.com',
  smtp_port: 587,
  smtp_username: 'mailer',
  smtp_password: 'the password of the mailer',
  email_from: 'sign-in@example.com',
  webauthn_rp_id: 'example.com',
  webauthn_origin: 'https://sign-in.example.com',
  webauthn_rp_name: 'Example',
  database_path: 'sign-in.sqlite',
};

async function fileOf(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

function tomlOf(values: Record<string, unknown>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join('');
}

function read(environment: Environment) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  return { config: configOf(passwordless, environment, log), lines };
}

test('every specified key is read from TOML and from JSON', async () => {
  const paths = [
    await fileOf('all.toml', tomlOf(reference)),
    await fileOf('all.json', JSON.stringify(reference)),
  ];
  for (const CONFIG_PATH of paths) {
    const { config, lines } = read({ CONFIG_PATH });
    for (const [key, value] of Object.entries(reference)) {
      assert.equal(config[`PASSWORDLESS_${key.toUpperCase()}` as keyof typeof config], value, key);
    }
    assert.deepEqual(lines, []);
  }
});

test('the environment wins over the file, the file over the suite, the suite over defaults', async () => {
  const CONFIG_PATH = await fileOf(
    'some.toml',
    tomlOf({ email_from: 'file@example.com', smtp_host: '', access_token_expiry_seconds: 60 }),
  );
  const suite = { SMTP_HOST: 'suite.example.com', SMTP_PORT: '2525', SMTP_USERNAME: 'suite' };
  const { config } = read({
    CONFIG_PATH,
    ...suite,
    PASSWORDLESS_EMAIL_FROM: 'environment@example.com',
    PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS: '',
  });
  assert.equal(config.PASSWORDLESS_EMAIL_FROM, 'environment@example.com');
  assert.equal(config.PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS, 60);
  assert.equal(config.PASSWORDLESS_SMTP_HOST, 'suite.example.com');
  assert.equal(config.PASSWORDLESS_SMTP_PORT, 2_525);
  assert.equal(config.PASSWORDLESS_SMTP_USERNAME, 'suite');
  assert.equal(config.PASSWORDLESS_REFRESH_TOKEN_EXPIRY_SECONDS, 604_800);
});

test('the password of the suite is not sent to another mail server', async () => {
  const CONFIG_PATH = await fileOf('mail.toml', tomlOf({ smtp_host: 'own.example.com' }));
  const suite = { SMTP_HOST: 'suite.example.com', SMTP_USERNAME: 'suite', SMTP_PASSWORD: 'secret' };
  const { config } = read({ CONFIG_PATH, ...suite });
  assert.equal(config.PASSWORDLESS_SMTP_HOST, 'own.example.com');
  assert.equal(config.PASSWORDLESS_SMTP_USERNAME, undefined);
  assert.equal(config.PASSWORDLESS_SMTP_PASSWORD, undefined);
  assert.equal(config.PASSWORDLESS_SMTP_PORT, 587);
});

test('the place of the database follows the same order', async () => {
  const inFile = await fileOf('path.toml', tomlOf({ database_path: join(folder, 'own.sqlite') }));
  const context = { dataFolder: folder } as never;
  const optionsOf = (environment: Environment) => databaseOptionsOf(read(environment).config, context);
  const suite = 'postgres://suite/db';
  assert.equal(optionsOf({ DATABASE_URL: suite }).url, suite);
  const own = optionsOf({ CONFIG_PATH: inFile, DATABASE_URL: suite });
  assert.deepEqual([own.url, own.folder, own.fileName], [undefined, folder, 'own.sqlite']);
  const named = { CONFIG_PATH: inFile, PASSWORDLESS_DATABASE_URL: 'postgres://own/db' };
  assert.equal(optionsOf(named).url, 'postgres://own/db');
  const both = { PASSWORDLESS_DATABASE_URL: suite, PASSWORDLESS_DATABASE_PATH: 'x' };
  assert.throws(() => optionsOf(both), /PASSWORDLESS_DATABASE_PATH must not be set together/);
});

test('secrets can be read from files, and the environment wins over them', async () => {
  const smtp_password_file = await fileOf('password', 'from a file\n');
  const CONFIG_PATH = await fileOf('secrets.toml', tomlOf({ smtp_password_file }));
  assert.equal(read({ CONFIG_PATH }).config.PASSWORDLESS_SMTP_PASSWORD, 'from a file');
  const other = await fileOf('other', 'from another\n');
  const stated = await fileOf('stated.toml', tomlOf({ smtp_password: 'stated' }));
  const given = read({ CONFIG_PATH: stated, PASSWORDLESS_SMTP_PASSWORD_FILE: other });
  assert.equal(given.config.PASSWORDLESS_SMTP_PASSWORD, 'from another');
});

test('an unknown key logs a warning with its name only', async () => {
  const CONFIG_PATH = await fileOf('typo.toml', tomlOf({ jwt_secrets: 'hush', JWT_SECRET: 'hush' }));
  const { lines } = read({ CONFIG_PATH });
  assert.deepEqual(
    lines.map(({ level, unknown }) => [level, unknown]),
    [['warn', ['jwt_secrets', 'JWT_SECRET']]],
  );
  assert.doesNotMatch(JSON.stringify(lines), /hush/);
});

test('an invalid value is refused with its key, and secrets are not shown', async () => {
  const cases: [string, string, RegExp][] = [
    [
      'bad.toml',
      'access_token_expiry_seconds = "soon"',
      /access_token_expiry_seconds \(.*bad\.toml\) must be a whole number/,
    ],
    ['type.toml', 'email_from = 7', /email_from \(.*\) must be text/],
    ['table.toml', '[jwt_secret]\nhush = "hush"', /jwt_secret \(.*\) must be text/],
    ['broken.toml', 'jwt_secret = "hush', /CONFIG_PATH \(.*\) is not well-formed: line 1/],
    ['broken.json', '{"jwt_secret": "hush', /CONFIG_PATH \(.*\) is not well-formed/],
    ['list.json', '[]', /CONFIG_PATH \(.*\) must contain keys and values/],
  ];
  for (const [name, text, expected] of cases) {
    const CONFIG_PATH = await fileOf(name, text);
    assert.throws(
      () => read({ CONFIG_PATH }),
      (error: Error & { reason?: string }) => {
        assert.equal(error.reason, 'CONFIG');
        assert.match(error.message, expected);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
  }
  assert.throws(
    () => read({ CONFIG_PATH: join(folder, 'none.toml') }),
    /CONFIG_PATH .* cannot be read: ENOENT/,
  );
});

test('a secret under 32 characters, or none in production, exits with status 78', async (context) => {
  const short = { environment: { PASSWORDLESS_JWT_SECRET: 'x'.repeat(31) } };
  await assert.rejects(startService(context, { databaseUrl: undefined }, short), {
    reason: 'CONFIG',
    message: /PASSWORDLESS_JWT_SECRET must be at least 32 characters/,
  });
  const shortBefore = { environment: { PASSWORDLESS_JWT_SECRET_PREVIOUS: 'x'.repeat(31) } };
  await assert.rejects(startService(context, { databaseUrl: undefined }, shortBefore), {
    reason: 'CONFIG',
    message: /PASSWORDLESS_JWT_SECRET_PREVIOUS must be at least 32 characters \(jwt_secret_previous\)/,
  });
  // Characters, not bytes or code units.
  await startService(
    context,
    { databaseUrl: undefined },
    { environment: { PASSWORDLESS_JWT_SECRET: '🔑'.repeat(32) } },
  );
  const config = await fileOf('short.toml', tomlOf({ jwt_secret: 'short' }));
  const serve = (args: string[], environment: Environment) =>
    spawnSync(process.execPath, [octavo, 'serve', 'passwordless', '--port', '0', ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, OCTAVO_DATA: join(folder, 'data'), ...environment },
      encoding: 'utf8',
    });
  const refused = serve(['--config', config], {});
  assert.equal(refused.status, 78, refused.stderr);
  assert.match(refused.stderr, /jwt_secret/);
  const missing = serve([], {
    NODE_ENV: 'production',
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'https://a.example/v',
  });
  assert.equal(missing.status, 78, missing.stderr);
  assert.match(missing.stderr, /PASSWORDLESS_JWT_SECRET .*is required/);
});

test('the database file is readable by its owner only, and is where the setting says', async (context) => {
  const path = join(folder, 'kept', 'sign-in.sqlite');
  const environment = { PASSWORDLESS_DATABASE_PATH: path };
  await startService(context, { databaseUrl: undefined }, { environment });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('a secret is generated once and readable by its owner only', async (context) => {
  const environment = { PASSWORDLESS_JWT_SECRET: '' };
  const { dataFolder } = await startService(context, { databaseUrl: undefined }, { environment });
  const file = join(dataFolder, 'passwordless.secret');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal((await readFile(file, 'utf8')).trim().length, 43);
});

test('octavo config shows the settings of the file, but no secret', async () => {
  const CONFIG_PATH = await fileOf('shown.toml', tomlOf(reference));
  const { stdout } = spawnSync(process.execPath, [octavo, 'config', 'passwordless'], {
    cwd: folder,
    env: { PATH: process.env.PATH, CONFIG_PATH },
    encoding: 'utf8',
  });
  assert.match(stdout, /^ {2}PASSWORDLESS_WEBAUTHN_RP_NAME=Example$/m);
  assert.match(stdout, /^ {2}PASSWORDLESS_JWT_SECRET=\(hidden\)$/m);
  for (const hidden of [reference.jwt_secret, reference.smtp_password]) assert.ok(!stdout.includes(hidden));
});
