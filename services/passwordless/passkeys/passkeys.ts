import { newId, newSecret } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import type { WriteSession } from '@octavo/data';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { authErrors } from '../errors.ts';
import { type Caller, checkFresh, findSession, type TokenPair } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { canSignIn, findUser, lockAddress, proveFirstFactor, type User } from '../users/index.ts';
import { beginCeremony, type Ceremony, endCeremony } from './ceremonies.ts';
import type { PasskeyContext } from './context.ts';
import { passkeyErrors } from './errors.ts';
import { checkName, firstName, methodsOf, type Passkey, passkeysMax } from './passkey.ts';
import {
  countPasskeys,
  deletePasskey,
  findHandle,
  handleOf,
  insertPasskey,
  passkeysOf,
  renamePasskey,
} from './store.ts';
import { decoyHandle, isDecoy } from './verification/decoys.ts';
import { creationOptions } from './verification/options.ts';
import { type Registration, Unverified, verifyRegistration } from './verification/verification.ts';

/** A request for the options of a registration. */
interface RegistrationRequest {
  readonly email: string;
  /** The user of the bearer token, where there is one. */
  readonly caller: Caller | undefined;
  readonly locale: string | undefined;
  readonly visitor: Visitor;
}

/** A new passkey to register. */
interface RegistrationResult {
  readonly pendingId: string;
  readonly response: RegistrationResponseJSON;
  readonly name?: string | undefined;
  readonly locale: string | undefined;
  readonly visitor: Visitor;
}

/** A registered passkey and the new session of its user. */
export interface Enrollment {
  readonly user: User;
  readonly passkey: Passkey;
  readonly tokens: TokenPair;
}

/** Argument of `PublicKeyCredential.signalAllAcceptedCredentials` (WebAuthn Level 3, 5.1.10.3). */
interface AcceptedPasskeys {
  readonly rpId: string;
  readonly userId: string;
  readonly allAcceptedCredentialIds: readonly string[];
}

/** Passkeys of users: adding, naming, removing. */
export class Passkeys {
  readonly #context: PasskeyContext;

  constructor(context: PasskeyContext) {
    this.#context = context;
  }

  /** The options of a registration, for the user of the token or else for a new one: see {@link UnprovenEnrollment}. */
  async begin(asked: RegistrationRequest) {
    const { database, clock, unprovenEnrollment } = this.#context;
    const { email, caller } = asked;
    const nowMs = clock.now();
    if (caller) {
      checkFresh(caller, email, nowMs);
      return database.write(async (session) => {
        const known = await passkeysOf(session, caller.user.id);
        return this.#optionsFor(session, email, { user: caller.user, sessionId: caller.session.id, known });
      });
    }
    const options = unprovenEnrollment.isOpen()
      ? await database.write(async (session) => {
          const user = await unprovenEnrollment.target(session, asked, { kind: 'webauthn', nowMs });
          return this.#optionsFor(session, email, { user, sessionId: undefined, known: [] });
        })
      : this.#decoyOptions(email);
    unprovenEnrollment.tellOwner(asked);
    return options;
  }

