import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { decodeProtectedHeader } from 'jose';
import { alice, inTestMode, startService, type TestService } from '../testing.ts';
import { attempt, exchange, register, responseOf, signInto, startProvider } from './testing.ts';

const dayMs = 86_400_000;

await inTestMode((world) => {
  describe('signing keys', () => {
    test('replicas agree on them: published a day ahead, signing for 90 days, served for another 7', async (t) => {
      const service = await startProvider(t, world);
      const environment = { PASSWORDLESS_MAGIC_LINK_BASE_URL: '', PASSWORDLESS_URL: service.url };
      const replica = await startService(t, world, { beside: service, environment });
      const both = [service, replica] as const;
      const first = await published(both);
      assert.equal(first.length, 1);
      const app = await register(service);
      const { browser, tokens } = await signInto(service, app, alice);
      assert.equal(kidOf(tokens.id_token), first[0]);
      const sign = async (by: TestService) => {
        // A sign-in does not last for so long.
        const untilMs = service.clock.now() + dayMs;
        await service.database.write(({ kysely }) =>
          kysely.updateTable('session').set({ expires_at_ms: untilMs }).execute(),
        );
        const client = new PageClient(by.url);
        for (const [name, value] of browser.cookies) client.cookies.set(name, value);
        const { path, verifier } = attempt(app);
        const response = await client.open(path);
        for (const [name, value] of client.cookies) browser.cookies.set(name, value);
        return kidOf((await exchange(by, app, { code: responseOf(response).code, verifier })).json.id_token);
      };
      const startMs = service.clock.now();
      service.clock.set(startMs + 88 * dayMs);
      assert.deepEqual(await published(both), first);
      service.clock.set(startMs + 89.5 * dayMs);
      const announced = await published(both);
      assert.deepEqual([announced.length, announced[0]], [2, first[0]]);
      assert.deepEqual([await sign(service), await sign(replica)], [first[0], first[0]]);
      service.clock.set(startMs + 90.1 * dayMs);
      assert.deepEqual((await published(both)).toSorted(), announced.toSorted());
      assert.deepEqual([await sign(service), await sign(replica)], [announced[1], announced[1]]);
      service.clock.set(startMs + 96.9 * dayMs);
      assert.equal((await published(both)).length, 2);
      service.clock.set(startMs + 97.1 * dayMs);
      assert.deepEqual(await published(both), [announced[1]]);
      const rows = await service.database.kysely.selectFrom('oidc_key').selectAll().execute();
      assert.equal(rows.length, 1);
      assert.doesNotMatch(JSON.stringify(rows), /"crv|P-256/, 'they are encrypted');
    });
  });
});

/** The ids of the published keys, which all replicas agree on; asked at the same time. */
async function published(services: readonly TestService[]): Promise<string[]> {
  const found = await Promise.all(
    services.map(async (service) => {
      const { keys } = (await service.get('/oidc/jwks')).json;
      for (const key of keys)
        assert.deepEqual(Object.keys(key).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      return keys.map(({ kid }: { kid: string }) => kid) as string[];
    }),
  );
  for (const other of found) assert.deepEqual(other, found[0]);
  return found[0] ?? [];
}

function kidOf(idToken: string): string | undefined {
  return decodeProtectedHeader(idToken).kid;
}
