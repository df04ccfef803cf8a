import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { claimFolder, shareFolder } from './folder-lock.ts';

const folder = join(testFolder('lock'), 'data');
const module = new URL('./folder-lock.ts', import.meta.url).href;

test('a folder is shared by many, and claimed by one while no process shares it', () => {
  {
    using _first = shareFolder(folder);
    using _second = shareFolder(folder);
    assert.throws(() => claimFolder(folder), { code: 'conflict', message: /services are running on .+data/ });
  }
  using _claim = claimFolder(folder);
  assert.throws(() => claimFolder(folder), { code: 'conflict' });
  assert.equal(statSync(join(folder, 'octavo.lock')).mode & 0o777, 0o600);
});

test('the share of another process ends with it, even if it is killed', async () => {
  const script = `import { shareFolder } from '${module}';
    globalThis.share = shareFolder(${JSON.stringify(folder)}); console.log('shared'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  assert.throws(() => claimFolder(folder), { code: 'conflict' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  claimFolder(folder)[Symbol.dispose]();
});
