import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFolder } from '../testing/folder.ts';

const protoFolder = fileURLToPath(new URL('../../proto', import.meta.url));

test('the generated code is what `npm run proto` makes of the schema', () => {
  const folder = testFolder('proto');
  execFileSync('buf', ['generate', '-o', folder], { cwd: protoFolder });
  const made = globSync('**/*.ts', { cwd: join(folder, 'gen') }).sort();
  const kept = globSync('**/*.ts', { cwd: join(protoFolder, 'gen') }).sort();
  assert.deepEqual(kept, made);
  for (const file of made) {
    const [keptCode, madeCode] = [join(protoFolder, 'gen', file), join(folder, 'gen', file)].map((path) =>
      readFileSync(path, 'utf8'),
    );
    assert.ok(keptCode === madeCode, `${file} is out of date`);
  }
});
