import type { Visitor } from '@octavo/core/auth';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { TokenPair } from '../sessions/index.ts';
import { findUser } from '../users/index.ts';
import { beginCeremony, type Ceremony, endCeremony } from './ceremonies.ts';
import type { PasskeyContext } from './context.ts';
import { passkeyErrors } from './errors.ts';
import { methodsOf, type Passkey, passkeysMax } from './passkey.ts';
import { findPasskey, type PasskeyWithHandle, passkeysOfAddress, usePasskey } from './store.ts';
import { decoyFor } from './verification/decoys.ts';
import { type Descriptor, requestOptions } from './verification/options.ts';
import { type Assertion, Unverified, verifyAssertion } from './verification/verification.ts';

/** Signing in with a passkey. */
export class PasskeySignIns {
  readonly #context: PasskeyContext;

  constructor(context: PasskeyContext) {
    this.#context = context;
  }

  /** The options of a sign-in. Without an address, the authenticator offers the passkeys that it holds. */
  async begin(email: string | undefined) {
    const { database, clock, relyingParty: party } = this.#context;
    const allowed = email === undefined ? undefined : await this.#passkeysFor(email);
    const offered = allowed?.map(({ id }) => id);
    const { id, challenge } = await beginCeremony(database, clock, { kind: 'login', offered });
    return { pending_id: id, ...requestOptions(party(), { challenge, allowed: allowed ?? [] }) };
  }

  /** The id of the credential alone decides who signs in. Throws INVALID_CEREMONY or VERIFICATION_FAILED. */
  async complete(
    pendingId: string,
    response: AuthenticationResponseJSON,
    visitor: Visitor,
  ): Promise<TokenPair> {
    const { database, clock } = this.#context;
    const ceremony = await endCeremony(database, clock, { id: pendingId, kind: 'login' });
    const passkey = await findPasskey(database, response.id);
    const assertion = await this.#verify(response, ceremony, passkey, visitor);
    return this.#signIn(passkey as Passkey, assertion, visitor);
  }

  async #passkeysFor(email: string): Promise<readonly Descriptor[]> {
    const { database, decoyKeys } = this.#context;
    const known = await passkeysOfAddress(database, email, passkeysMax);
    return known.length > 0 ? known : [decoyFor(decoyKeys[0], email)];
  }

  async #verify(
    response: AuthenticationResponseJSON,
    ceremony: Ceremony,
    passkey: PasskeyWithHandle | undefined,
    visitor: Visitor,
  ): Promise<Assertion> {
    try {
      // An unknown credential takes as long as a known one, so that the time does not tell a decoy from a real passkey.
      const { challenge } = ceremony;
      const assertion = await verifyAssertion(
        response,
        challenge,
        this.#context.relyingParty(),
        passkey ?? nobody,
      );
      checkHolder(response, ceremony, passkey);
      return assertion;
    } catch (error) {
      if (!(error instanceof Unverified)) throw error;
      await this.#noteFailure(passkey, error, visitor);
      throw passkeyErrors.badAssertion();
    }
  }

  async #signIn(passkey: Passkey, assertion: Assertion, visitor: Visitor): Promise<TokenPair> {
    const { database, sessions, clock } = this.#context;
    const { id, userId, isBackupEligible } = passkey;
    const { counter, isBackedUp, isUserVerified } = assertion;
    const pair = await database.write(async (session) => {
      const used = { id, counter, backedUp: Number(isBackedUp), nowMs: clock.now() };
      const { numUpdatedRows } = await usePasskey(session, used);
      const user = numUpdatedRows > 0n ? await findUser(session, userId) : undefined;
      if (!user) return undefined;
      return sessions.open(session, { user, amr: methodsOf(isBackupEligible, isUserVerified), visitor });
    });
    if (pair) return pair;
    const why = new Unverified('another sign-in raised the counter', { isClone: true });
    await this.#noteFailure(passkey, why, visitor);
    throw passkeyErrors.badAssertion();
  }

  async #noteFailure(passkey: Passkey | undefined, why: Unverified, { address }: Visitor): Promise<void> {
    const { audit, database } = this.#context;
    const facts = { userId: passkey?.userId, address };
    audit.note('authn_login_fail', facts);
    if (why.isClone) await database.write((session) => audit.record(session, 'passkey_cloned', facts));
  }
}

/** The credential must be one that was offered. Where none was, the authenticator must name the user (WebAuthn 7.2, step 6). */
function checkHolder(
  { id, response }: AuthenticationResponseJSON,
  { offered }: Ceremony,
  passkey: PasskeyWithHandle | undefined,
): void {
  if (!passkey) throw new Unverified('the credential is unknown');
  if (offered && !offered.includes(id)) throw new Unverified('the credential was not offered');
  const { userHandle } = response;
  if (userHandle ? userHandle !== passkey.handle : !offered) {
    throw new Unverified('the user handle is not that of the credential');
  }
}

/** A passkey with an unknown private key. */
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
