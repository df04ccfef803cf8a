import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  type AuthenticationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import fc from 'fast-check';
import type { Passkey, RelyingParty } from './passkey.ts';
import { verifyAssertion } from './passkey-assertion.ts';
import { Unverified } from './passkey-client-data.ts';
import { type Algorithm, type Forgery, SoftwareAuthenticator } from './testing-authenticator.ts';

const origin = 'https://sign-in.example.com';
const party: RelyingParty = {
  id: 'example.com',
  name: 'Example',
  origins: [origin],
  userVerification: 'preferred',
};
const challenge = randomBytes(32).toString('base64url');
const parts = ['clientDataJSON', 'authenticatorData', 'signature'] as const;

/** Changes one byte of one part, or cuts or lengthens it. */
const damage = fc.record({
  part: fc.constantFrom(...parts),
  at: fc.nat(),
  value: fc.integer({ min: 0, max: 255 }),
  change: fc.constantFrom('set', 'cut', 'append', 'none'),
});
const forgery = fc.record<Forgery>(
  {
    origin: fc.constantFrom(origin, 'https://evil.example', `${origin}:443`),
    rpId: fc.constantFrom('example.com', 'evil.example'),
    challenge: fc.constantFrom(challenge, 'AAAA'),
    type: fc.constantFrom('webauthn.get', 'webauthn.create'),
    present: fc.boolean(),
    verified: fc.boolean(),
    backedUp: fc.boolean(),
    counter: fc.constantFrom(0, 1, 7, 8, 2 ** 32 - 1),
  },
  { requiredKeys: [] },
);

for (const algorithm of [-7, -8, -257] as const) {
  test(`whatever is sent, the verdict is that of the library (${algorithm})`, async () => {
    const { device, passkey } = await holder(algorithm);
    const seen = { taken: 0, refused: 0 };
    const sameVerdict = async (forged: Forgery, { part, at, value, change }: Damage, counter: number) => {
      const { response, ...rest } = device.get({ challenge, rpId: party.id }, forged);
      const given = {
        ...rest,
        response: { ...response, [part]: damaged(response[part], { at, value, change }) },
      };
      const held = { ...passkey, counter };
      const [ours, theirs] = [await isTaken(given, held), await isTakenByLibrary(given, held)];
      seen[ours ? 'taken' : 'refused']++;
      // The library takes signatures that are no strict DER, such as with bytes behind them.
      const isSame = ours === theirs || (part === 'signature' && change !== 'none' && !ours);
      assert.ok(isSame, JSON.stringify({ forged, part, at, value, change, counter, ours, theirs }));
    };
    const property = fc.asyncProperty(
      fc.oneof(fc.constant({}), forgery),
      damage,
      fc.constantFrom(0, 7),
      sameVerdict,
    );
    await fc.assert(property, { numRuns: 300 });
    assert.ok(seen.taken > 10 && seen.refused > 10, JSON.stringify(seen));
  });
}

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(text: string, { at, value, change }: Omit<Damage, 'part'>): string {
  const bytes = Buffer.from(text, 'base64url');
  if (change === 'set') bytes[at % bytes.length] = value;
  const cut = change === 'cut' ? bytes.subarray(0, at % bytes.length) : bytes;
  return Buffer.concat([cut, change === 'append' ? Buffer.of(value) : Buffer.alloc(0)]).toString('base64url');
}

async function holder(algorithm: Algorithm): Promise<{ device: SoftwareAuthenticator; passkey: Passkey }> {
  const device = new SoftwareAuthenticator({ origin, algorithm, backupEligible: true });
  const created = device.create({ challenge, rp: { id: party.id }, user: { id: 'AAAA' } });
  const { registrationInfo } = await verifyRegistrationResponse({
    response: created,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: party.id,
    supportedAlgorithmIDs: [algorithm],
  });
  assert.ok(registrationInfo);
  const { id, publicKey } = registrationInfo.credential;
  const times = { createdAtMs: 0, lastUsedAtMs: undefined };
  const about = {
    userId: 'alice',
    transports: [],
    name: '',
    isBackupEligible: true,
    isBackedUp: false,
    ...times,
  };
  return { device, passkey: { id, publicKey, counter: 0, ...about } };
}

async function isTaken(response: AuthenticationResponseJSON, passkey: Passkey): Promise<boolean> {
  try {
    await verifyAssertion(response, challenge, party, passkey);
    return true;
  } catch (error) {
    if (error instanceof Unverified) return false;
    throw error;
  }
}

async function isTakenByLibrary(response: AuthenticationResponseJSON, passkey: Passkey): Promise<boolean> {
  try {
    const { verified } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: party.id,
      requireUserVerification: false,
      credential: { id: passkey.id, publicKey: passkey.publicKey, counter: passkey.counter },
    });
    return verified;
  } catch {
    return false;
  }
}
