import { randomBytes } from 'node:crypto';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { SoftwareAuthenticator } from '../../../services/passwordless/passkeys/testing-authenticator.ts';

/** Sends the processor time of one `verifyAuthenticationResponse`, in microseconds. */
const count = Number(process.argv[2]);
const origin = 'http://localhost:3003';
const expected = { expectedOrigin: origin, expectedRPID: 'localhost', requireUserVerification: false };
const device = new SoftwareAuthenticator({ origin });
const challenge = randomBytes(32).toString('base64url');
const created = device.create({ challenge, rp: { id: 'localhost' }, user: { id: 'AAAA' } });
const { registrationInfo } = await verifyRegistrationResponse({
  response: created,
  expectedChallenge: challenge,
  supportedAlgorithmIDs: [-7],
  ...expected,
});
if (!registrationInfo) throw new Error('the registration does not verify');
const { credential } = registrationInfo;
const responses = Array.from({ length: count }, () => device.get({ challenge, rpId: 'localhost' }));
await verifyAll();
const before = process.cpuUsage();
await verifyAll();
const { user, system } = process.cpuUsage(before);
process.send?.((user + system) / count);

async function verifyAll(): Promise<void> {
  for (const response of responses) {
    const { verified } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      credential,
      ...expected,
    });
    if (!verified) throw new Error('a response does not verify');
  }
}
