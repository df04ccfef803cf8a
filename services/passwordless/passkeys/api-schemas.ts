import { Type } from '@octavo/core';
import { email } from '../api/schemas.ts';
import { base64url, credentialId, publicKey } from './verification/responses.ts';

const challenge = base64url(64, ['Zm9ydHktdHdvIGlzIG5vdCBhIGNoYWxsZW5nZQ']);
const token = Type.String({ examples: ['Zm9ydHktdHdv'] });
const transports = Type.Array(Type.String({ maxLength: 32 }), { examples: [['internal', 'hybrid']] });
const userVerification = Type.Union([Type.Literal('preferred'), Type.Literal('required')]);
const instant = Type.String({ format: 'date-time' });
const pendingId = Type.String({
  format: 'uuid',
  description: 'Send it once, with the response of the authenticator, within five minutes',
});
const descriptor = Type.Object({ type: publicKey, id: credentialId, transports });

export const RegistrationSubject = Type.Object({ email });
export const SignInSubject = Type.Object({ email: Type.Optional(email) });

export const CreationOptions = Type.Object(
  {
    pending_id: pendingId,
    rp: Type.Object({
      id: Type.String({ examples: ['example.com'] }),
      name: Type.String({ examples: ['Octavo'] }),
    }),
    user: Type.Object({
      id: challenge,
      name: Type.String({ examples: ['alice@example.com'] }),
      displayName: Type.String({ examples: ['alice@example.com'] }),
    }),
    challenge,
    pubKeyCredParams: Type.Array(Type.Object({ type: publicKey, alg: Type.Integer({ examples: [-7] }) })),
    timeout: Type.Integer({ description: 'Milliseconds', examples: [300_000] }),
    excludeCredentials: Type.Array(descriptor),
    authenticatorSelection: Type.Object({
      residentKey: Type.Literal('preferred'),
      requireResidentKey: Type.Literal(false),
      userVerification,
    }),
    attestation: Type.Literal('none'),
    extensions: Type.Object({ credProps: Type.Literal(true) }),
  },
  { title: 'CreationOptions' },
);

export const RequestOptions = Type.Object(
  {
    pending_id: pendingId,
    rpId: Type.String({ examples: ['example.com'] }),
    challenge,
    timeout: Type.Integer({ description: 'Milliseconds', examples: [300_000] }),
    userVerification,
    allowCredentials: Type.Array(descriptor),
  },
  { title: 'RequestOptions' },
);

const credential = {
  id: credentialId,
  name: Type.String({ examples: ['Work laptop'] }),
  created_at: instant,
  transports,
  backed_up: Type.Boolean({ description: 'Stored beyond the device, as by a password manager that syncs' }),
};

export const Enrolled = Type.Object(
  {
    verified: Type.Literal(true),
    user_id: Type.String({ format: 'uuid' }),
    credential: Type.Object(credential),
    access_token: token,
    refresh_token: token,
  },
  { title: 'EnrolledPasskey' },
);

export const ListedPasskey = Type.Object(
  {
    ...credential,
    last_used_at: Type.Union([instant, Type.Null()]),
  },
  { title: 'Passkey' },
);
export const PasskeyList = Type.Object({ credentials: Type.Array(ListedPasskey) }, { title: 'PasskeyList' });
export const PasskeyName = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 256, examples: ['Work laptop'] }),
});
export const PasskeyId = Type.Object({ id: Type.String() });
