import { loadOnce } from '@octavo/core/concurrency';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { algorithms, type Passkey, type RelyingParty } from '../passkey.ts';

/** Statement of an authenticator about a new key. */
export type Registration = Pick<
  Passkey,
  'id' | 'publicKey' | 'counter' | 'isBackupEligible' | 'isBackedUp'
> & { readonly isUserVerified: boolean };

/** Statement of an authenticator with a valid signature. */
export type Assertion = Pick<Passkey, 'counter' | 'isBackedUp'> & { readonly isUserVerified: boolean };

/** Reason of a refused response: for the log, not for the sender. */
export class Unverified extends Error {
  readonly isClone: boolean;

  constructor(message: string, options: { isClone?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.isClone = options.isClone ?? false;
  }
}

/** The library's verdict on a new passkey (WebAuthn Level 3, 7.1), then our own checks. Throws {@link Unverified}. */
export function verifyRegistration(
  response: RegistrationResponseJSON,
  challenge: string,
  party: RelyingParty,
): Promise<Registration> {
  return orUnverified(async () => {
    const { verifyRegistrationResponse } = await library();
    const { registrationInfo } = await verifyRegistrationResponse({
      response: await withoutAttestation(response),
      ...expectations(challenge, party),
      supportedAlgorithmIDs: [...algorithms],
    });
    if (!registrationInfo) throw new Unverified('the registration does not verify');
    const { credential, userVerified, credentialDeviceType, credentialBackedUp } = registrationInfo;
    await checkFrame(response.response.clientDataJSON);
    if (credential.id !== response.id) throw new Unverified('the response names another credential');
    await checkKey(credential.publicKey);
    return {
      id: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      isBackupEligible: credentialDeviceType === 'multiDevice',
      isBackedUp: credentialBackedUp,
      isUserVerified: userVerified,
    };
  });
}

/** The library's verdict on a sign-in (WebAuthn Level 3, 7.2), then our own checks. Throws {@link Unverified}. */
export function verifyAssertion(
  response: AuthenticationResponseJSON,
  challenge: string,
  party: RelyingParty,
  passkey: Passkey,
): Promise<Assertion> {
  return orUnverified(async () => {
    const { verifyAuthenticationResponse } = await library();
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      ...expectations(challenge, party),
      // The library compares counters before it checks the signature. We compare after it: only the holder of the key can raise the alarm.
      credential: { id: passkey.id, publicKey: passkey.publicKey, counter: 0 },
    });
    if (!verified) throw new Unverified('the signature does not verify');
    const {
      newCounter: counter,
      credentialBackedUp,
      credentialDeviceType,
      userVerified,
    } = authenticationInfo;
    await checkFrame(response.response.clientDataJSON);
    if ((credentialDeviceType === 'multiDevice') !== passkey.isBackupEligible) {
      throw new Unverified('the backup eligibility changed');
    }
    if (passkey.counter > 0 && counter <= passkey.counter) {
      throw new Unverified('the counter did not rise', { isClone: true });
    }
    return { counter, isBackedUp: credentialBackedUp, isUserVerified: userVerified };
  });
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
 * We ask for no attestation, so we drop a statement that comes anyway. To check its certificates, the library would fetch
 * revocation lists from addresses that the sender chose.
 */
async function withoutAttestation(response: RegistrationResponseJSON): Promise<RegistrationResponseJSON> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await library();
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

/** Another site can embed our page in a frame. The library accepts that where the browser does not name the other site. */
async function checkFrame(clientDataJSON: string): Promise<void> {
  const { decodeClientDataJSON } = await library();
  const { crossOrigin = false, topOrigin } = decodeClientDataJSON(clientDataJSON);
  if (crossOrigin !== false || topOrigin !== undefined) throw new Unverified('the ceremony ran in a frame');
}

/** COSE labels and values of RFC 9052 and RFC 9053. */
const [keyType, algorithm, curve, modulus] = [1, 3, -1, -1];
const rsaBytesMin = 256;
/** ECDSA with r = s = 1, in DER. */
const anySignature = Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1);

/**
 * Nothing was signed with a new key yet. A key that the library cannot use is refused now, not at the first sign-in, and so is one
 * that is not what its algorithm says: ES256 is P-256 (WebAuthn Level 3, 5.8.5), RS256 has 2,048 bits or more (RFC 8230, 2).
 */
async function checkKey(publicKey: Uint8Array<ArrayBuffer>): Promise<void> {
  const { decodeCredentialPublicKey, verifySignature } = await library();
  const decoded: unknown = decodeCredentialPublicKey(publicKey);
  const key = decoded as ReadonlyMap<number, unknown>;
  const isSound = {
    [-7]: key.get(keyType) === 2 && key.get(curve) === 1,
    [-8]: key.get(keyType) === 1 && key.get(curve) === 6,
    [-257]: key.get(keyType) === 3 && bytesIn(key.get(modulus)) >= rsaBytesMin,
  }[Number(key.get(algorithm))];
  if (!isSound) throw new Unverified('the key does not fit its algorithm');
  await verifySignature({ credentialPublicKey: publicKey, data: new Uint8Array(), signature: anySignature });
}

function bytesIn(value: unknown): number {
  return value instanceof Uint8Array ? value.length : 0;
}

/** All errors of the library are about the client's data. */
async function orUnverified<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    if (cause instanceof Unverified) throw cause;
    throw new Unverified(cause instanceof Error ? cause.message : 'the response cannot be read', { cause });
  }
}

// Loaded on first use, since that takes a quarter of a second. Kept, since importing again takes a tenth of a verification.
const library = loadOnce(async () => {
  const [server, helpers] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  return { ...server, ...helpers };
});
