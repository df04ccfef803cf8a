import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorTimeMs } from './processor-time.ts';

test('the processor time of a process is what the process itself measures', {
  skip: process.platform !== 'linux',
}, async () => {
  const ownMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  const before = ownMs();
  const told = await processorTimeMs(process.pid);
  assert.ok(told >= before - 50 && told <= ownMs() + 50, `${told} beside ${before}`);
});

test('a process that is not there has used no processor time', async () => {
  assert.equal(await processorTimeMs(undefined), 0);
});
