import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';

const module = new URL('./stop-signal.ts', import.meta.url).href;
/** A step of some minutes that no thread can interrupt. */
const endlessStep = `const { pbkdf2Sync } = require('node:crypto');
  require('node:worker_threads').parentPort.postMessage('begun');
  pbkdf2Sync('', '', 2 ** 30, 64, 'sha512');`;

describe('a process that was asked to stop', () => {
  test('ends within its grace time, whatever a worker does', async () => {
    const child = start(300);
    await printed(child);
    child.kill('SIGTERM');
    assert.equal(await ending(child), 'octavo: did not stop within 0.3 s; the process is killed\n');
  });

  test('ends at once when it is asked again', async () => {
    const child = start(60_000);
    await printed(child);
    child.kill('SIGTERM');
    await printed(child);
    child.kill('SIGTERM');
    assert.equal(await ending(child), 'octavo: stopped by a second signal; the process is killed\n');
  });
});

function start(graceMs: number) {
  const script = `
    import { Worker } from 'node:worker_threads';
    import { stopSignal } from '${module}';
    const stopped = stopSignal(${graceMs});
    const worker = new Worker(${JSON.stringify(endlessStep)}, { eval: true, execArgv: [] });
    worker.once('message', () => setTimeout(() => console.log('started'), 100));
    await stopped;
    console.log('stopping');
    await worker.terminate();`;
  const args = ['--input-type=module', '-e', script];
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 10_000,
    killSignal: 'SIGABRT',
  });
}

async function printed(child: ReturnType<typeof start>): Promise<void> {
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(10_000) });
}

async function ending(child: ReturnType<typeof start>): Promise<string> {
  const [text, [code, signal]] = await Promise.all([
    Array.fromAsync(child.stderr.setEncoding('utf8')),
    once(child, 'exit'),
  ]);
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
  return text.join('');
}
