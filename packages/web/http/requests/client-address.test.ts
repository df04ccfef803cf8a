import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HttpApp } from '../server.ts';
import { startTestServer } from '../testing.ts';
import { clientAddress, parseTrustedProxies } from './client-address.ts';

function addRoutes(app: HttpApp): void {
  app.get('/me', { access: 'public' }, async (request) => ({ address: clientAddress(request) }));
}

async function addressOf(proxies: string | undefined, forwarded?: string): Promise<unknown> {
  await using server = await startTestServer(addRoutes, { trustedProxy: parseTrustedProxies(proxies) });
  const given = forwarded === undefined ? {} : { headers: { 'x-forwarded-for': forwarded } };
  return ((await server.send('/me', given)).json as { address: unknown }).address;
}

describe("a client's address", () => {
  test('is that of the connection, whatever it claims, without trusted proxies', async () => {
    for (const proxies of [undefined, '', '0', '10.0.0.0/8']) {
      assert.equal(await addressOf(proxies, '203.0.113.9'), '127.0.0.1');
    }
  });

  test('is what the nearest untrusted hop is called by the trusted ones', async () => {
    const cases: [string, string, string][] = [
      ['1', '203.0.113.9', '203.0.113.9'],
      ['1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['2', '198.51.100.1, 203.0.113.9', '198.51.100.1'],
      ['5', '198.51.100.1, 203.0.113.9', '198.51.100.1'],
      ['127.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['127.0.0.0/8, 203.0.113.0/24', '198.51.100.1, 203.0.113.9', '198.51.100.1'],
      ['127.0.0.1, 2001:db8::/32', '198.51.100.1, 2001:db8::7', '198.51.100.1'],
      ['127.0.0.1', '2001:db8::7', '2001:db8::7'],
      ['127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
      ['127.0.0.1', '0:0:0:0:0:ffff:cb00:7109', '203.0.113.9'],
    ];
    for (const [proxies, forwarded, address] of cases) {
      assert.equal(await addressOf(proxies, forwarded), address, `${proxies}: ${forwarded}`);
    }
  });

  test('is that of the connection where the header is malformed', async () => {
    for (const forwarded of ['unknown', '', '203.0.113.9, evil', '1.2.3', ', ,']) {
      assert.equal(await addressOf('1', forwarded), '127.0.0.1', forwarded);
    }
    assert.equal(await addressOf('1'), '127.0.0.1');
  });

  test('needs a valid list of proxies', () => {
    for (const text of ['x', '10.0.0.0/33', '::1/129', '10.0.0.1,', '-1', '1.5', 'localhost']) {
      assert.throws(() => parseTrustedProxies(text), /number of hops or a list of addresses/, text);
    }
  });
});

describe('a trusted proxy', () => {
  test('that ended TLS adds Strict-Transport-Security', async () => {
    await using behind = await startTestServer(addRoutes, { trustedProxy: parseTrustedProxies('127.0.0.1') });
    const secure = await behind.send('/me', { headers: { 'x-forwarded-proto': 'https' } });
    assert.equal(secure.headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains');
    assert.equal((await behind.send('/me')).headers.get('strict-transport-security'), null);
    await using bare = await startTestServer(addRoutes);
    const claimed = await bare.send('/me', { headers: { 'x-forwarded-proto': 'https' } });
    assert.equal(claimed.headers.get('strict-transport-security'), null);
  });
});
