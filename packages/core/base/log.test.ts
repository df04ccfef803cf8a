import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from './log.ts';

test('the log hides secrets, but shows the codes of errors', () => {
  const lines: Record<string, Record<string, unknown>>[] = [];
  const log = createLog({ service: 'test', destination: { write: (line) => lines.push(JSON.parse(line)) } });
  for (const code of ['ECONNREFUSED', 'ERR_SQLITE_ERROR', 'not_found', 'timeout', '23505']) {
    log.error({ err: Object.assign(new Error('failed'), { code, token: 'secret-1' }) }, 'failed');
    assert.equal(lines.at(-1)?.err?.code, code);
  }
  log.error({ code: 'secret-2', body: { code: 'secret-3', password: 'secret-4' } }, 'failed');
  log.error({ totp: { code: '123456' }, recovery: { code: 'ABCDE-FGHIJ' }, code: '123456' }, 'failed');
  assert.doesNotMatch(JSON.stringify(lines), /secret|123456|ABCDE/);
});
