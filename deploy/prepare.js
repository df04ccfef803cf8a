// Runs at the end of `npm ci`: removes the headers of Node, and in production what only development needs. Then it starts everything once, on
// free ports and in a temporary folder, to fill the compile cache before the first real start. If that fails, the installation continues, and `octavo up` reports the problem.
//
// Plain JavaScript, because npm may run it with any Node >= 20.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropHeaders, isForProduction, prune } from './prune.js';

const longestMs = 60_000;
const entry = join(import.meta.dirname, '../apps/octavo/octavo.js');
const packages = join(import.meta.dirname, '..', 'node_modules');

dropHeaders(packages);
if (isForProduction(packages)) prune(packages);

try {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-prepare-'));
  try {
    await startAndStop(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
} catch (error) {
  console.error(`octavo: the compile cache was not filled: ${error.message}`);
}

/** With the flags of `npm start`, on which the cache depends, and without any settings of the user. */
async function startAndStop(folder) {
  const child = spawn('node', ['--max-semi-space-size=8', entry, 'up', '--port', '0', '--data', folder], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      LOG_LEVEL: 'fatal',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: AbortSignal.timeout(longestMs),
  });
  child.stdout.on('data', (text) => {
    if (text.includes('Ready in')) child.kill('SIGTERM');
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`the process exited with ${status}`);
}
