import { algorithms, ceremonyTimeoutMs, type Passkey, type RelyingParty } from '../passkey.ts';

/** The options of `navigator.credentials.create` (PublicKeyCredentialCreationOptionsJSON). */
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

/** The options of `navigator.credentials.get` (PublicKeyCredentialRequestOptionsJSON). */
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

function descriptor({ id, transports }: Descriptor) {
  return { type: 'public-key' as const, id, transports: [...transports] };
}
