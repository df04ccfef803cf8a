import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';

import { signalHint } from './stop-signal.ts';

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

describe('a process that npm started', () => {
  test('stops when npm is gone without passing on a signal', async () => {
    const child = `
      import { stopSignal } from '${module}';
      const stopped = stopSignal({ parentCheckMs: 20 });
      const alive = setTimeout(() => {}, 5_000);
      console.log('started');
      await stopped;
      clearTimeout(alive);
      console.log('stopped');`;
    const parent = spawn(
      process.execPath,
      [
        '-e',
        `
      const { spawn } = require('node:child_process');
      const args = ['--input-type=module', '-e', ${JSON.stringify(child)}];
      spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, npm_lifecycle_event: 'start' } });`,
      ],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: 60_000,
      },
    );
    await printed(parent);
    parent.kill('SIGKILL');
    // The pipe ends when the child has ended.
    const rest = (await Array.fromAsync(parent.stdout.setEncoding('utf8'))).join('');
    assert.equal(rest, 'stopped\n');
  });

  test('says which npm does not pass signals on', () => {
    const hint = (agent?: string) => signalHint({ npm_config_user_agent: agent });
    for (const version of ['9.9.4', '8.19.0', '10.2.5']) {
      assert.match(hint(`npm/${version} node/v20.0.0 linux x64`) ?? '', /does not pass on SIGTERM/, version);
    }
    for (const agent of ['npm/10.3.0 node/v20', 'npm/11.19.1 node/v26', 'pnpm/9.0.0', undefined]) {
      assert.equal(hint(agent), undefined);
    }
  });
});

function start(graceMs: number) {
  const script = `
    import { Worker } from 'node:worker_threads';
    import { stopSignal } from '${module}';
    const stopped = stopSignal({ graceMs: ${graceMs} });
    const worker = new Worker(${JSON.stringify(endlessStep)}, { eval: true, execArgv: [] });
    worker.once('message', () => setTimeout(() => console.log('started'), 100));
    await stopped;
    console.log('stopping');
    await worker.terminate();`;
  const args = ['--input-type=module', '-e', script];
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
    killSignal: 'SIGABRT',
  });
}

async function printed(child: Pick<ReturnType<typeof start>, 'stdout'>): Promise<void> {
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
}

async function ending(child: ReturnType<typeof start>): Promise<string> {
  const [text, [code, signal]] = await Promise.all([
    Array.fromAsync(child.stderr.setEncoding('utf8')),
    once(child, 'exit'),
  ]);
  assert.deepEqual([code, signal], [null, 'SIGKILL']);
  return text.join('');
}