  /** Throws INVALID_CEREMONY, VERIFICATION_FAILED, CREDENTIAL_EXISTS or TOO_MANY_CREDENTIALS. */
  async complete(answered: RegistrationResult): Promise<Enrollment> {
    const { database, clock, mails } = this.#context;
    const name = answered.name === undefined ? undefined : checkName(answered.name);
    const ceremony = await endCeremony(database, clock, { id: answered.pendingId, kind: 'register' });
    const registration = await this.#verify(answered.response, ceremony);
    const passkey = this.#passkeyOf(ceremony, registration, answered.response, name);
    const enrollment = await database.write(async (session) => {
      const user = await this.#target(session, ceremony);
      await this.#store(session, passkey);
      const amr = methodsOf(passkey.isBackupEligible, registration.isUserVerified);
      const tokens = await this.#context.sessions.open(session, { user, amr, visitor: answered.visitor });
      await this.#announce(session, user, {
        event: 'added',
        visitor: answered.visitor,
        locale: answered.locale,
      });
      return { user, passkey, tokens };
    });
    mails.wakeWorkers();
    return enrollment;
  }

  of({ user }: Caller): Promise<Passkey[]> {
    return passkeysOf(this.#context.database, user.id);
  }

  /** Tells password managers which passkeys still exist, so that they forget the others. */
  async acceptedCredentials({ user }: Caller): Promise<AcceptedPasskeys | undefined> {
    const { database, relyingParty: party } = this.#context;
    const userId = await findHandle(database, user.id);
    if (userId === undefined) return undefined;
    const ids = (await passkeysOf(database, user.id)).map(({ id }) => id);
    return { rpId: party().id, userId, allAcceptedCredentialIds: ids };
  }

  async rename({ user }: Caller, id: string, given: string): Promise<Passkey> {
    const { database, audit } = this.#context;
    const name = checkName(given);
    checkId(id);
    return database.write(async (session) => {
      const passkey = await renamePasskey(session, { id, userId: user.id, name });
      if (!passkey) throw passkeyErrors.notFound();
      await audit.record(session, 'passkey_renamed', { userId: user.id });
      return passkey;
    });
  }

  async remove(
    caller: Caller,
    id: string,
    from: Pick<RegistrationRequest, 'locale' | 'visitor'>,
  ): Promise<void> {
    const { database, clock, mails } = this.#context;
    checkFresh(caller, undefined, clock.now());
    checkId(id);
    await database.write(async (session) => {
      await lockAddress(session, caller.user.email);
      const user = await findUser(session, caller.user.id);
      const { numDeletedRows } = await deletePasskey(session, { id, userId: caller.user.id });
      if (!user || numDeletedRows === 0n) throw passkeyErrors.notFound();
      if (!(await canSignIn(session, user))) throw authErrors.lastFactor();
      await this.#announce(session, user, { event: 'removed', ...from });
    });
    mails.wakeWorkers();
  }

  async #optionsFor(
    session: WriteSession<Tables>,
    email: string,
    { user, sessionId, known }: { user: User | undefined; sessionId: string | undefined; known: Passkey[] },
  ) {
    const { clock, relyingParty: party, decoyKeys } = this.#context;
    const about = { kind: 'register', userId: user?.id, sessionId } as const;
    const { id, challenge } = await beginCeremony(session, clock, about);
    const handle = user ? await handleOf(session, user.id) : decoyHandle(decoyKeys[0], email);
    return { pending_id: id, ...creationOptions(party(), { challenge, handle, email, known }) };
  }

  /** Options that cannot be completed. */
  #decoyOptions(email: string) {
    const { relyingParty: party, decoyKeys } = this.#context;
    const handle = decoyHandle(decoyKeys[0], email);
    const about = { challenge: newSecret(), handle, email, known: [] };
    return { pending_id: newId(), ...creationOptions(party(), about) };
  }

  async #verify(response: RegistrationResponseJSON, { challenge }: Ceremony): Promise<Registration> {
    try {
      return await verifyRegistration(response, challenge, this.#context.relyingParty());
    } catch (error) {
      throw error instanceof Unverified ? passkeyErrors.badRegistration() : error;
    }
  }

  #passkeyOf(
    { userId = '' }: Ceremony,
    { isUserVerified: _, ...registration }: Registration,
    { response }: RegistrationResponseJSON,
    name: string | undefined,
  ): Passkey {
    const transports = [...new Set(response.transports ?? [])];
    const nowMs = this.#context.clock.now();
    return {
      ...registration,
      userId,
      transports,
      name: name ?? firstName(registration.isBackupEligible, transports),
      createdAtMs: nowMs,
      lastUsedAtMs: undefined,
    };
  }

  /**
   * The user of a registration, if it is still valid: the session that asked for it is live, or the user has proved nothing before. A
   * new owner of the address has ended both.
   */
  async #target(session: WriteSession<Tables>, { userId, sessionId }: Ceremony): Promise<User> {
    const found = userId === undefined ? undefined : await findUser(session, userId);
    if (!found) throw passkeyErrors.invalidCeremony();
    await lockAddress(session, found.email);
    const nowMs = this.#context.clock.now();
    const isEntitled =
      sessionId === undefined
        ? await proveFirstFactor(session, { user: found, kind: 'webauthn', nowMs })
        : isLive(await findSession(session, sessionId), nowMs);
    const user = isEntitled ? await findUser(session, found.id) : undefined;
    if (!user) throw passkeyErrors.invalidCeremony();
    return user;
  }

  async #store(session: WriteSession<Tables>, passkey: Passkey): Promise<void> {
    const { passkeys = 0 } = (await countPasskeys(session, passkey.userId)) ?? {};
    if (passkeys >= passkeysMax) throw passkeyErrors.tooMany();
    const isNew = await insertPasskey(session, passkey);
    // An id that is taken and the id of a decoy get the same answer.
    if (!isNew || isDecoy(this.#context.decoyKeys, passkey.id)) throw passkeyErrors.exists();
  }

  async #announce(
    session: WriteSession<Tables>,
    user: User,
    {
      event,
      visitor,
      locale,
    }: { event: 'added' | 'removed' } & Pick<RegistrationRequest, 'locale' | 'visitor'>,
  ): Promise<void> {
    const { audit, mails } = this.#context;
    const facts = { userId: user.id, address: visitor.address };
    await audit.record(session, `passkey_${event}`, facts);
    if (!user.isVerified) return;
    await mails.enqueue(session, { to: user.email, locale, kind: 'security', event: `passkey-${event}` });
  }
}

/** PostgreSQL refuses a text with U+0000, so no text of a client gets that far unchecked. */
function checkId(id: string): void {
  if (!/^[\w-]+$/.test(id)) throw passkeyErrors.notFound();
}

function isLive(session: { expiresMs: number } | undefined, nowMs: number): boolean {
  return session !== undefined && session.expiresMs > nowMs;
}
