import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { testFolder } from '@octavo/testing';

test('the bench of growth asks a service, and draws what it found', { timeout: 300_000 }, async () => {
  const to = testFolder('growth');
  const bench = join(import.meta.dirname, 'bench/growth.ts');
  const names = ['portfolio', 'quotes'];
  await promisify(execFile)(process.execPath, [bench, '--smoke', '--to', to, ...names]);
  const files = readdirSync(to).sort();
  assert.deepEqual(
    files,
    names.flatMap((name) => [`${name}.json`, `${name}.md`, `${name}.svg`]),
  );
  for (const name of names) {
    const { records } = JSON.parse(readFileSync(join(to, `${name}.json`), 'utf8'));
    assert.ok(records.length >= 3, name);
    assert.ok(
      records.every(({ at, p95Ms, memoryMb }: Record<string, number>) => at === 100 && p95Ms && memoryMb),
    );
    assert.match(readFileSync(join(to, `${name}.svg`), 'utf8'), /^<svg [^>]*role="img"/);
  }
});
