import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alice, claimsOf, inTestMode, refused, startService } from '../testing.ts';

await inTestMode((world) => {
  test('wrong codes of strangers, however many, do not keep a right one from signing in', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { codes } = (await service.post('/recovery-codes', undefined, token)).json;
    const enter = (code: string) => service.post('/recovery/verify', { email: alice, code });
    for (let index = 0; index < 120; index++) refused(await enter(`AAAA-${index}`), 401, 'INVALID_CODE');
    const response = await enter(codes[0]);
    assert.equal(response.status, 200);
    const { sub, amr } = claimsOf(response.json.access_token);
    assert.deepEqual([sub, amr], [claimsOf(token).sub, ['recovery']]);
    refused(await enter(codes[0]), 401, 'INVALID_CODE');
  });

  test('the requests of a client are limited', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_VERIFY_PER_IP: '3', PASSWORDLESS_TRUST_PROXY: '1' };
    const service = await startService(context, world, { environment });
    const enter = (from: string) =>
      service.call('POST', '/recovery/verify', {
        body: { email: alice, code: 'AAAA' },
        headers: { 'x-forwarded-for': from },
      });
    for (let index = 0; index < 3; index++) refused(await enter('192.0.2.1'), 401, 'INVALID_CODE');
    refused(await enter('192.0.2.1'), 429, 'RATE_LIMITED');
    refused(await enter('192.0.2.2'), 401, 'INVALID_CODE');
  });
});
