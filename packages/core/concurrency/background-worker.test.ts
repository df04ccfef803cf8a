import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

/** Module that answers twice, and goes on with work that cannot be interrupted. */
const busy = `data:text/javascript,${encodeURIComponent(`
  import { pbkdf2Sync } from 'node:crypto';
  import { parentPort } from 'node:worker_threads';
  parentPort.on('message', () => {
    parentPort.postMessage('one');
    parentPort.postMessage('two');
    pbkdf2Sync('password', 'salt', 1_000_000, 32, 'sha256');
  });
`)}`;

test('a worker that is given up while it answers keeps the process until it has ended', () => {
  const said = run(`
    worker.on('message', () => worker.unref());
    worker.ref();
    worker.postMessage('work');
    await once(worker, 'message');
    await worker.end();
    console.log('ended');
  `);
  assert.equal(said, 'ended\n');
});

test('a worker with nothing to do lets the process end', () => {
  const said = run(`worker.on('exit', () => console.log('not reached'));`);
  assert.equal(said, '');
});

/** Returns the output of a program with a worker; throws unless it exits with 0. */
function run(program: string): string {
  const setUp = `
    import { once } from 'node:events';
    import { BackgroundWorker } from ${JSON.stringify(new URL('./background-worker.ts', import.meta.url))};
    const worker = new BackgroundWorker(new URL(${JSON.stringify(busy)}), {});
  `;
  const args = ['--input-type=module', '-e', setUp + program];
  return execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 });
}
