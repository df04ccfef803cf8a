import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { algorithms, type Passkey, type RelyingParty } from './passkey.ts';
import { checkFrame, clientDataOf, Unverified } from './passkey-client-data.ts';
import { keyOf } from './passkey-key.ts';
import { helpers, library } from './webauthn-library.ts';

/** What an authenticator said of a new key. */
export type Registration = Pick<
  Passkey,
  'id' | 'publicKey' | 'counter' | 'isBackupEligible' | 'isBackedUp'
> & { readonly isUserVerified: boolean };

export async function verifyRegistration(
  response: RegistrationResponseJSON,
  challenge: string,
  party: RelyingParty,
): Promise<Registration> {
  checkFrame(clientDataOf(Buffer.from(response.response.clientDataJSON, 'base64url')));
  const { verifyRegistrationResponse } = await library();
  const { registrationInfo } = await orUnverified(async () =>
    verifyRegistrationResponse({
      response: await withoutAttestation(response),
      ...expectations(challenge, party),
      supportedAlgorithmIDs: [...algorithms],
    }),
  );
  if (!registrationInfo) throw new Unverified('the registration does not verify');
  const { credential, userVerified, credentialDeviceType, credentialBackedUp } = registrationInfo;
  if (credential.id !== response.id) throw new Unverified('the credential has another id than its envelope');
  // Nothing was signed with it yet: one that cannot be read is not to be found out at the first sign-in.
  await keyOf(credential.publicKey);
  return {
    id: credential.id,
    publicKey: credential.publicKey,
    counter: credential.counter,
    isBackupEligible: credentialDeviceType === 'multiDevice',
    isBackedUp: credentialBackedUp,
    isUserVerified: userVerified,
  };
}

function expectations(challenge: string, party: RelyingParty) {
  return {
    expectedChallenge: challenge,
    expectedOrigin: [...party.origins],
    expectedRPID: party.id,
    requireUserVerification: party.userVerification === 'required',
  };
}

/**
 * We ask for no attestation, so a statement that comes all the same proves nothing to us. It is left aside unread: checking its
 * certificates would ask addresses that the sender chose whether they are revoked.
 */
async function withoutAttestation(response: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await helpers();
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(response.response.attestationObject)).get(
    'authData',
  );
  const bare = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]),
  );
  const attestationObject = Buffer.from(bare).toString('base64url');
  return { ...response, response: { ...response.response, attestationObject } };
}

/** Whatever the library throws is about what was sent. */
async function orUnverified<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Unverified(cause instanceof Error ? cause.message : 'the response cannot be read', { cause });
  }
}
