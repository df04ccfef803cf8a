import { type Static, Type } from '@octavo/core';
import { credentialIdCharactersMax } from '../passkey.ts';

export const base64url = (charactersMax: number, examples: string[]) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: charactersMax, examples });
export const credentialId = base64url(credentialIdCharactersMax, ['dGhlIGlkIG9mIGEgcGFzc2tleQ']);
export const publicKey = Type.Literal('public-key');
const bytes = base64url(65_536, ['AAAA']);
const givenPendingId = Type.String({
  minLength: 1,
  maxLength: 64,
  examples: ['0b1a2f9e-6f52-4c0d-8a3f-2f1f0c1d7e55'],
});

/** RegistrationResponseJSON, as far as we use it. */
export const Registered = Type.Object(
  {
    pending_id: givenPendingId,
    response: Type.Object({
      id: credentialId,
      rawId: credentialId,
      type: publicKey,
      response: Type.Object({
        clientDataJSON: bytes,
        attestationObject: bytes,
        transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
      }),
    }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 256, examples: ['Work laptop'] })),
  },
  { title: 'RegistrationResponse' },
);

/** AuthenticationResponseJSON, as far as we use it. */
export const Asserted = Type.Object(
  {
    pending_id: givenPendingId,
    response: Type.Object({
      id: credentialId,
      rawId: credentialId,
      type: publicKey,
      response: Type.Object({
        clientDataJSON: bytes,
        authenticatorData: bytes,
        signature: bytes,
        userHandle: Type.Optional(Type.Union([base64url(128, ['AAAA']), Type.Null()])),
      }),
    }),
  },
  { title: 'AssertionResponse' },
);

/** An assertion in the shape that the library expects. Clients that write `userHandle: null` mean none. */
export function assertionOf({ response: { response, ...rest } }: Static<typeof Asserted>) {
  const { userHandle, ...parts } = response;
  const handle = userHandle == null ? {} : { userHandle };
  return { ...rest, clientExtensionResults: {}, response: { ...parts, ...handle } };
}

/** A registration in the shape that the library expects. */
export function registrationOf({ response }: Static<typeof Registered>) {
  return { ...response, clientExtensionResults: {} };
}
