import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '@octavo/core/log';
import { RecentErrors } from './recent-errors.ts';

test('the last 50 errors are kept, newest first, and every line is passed on', () => {
  const lines: string[] = [];
  const errors = new RecentErrors({ write: (line) => void lines.push(line) });
  const log = createLog({ service: 'chat', destination: errors });
  log.info({ level: 'error' }, 'no error');
  log.warn('"level":"error"');
  for (let number = 1; number <= 60; number++)
    log.error(
      { err: new TypeError(`cause ${number}`), password: 'secret-1', requestId: `r${number}` },
      'failed',
    );
  log.fatal('x'.repeat(10_000));
  assert.equal(lines.length, 63);
  const found = errors.list();
  assert.equal(found.length, 50);
  assert.equal(found[0]?.message.length, 501);
  const { time, ...second } = found[1] ?? {};
  assert.ok(Date.parse(time ?? '') > 0);
  assert.deepEqual(second, {
    service: 'chat',
    message: 'failed',
    cause: 'TypeError: cause 60',
    requestId: 'r60',
  });
  assert.doesNotMatch(JSON.stringify(found), /secret/);
});
