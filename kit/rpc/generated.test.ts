import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { buf, bufSkip } from '../testing/buf.ts';
import { testFolder } from '../testing/folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kept = join(root, 'proto/gen');

test('the generated code is what `npm run proto` makes of the schema', { skip: bufSkip }, () => {
  const folder = testFolder('proto');
  buf('generate', '-o', folder);
  const generated = join(folder, 'proto/gen');
  const files = globSync('**/*.ts', { cwd: generated }).sort();
  assert.deepEqual(globSync('**/*.ts', { cwd: kept }).sort(), files);
  for (const file of files) {
    const [keptCode, madeCode] = [kept, generated].map((base) => readFileSync(join(base, file), 'utf8'));
    assert.ok(keptCode === madeCode, `${file} is out of date`);
  }
});

test('the descriptors for gRPC reflection are those of the schema', { skip: bufSkip }, () => {
  const file = join(testFolder('descriptors'), 'descriptors.binpb');
  const paths = ['--path', 'proto/budget', '--path', 'proto/grpc'];
  buf('build', 'proto', ...paths, '--exclude-source-info', '-o', file);
  assert.ok(readFileSync(file).equals(readFileSync(join(kept, 'budget/descriptors.binpb'))));
});
