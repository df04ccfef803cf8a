import { createHash, verify } from 'node:crypto';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Passkey, RelyingParty } from './passkey.ts';
import { checkFrame, clientDataOf, Unverified } from './passkey-client-data.ts';
import { keyOf } from './passkey-key.ts';
import { helpers } from './webauthn-library.ts';

/** What an authenticator said with a signature that is good. */
export interface Assertion {
  readonly counter: number;
  readonly isBackedUp: boolean;
  readonly isUserVerified: boolean;
}

/**
 * Whether a passkey signed our challenge, for us (WebAuthn Level 3, 7.2). The library's own function does the same by WebCrypto, whose
 * way over other threads and back costs more than the signature: a test holds the two to the same verdicts. Throws {@link Unverified}.
 */
export async function verifyAssertion(
  { id, rawId, response }: AuthenticationResponseJSON,
  challenge: string,
  party: RelyingParty,
  passkey: Passkey,
): Promise<Assertion> {
  if (id !== rawId) throw new Unverified('the credential has two ids');
  const clientData = Buffer.from(response.clientDataJSON, 'base64url');
  checkClientData(clientData, challenge, party);
  const authenticatorData = Buffer.from(response.authenticatorData, 'base64url');
  const { rpIdHash, flags, counter } = await parse(authenticatorData);
  if (!sha256(party.id).equals(rpIdHash)) throw new Unverified('the signature is for another relying party');
  if (!flags.up) throw new Unverified('nobody was there');
  if (party.userVerification === 'required' && !flags.uv) throw new Unverified('the user was not verified');
  const signed = Buffer.concat([authenticatorData, sha256(clientData)]);
  const signature = Buffer.from(response.signature, 'base64url');
  if (!(await isSignedBy(passkey.publicKey, signed, signature))) {
    throw new Unverified('the signature does not verify');
  }
  checkBackup(flags, passkey);
  // After the signature, so that nobody else can raise the alarm.
  if (passkey.counter > 0 && counter <= passkey.counter) {
    throw new Unverified('the counter went back', { isClone: true });
  }
  return { counter, isBackedUp: flags.bs, isUserVerified: flags.uv };
}

function checkClientData(bytes: Buffer, challenge: string, party: RelyingParty): void {
  const clientData = clientDataOf(bytes);
  if (clientData.type !== 'webauthn.get') throw new Unverified('this is no sign-in');
  if (clientData.challenge !== challenge) throw new Unverified('the challenge is another one');
  if (!party.origins.includes(String(clientData.origin))) throw new Unverified('the origin is another one');
  checkFrame(clientData);
}

/** What may be synced stays so, and only that is backed up. */
function checkBackup(flags: { be: boolean; bs: boolean }, passkey: Passkey): void {
  if (flags.bs && !flags.be) throw new Unverified('backed up without being eligible');
  if (flags.be !== passkey.isBackupEligible) throw new Unverified('the backup eligibility changed');
}

async function parse(authenticatorData: Uint8Array<ArrayBuffer>) {
  const { parseAuthenticatorData } = await helpers();
  try {
    return parseAuthenticatorData(authenticatorData);
  } catch (cause) {
    throw new Unverified('the authenticator data cannot be read', { cause });
  }
}

async function isSignedBy(
  coseKey: Uint8Array<ArrayBuffer>,
  signed: Buffer,
  signature: Buffer,
): Promise<boolean> {
  const key = await keyOf(coseKey);
  return verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', signed, key, signature);
}

function sha256(of: string | Buffer): Buffer {
  return createHash('sha256').update(of).digest();
}
