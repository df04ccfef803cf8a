import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { natsIsMissing, startTestNats } from '@octavo/testing/engines';
import { NatsLink } from './link.ts';

test('what the server has no room for is unavailable, and what it refuses is not', {
  skip: natsIsMissing(),
}, async () => {
  const { url } = await startTestNats();
  await using link = new NatsLink({ url, name: 'test', log: silentLog });
  const add = (config: object) =>
    link.use(({ manager }) => manager.streams.add({ name: 'LARGE', ...config }));
  await assert.rejects(add({ max_bytes: 2 ** 60 }), { code: 'unavailable' });
  await assert.rejects(add({ subjects: ['a..b'] }), ({ code }: { code: unknown }) => code !== 'unavailable');
});
