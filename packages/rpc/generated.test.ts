import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { buf, bufSkip } from '@octavo/testing/engines';

const kept = fileURLToPath(new URL('../protocols/gen', import.meta.url));

test('the generated code is what `npm run proto` makes of the schema', { skip: bufSkip }, () => {
  const folder = testFolder('proto');
  buf('generate', '-o', folder);
  const generated = join(folder, 'gen');
  const files = globSync('**/*.ts', { cwd: generated }).sort();
  assert.deepEqual(globSync('**/*.ts', { cwd: kept }).sort(), files);
  for (const file of files) {
    const [keptCode, madeCode] = [kept, generated].map((base) => readFileSync(join(base, file), 'utf8'));
    assert.ok(keptCode === madeCode, `${file} is out of date`);
  }
});

test('the descriptors for gRPC reflection are those of the schema', { skip: bufSkip }, () => {
  const file = join(testFolder('descriptors'), 'descriptors.binpb');
  const paths = ['--path', 'budget', '--path', 'grpc'];
  buf('build', ...paths, '--exclude-source-info', '-o', file);
  assert.ok(readFileSync(file).equals(readFileSync(join(kept, 'budget/descriptors.binpb'))));
});
