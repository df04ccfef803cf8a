import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPortfolio } from './testing.ts';

test('clients may be set with blanks between, and what is wrong with them is named', async () => {
  const AUTH_CLIENTS = ' chat : a-long-secret , report:another-secret, ';
  await using closed = await startPortfolio({ environment: { AUTH_CLIENTS } });
  const headers = { authorization: '', 'x-api-key': 'chat:a-long-secret' };
  assert.equal((await closed.get('/auth/token', headers)).status, 200);
  for (const [text, problem] of [
    ['chat', /must be id:secret/],
    [' , ', /must be id:secret/],
    ['chat:short', /at least 8 bytes/],
    ['chat:a long secret', /no blank inside/],
    ['chat:a-long-secret,chat:another-secret', /ids that differ/],
  ] as const)
    await assert.rejects(startPortfolio({ environment: { AUTH_CLIENTS: text } }), problem, text);
});
