import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Passkey, RelyingParty } from '../passkey.ts';
import { SoftwareAuthenticator } from '../testing-authenticator.ts';
import { Unverified, verifyAssertion, verifyRegistration } from './verification.ts';

const origin = 'https://sign-in.example.com';
const party: RelyingParty = {
  id: 'example.com',
  name: 'Example',
  origins: [origin],
  userVerification: 'preferred',
};
const challenge = randomBytes(32).toString('base64url');
const creation = { challenge, rp: { id: party.id }, user: { id: 'AAAA' } };

/** Changes one byte of a part, cuts it or lengthens it. */
const damage = fc.record({
  part: fc.nat(2),
  at: fc.nat(),
  value: fc.integer({ min: 0, max: 255 }),
  change: fc.constantFrom('set', 'cut', 'append'),
});

for (const algorithm of [-7, -8, -257] as const) {
  test(`a damaged sign-in is refused, and never an internal error (${algorithm})`, async () => {
    const device = new SoftwareAuthenticator({ origin, algorithm });
    const passkey = passkeyOf(await verifyRegistration(device.create(creation), challenge, party));
    const { response, ...rest } = device.get({ challenge, rpId: party.id });
    const parts = ['clientDataJSON', 'authenticatorData', 'signature'] as const;
    assert.equal(await isVerified({ ...rest, response }), true);
    const isRefused = async (given: Damage) => {
      const part = parts[given.part] ?? 'signature';
      const changed = damaged(response[part], given);
      if (changed === response[part]) return;
      const isGood = await isVerified({ ...rest, response: { ...response, [part]: changed } });
      // The library ignores what follows the DER of an ECDSA signature.
      assert.ok(!isGood || (part === 'signature' && algorithm === -7), JSON.stringify({ ...given, part }));
    };
    await fc.assert(fc.asyncProperty(damage, isRefused), { numRuns: 300 });

    function isVerified(sent: typeof rest & { response: typeof response }): Promise<boolean> {
      return holds(verifyAssertion(sent, challenge, party, passkey));
    }
  });

  test(`a damaged registration is never an internal error (${algorithm})`, async () => {
    const created = new SoftwareAuthenticator({ origin, algorithm }).create(creation);
    const parts = ['clientDataJSON', 'attestationObject'] as const;
    const seen = { taken: 0, refused: 0 };
    const isDecided = async (given: Damage) => {
      const part = parts[given.part % 2] ?? 'attestationObject';
      const response = { ...created.response, [part]: damaged(created.response[part], given) };
      const isGood = await holds(verifyRegistration({ ...created, response }, challenge, party));
      seen[isGood ? 'taken' : 'refused']++;
    };
    await fc.assert(fc.asyncProperty(damage, isDecided), { numRuns: 300 });
    assert.ok(seen.refused > 200, JSON.stringify(seen));
  });
}

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(text: string, { at, value, change }: Damage): string {
  const bytes = Buffer.from(text, 'base64url');
  if (change === 'set') bytes[at % bytes.length] = value;
  const kept = change === 'cut' ? bytes.subarray(0, at % bytes.length) : bytes;
  return Buffer.concat([kept, change === 'append' ? Buffer.of(value) : Buffer.alloc(0)]).toString(
    'base64url',
  );
}

async function holds(verdict: Promise<unknown>): Promise<boolean> {
  try {
    await verdict;
    return true;
  } catch (error) {
    if (error instanceof Unverified) return false;
    throw error;
  }
}

function passkeyOf(registration: Awaited<ReturnType<typeof verifyRegistration>>): Passkey {
  const { isUserVerified: _, ...key } = registration;
  return { ...key, userId: 'alice', transports: [], name: '', createdAtMs: 0, lastUsedAtMs: undefined };
}
