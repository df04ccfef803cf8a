import { createHmac } from 'node:crypto';
import { algorithms, ceremonyTimeoutMs, type Passkey, type RelyingParty } from './passkey.ts';

/** What `navigator.credentials.create` is asked (PublicKeyCredentialCreationOptionsJSON). */
export function creationOptions(
  party: RelyingParty,
  asked: { challenge: string; handle: string; email: string; known: readonly Descriptor[] },
) {
  const { challenge, handle, email, known } = asked;
  return {
    rp: { id: party.id, name: party.name },
    user: { id: handle, name: email, displayName: email },
    challenge,
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: ceremonyTimeoutMs,
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: {
      residentKey: 'preferred' as const,
      requireResidentKey: false as const,
      userVerification: party.userVerification,
    },
    attestation: 'none' as const,
    extensions: { credProps: true as const },
  };
}

/** What `navigator.credentials.get` is asked (PublicKeyCredentialRequestOptionsJSON). */
export function requestOptions(
  party: RelyingParty,
  asked: { challenge: string; allowed: readonly Descriptor[] },
) {
  return {
    rpId: party.id,
    challenge: asked.challenge,
    timeout: ceremonyTimeoutMs,
    userVerification: party.userVerification,
    allowCredentials: asked.allowed.map(descriptor),
  };
}

export type Descriptor = Pick<Passkey, 'id' | 'transports'>;

/**
 * The passkey of an address that has none, the same each time and like any other to look at: asking for the options of a sign-in does not tell
 * which addresses are known (WebAuthn Level 3, 14.6.2).
 */
export function decoy(key: Uint8Array, email: string): Descriptor {
  return {
    id: createHmac('sha256', key).update(email).digest('base64url'),
    transports: ['internal', 'hybrid'],
  };
}

/** The handle of nobody: as stable as that of a user, so that asking twice tells nothing. */
export function decoyHandle(key: Uint8Array, email: string): string {
  return createHmac('sha256', key).update(`handle ${email}`).digest('base64url');
}

function descriptor({ id, transports }: Descriptor) {
  return { type: 'public-key' as const, id, transports: [...transports] };
}
