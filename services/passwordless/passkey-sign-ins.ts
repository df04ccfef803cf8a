import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Visitor } from '#kit/auth/visitor.ts';
import { methodsOf, type Passkey, passkeysMax } from './passkey.ts';
import { type Assertion, verifyAssertion } from './passkey-assertion.ts';
import { beginCeremony, type Ceremony, endCeremony } from './passkey-ceremonies.ts';
import { Unverified } from './passkey-client-data.ts';
import { decoy, requestOptions } from './passkey-options.ts';
import type { PasskeyParts } from './passkey-parts.ts';
import { passkeyRefusals } from './passkey-refusals.ts';
import type { TokenPair } from './session.ts';
import { findPasskey, passkeysOfAddress, usePasskey } from './store-passkeys.ts';
import { findUser } from './store-users.ts';

/** Signing in with a passkey. */
export class PasskeySignIns {
  readonly #parts: PasskeyParts;

  constructor(parts: PasskeyParts) {
    this.#parts = parts;
  }

  /** What the authenticator is asked; without an address it offers what it has for us. */
  async begin(email: string | undefined) {
    const { database, clock, party, decoyKey } = this.#parts;
    const known = email === undefined ? [] : await passkeysOfAddress(database, email, passkeysMax);
    const allowed = email !== undefined && known.length === 0 ? [decoy(decoyKey, email)] : known;
    const about = { kind: 'login', isDiscoverable: email === undefined } as const;
    const { id, challenge } = await beginCeremony(database, clock, about);
    return { pending_id: id, ...requestOptions(party(), { challenge, allowed }) };
  }

  /** Throws INVALID_CEREMONY or VERIFICATION_FAILED. The id of the credential alone says who signs in. */
  async complete(
    pendingId: string,
    response: AuthenticationResponseJSON,
    visitor: Visitor,
  ): Promise<TokenPair> {
    const { database, clock } = this.#parts;
    const ceremony = await endCeremony(database, clock, { id: pendingId, kind: 'login' });
    const passkey = await findPasskey(database, response.id);
    const assertion = await this.#verify(response, ceremony, passkey, visitor);
    return this.#signIn(passkey as Passkey, assertion, visitor);
  }

  async #verify(
    response: AuthenticationResponseJSON,
    { challenge, isDiscoverable }: Ceremony,
    passkey: (Passkey & { handle: string }) | undefined,
    visitor: Visitor,
  ): Promise<Assertion> {
    try {
      // What belongs to nobody takes as long as what does, so that the time does not tell a real credential from a decoy.
      const assertion = await verifyAssertion(response, challenge, this.#parts.party(), passkey ?? nobody);
      checkHolder(response.response.userHandle, passkey?.handle, isDiscoverable);
      return assertion;
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
      await this.#noteFailure(passkey, error, visitor);
      throw passkeyRefusals.badAssertion();
    }
  }

  async #signIn(passkey: Passkey, assertion: Assertion, visitor: Visitor): Promise<TokenPair> {
    const { database, sessions, clock } = this.#parts;
    const { id, userId, isBackupEligible } = passkey;
    const { counter, isBackedUp, isUserVerified } = assertion;
    const pair = await database.write(async (session) => {
      const used = { id, counter, backedUp: Number(isBackedUp), nowMs: clock.now() };
      const { changes } = await usePasskey.run(session, used);
      const user = changes > 0 ? await findUser(session, userId) : undefined;
      if (!user) return undefined;
      return sessions.open(session, { user, amr: methodsOf(isBackupEligible, isUserVerified), visitor });
    });
    if (pair) return pair;
    await this.#noteFailure(
      passkey,
      new Unverified('the counter rose meanwhile', { isClone: true }),
      visitor,
    );
    throw passkeyRefusals.badAssertion();
  }

  async #noteFailure(passkey: Passkey | undefined, why: Unverified, { address }: Visitor): Promise<void> {
    const { audit, database } = this.#parts;
    const facts = { userId: passkey?.userId, address };
    audit.note('authn_login_fail', facts);
    if (why.isClone) await database.write((session) => audit.record(session, 'passkey_cloned', facts));
  }
}

/** An authenticator that was not told who signs in must say so itself (WebAuthn 7.2, step 6). */
function checkHolder(told: string | null | undefined, handle: string | undefined, isNeeded: boolean): void {
  if (handle === undefined) throw new Unverified('the credential is unknown');
  if (told ? told !== handle : isNeeded)
    throw new Unverified('the user handle is not that of the credential');
}

/** The key of a pair whose other half was thrown away. */
const nobody: Passkey = {
  id: 'nobody',
  userId: 'nobody',
  publicKey: new Uint8Array(
    Buffer.from(
      'pQECAyYgASFYIH0-_npJE3Lhb9ZX6ooTnA2y--gx3Uxqr_kApXDmQ5RdIlggjgYbIRuh5LKez2nSAYpPhoCF_Sr8lnBkXppitj8cIEU',
      'base64url',
    ),
  ),
  counter: 0,
  transports: [],
  name: '',
  isBackupEligible: false,
  isBackedUp: false,
  createdAtMs: 0,
  lastUsedAtMs: undefined,
};
