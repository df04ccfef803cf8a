// Runs at the end of `npm ci`: starts everything once, on free ports and a folder that is thrown away, so that what was compiled is there
// for the first start that somebody waits for. Where that fails the installation goes on; `octavo up` then says what is wrong.
//
// Plain JavaScript, since any Node >= 20 that npm brings along must be able to read it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const longestMs = 30_000;
const entry = join(import.meta.dirname, 'octavo.js');

try {
  const folder = mkdtempSync(join(tmpdir(), 'octavo-prepare-'));
  try {
    await startAndStop(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
} catch (error) {
  console.error(`octavo: nothing was compiled beforehand: ${error.message}`);
}

/** With the flags of `npm start`, which what is compiled depends on; in a folder and with an environment that hold nobody's settings. */
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
  if (status !== 0) throw new Error(`it ended with ${status}`);
}
