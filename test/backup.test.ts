import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#kit/testing/folder.ts';
import { testDatabaseUrl } from '#kit/testing/postgres.ts';

const entry = join(import.meta.dirname, '../bin/octavo.js');
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

function withPassword(address: string): URL {
  const place = new URL(address);
  place.password ||= 'secret-of-the-test';
  return place;
}

/** Why the tools of PostgreSQL cannot be used here; they read servers of their own version and older ones. */
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
