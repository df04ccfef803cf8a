import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';

const entry = join(import.meta.dirname, '../apps/octavo/octavo.js');
const { url, skip } = await testDatabaseUrl();

test('the commands that a backup prints for PostgreSQL save every schema and bring it back', {
  skip: skip || missingTools(),
}, () => {
  const folder = testFolder('backup');
  const address = withPassword(url as string);
  const environment = {
    DATABASE_URL: address.href,
    PGPASSWORD: decodeURIComponent(address.password),
    OCTAVO_DATA: folder,
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
  };
  const env = { ...process.env, ...environment };
  const octavo = (args: string[], input = '') =>
    execFileSync(process.execPath, [entry, ...args], { env, input, encoding: 'utf8' });
  octavo(['migrate']);
  octavo(['accounts', 'add', 'alice', 'editor'], 'a long enough password\n');
  const file = join(folder, "it's a backup.tar");
  const printed = octavo(['backup', file]);
  assert.equal(existsSync(file), false, 'there is no SQLite database to archive');
  assert.ok(!printed.includes(address.password), printed);
  const [dump, restore] = printed.split('\n').filter((line) => line.startsWith('  pg_')) as [string, string];
  execFileSync('sh', ['-c', dump], { env });
  octavo(['accounts', 'role', 'alice', 'admin']);
  execFileSync('sh', ['-c', restore], { env });
  assert.match(octavo(['accounts', 'list']), /alice +editor/);
  octavo(['migrate']);
});

describe('the files of the data folder in a backup', () => {
  test('are its secrets and stored objects, and come back with their modes and times', () => {
    const [source, target] = [dataFolder(), testFolder('restored')];
    const file = join(testFolder('backup'), 'backup.tar');
    const saved = octavo(['backup', file], source);
    assert.equal(saved.status, 0, saved.stderr);
    assert.match(
      saved.stdout,
      /databases posts, authz, passwordless\b[^;]*; files .*authz\.secret.*objects\/ \(1 file\);/,
    );
    assert.match(saved.stdout, /It holds secrets/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const restored = octavo(['restore', file], target);
    assert.equal(restored.status, 0, restored.stderr);
    for (const name of keptFiles) {
      assert.equal(readFileSync(join(target, name), 'utf8'), readFileSync(join(source, name), 'utf8'), name);
      assert.equal(statSync(join(target, name)).mode & 0o777, 0o600, name);
      const [before, after] = [source, target].map((folder) =>
        Math.floor(statSync(join(folder, name)).mtimeMs / 1_000),
      );
      assert.equal(after, before, name);
      assert.match(
        restored.stdout,
        new RegExp(`${name.replace('objects/exports/a.csv', 'objects/')}.* restored`),
      );
    }
    for (const name of ['objects/.incoming/begun', 'mine.txt'])
      assert.ok(!existsSync(join(target, name)), name);
  });

  test('are not restored over other secrets, unless that is wanted', () => {
    const [source, target] = [dataFolder(), testFolder('other')];
    const file = join(testFolder('backup'), 'backup.tar');
    octavo(['backup', file], source);
    writeFileSync(join(target, 'passwordless.secret'), 'another secret');
    const refused = octavo(['restore', file], target);
    assert.equal(refused.status, 64);
    assert.match(refused.stderr, /has another passwordless\.secret than the backup.*--force/);
    assert.ok(!existsSync(join(target, 'authz.secret')) && !existsSync(join(target, 'posts.sqlite')));
    assert.equal(octavo(['restore', file, '--force'], target).status, 0);
    assert.equal(readFileSync(join(target, 'passwordless.secret'), 'utf8'), 'of passwordless.secret');
  });

  test('name the secrets that only the settings hold', () => {
    const { stdout } = octavo(['backup', join(testFolder('backup'), 'backup.tar')], dataFolder(), {
      AUTHZ_SECRET: 'a secret of the settings that is long enough',
    });
    assert.match(stdout, /Save these settings too, the backup does not hold them: AUTHZ_SECRET\n/);
    assert.ok(!stdout.includes('long enough'));
  });

  test('do not leave their places: an archive with other names is refused', () => {
    const folder = testFolder('forged');
    mkdirSync(join(folder, 'files'));
    for (const name of ['mine.txt', 'objects']) {
      writeFileSync(join(folder, 'files', name), 'x');
      execFileSync('tar', ['-cf', 'forged.tar', `files/${name}`], { cwd: folder });
      const refused = octavo(['restore', join(folder, 'forged.tar')], testFolder('restored'));
      assert.equal(refused.status, 64, name);
      assert.match(refused.stderr, /which no service here has/);
    }
    execFileSync(
      'tar',
      ['-cPf', 'forged.tar', '--transform=s,mine.txt,objects/../../escaped,', 'files/mine.txt'],
      {
        cwd: folder,
      },
    );
    assert.match(
      octavo(['restore', join(folder, 'forged.tar')], testFolder('restored')).stderr,
      /which no service here has/,
    );
  });
});

test('nothing is restored while services run, not even with --force', async () => {
  const folder = testFolder('running');
  const file = join(testFolder('backup'), 'backup.tar');
  octavo(['backup', file], dataFolder());
  const { child } = await startProcess('tokens', { OCTAVO_DATA: folder, LOG_LEVEL: 'error' });
  const refused = octavo(['restore', file, '--force'], folder);
  assert.equal(refused.status, 64);
  assert.match(refused.stderr, /services are running on .*: stop them first/);
  await stopProcess(child, 'SIGKILL');
  assert.equal(octavo(['restore', file], folder).status, 0);
});

let migratedFolder: string | undefined;
const keptFiles = [
  'authz.secret',
  'authz-demo-editor.json',
  'gateway-jwt-secret',
  'passwordless.secret',
  'portfolio-jwt-secret',
  'chat-secret',
  'objects/exports/a.csv',
];

/** A data folder with migrated databases, every kind of kept file, and files that no backup holds. */
function dataFolder(): string {
  const folder = testFolder('data');
  cpSync(migrated(), folder, { recursive: true });
  mkdirSync(join(folder, 'objects/exports'), { recursive: true });
  mkdirSync(join(folder, 'objects/.incoming'));
  for (const name of [...keptFiles, 'objects/.incoming/begun', 'mine.txt'])
    writeFileSync(join(folder, name), `of ${name}`);
  return folder;
}

/** A folder with migrated databases, made once. */
function migrated(): string {
  if (!migratedFolder) {
    migratedFolder = testFolder('migrated');
    octavo(['migrate'], migratedFolder);
  }
  return migratedFolder;
}

function octavo(args: string[], folder: string, settings: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, OCTAVO_DATA: folder, ...settings };
  return spawnSync(process.execPath, [entry, ...args], { env, encoding: 'utf8' });
}

function withPassword(address: string): URL {
  const place = new URL(address);
  place.password ||= 'secret-of-the-test';
  return place;
}

/** Reason against the tools of PostgreSQL; they read servers of their own version and older ones. */
function missingTools(): string | false {
  try {
    const [tool, server] = [
      execFileSync('pg_dump', ['--version'], { encoding: 'utf8' }),
      execFileSync('psql', ['-At', '-c', 'show server_version', url ?? ''], { encoding: 'utf8' }),
    ].map((version) => Number(/\d+/.exec(version)?.[0]));
    if (Number(tool) >= Number(server)) return false;
    return `pg_dump ${tool} cannot read PostgreSQL ${server}`;
  } catch {
    return 'pg_dump and psql are missing';
  }
}
