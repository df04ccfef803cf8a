import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFolder } from '../testing/folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kept = join(root, 'proto/gen');

test('the generated code is what `npm run proto` makes of the schema', () => {
  const folder = testFolder('proto');
  execFileSync('buf', ['generate', '-o', folder], { cwd: root });
  const generated = join(folder, 'proto/gen');
  const files = globSync('**/*.ts', { cwd: generated }).sort();
  assert.deepEqual(globSync('**/*.ts', { cwd: kept }).sort(), files);
  for (const file of files) {
    const [keptCode, madeCode] = [kept, generated].map((base) => readFileSync(join(base, file), 'utf8'));
    assert.ok(keptCode === madeCode, `${file} is out of date`);
  }
});

test('the descriptors for gRPC reflection are those of the schema', () => {
  const file = join(testFolder('descriptors'), 'descriptors.binpb');
  execFileSync('buf', ['build', 'proto', '--path', 'proto/budget', '--exclude-source-info', '-o', file], {
    cwd: root,
  });
  assert.ok(readFileSync(file).equals(readFileSync(join(kept, 'budget/descriptors.binpb'))));
});
