import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inTestMode, startAuthz } from './testing.ts';

await inTestMode((world) => {
  describe('sessions of people whose last role was taken away', () => {
    for (const [defaultRole, goesOn] of [
      ['viewer', true],
      ['none', false],
    ] as const) {
      test(`${goesOn ? 'go on' : 'end'} with OIDC_DEFAULT_ROLE=${defaultRole}`, async (t) => {
        const { client } = await startAuthz(t, world, {
          environment: {
            OIDC_ISSUER: 'http://127.0.0.1:9',
            OIDC_CLIENT_ID: 'posts',
            OIDC_DEFAULT_ROLE: defaultRole,
          },
        });
        const [rita, vic] = ['rita', 'vic'].map((subject) => ({ subject, name: subject, keepsRole: false }));
        assert.ok(rita && vic);
        const expiresAtMs = 4_000_000_000_000;
        for (const person of [rita, vic]) {
          const { account } = await client.identifyPerson({ ...person, roles: ['editor'] }, {});
          assert.equal(account?.role, 'editor');
          const session = { key: `key of ${person.subject}`, subject: person.subject, idToken: 'token' };
          await client.keepPersonSession({ ...session, expiresAtMs }, {});
        }
        const { account } = await client.identifyPerson({ ...rita, roles: ['superuser'] }, {});
        assert.equal(account?.role, 'viewer');
        const { idToken } = await client.endPersonSession({ key: 'key of rita' }, {});
        assert.equal(idToken, goesOn ? 'token' : undefined);
        assert.equal((await client.endPersonSession({ key: 'key of vic' }, {})).idToken, 'token');
      });
    }
  });
});
