import { createHash, hkdfSync } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, newOrderedId } from '@octavo/core';
import { Encryption } from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { Grant, Person } from './provider.ts';
import {
  attemptOf,
  confirmRoles,
  deleteIdentity,
  deleteSession,
  type IdentityRow,
  identityOf,
  identityOfAccount,
  insertIdentity,
  insertRevocation,
  insertSession,
  leftForMs,
  leftHash,
  type OidcTables,
  otherIdentities,
  sessionByKey,
  sessionsOfSid,
  sessionsOfSubject,
  useUpAttempt,
} from './store.ts';
import type { EndedSessions } from './tokens.ts';

/** The accounts of a service, as far as people of a provider need them. An account is named by a text of the service. */
export interface AccountHost<DB extends OidcTables> {
  has(session: WriteSession<DB>, account: string): Promise<boolean>;
  /** Creates an account without a password, under the person's name or, if that is taken, with a number. Throws `forbidden` for people who get none. */
  create(session: WriteSession<DB>, person: NewPerson): Promise<string>;
  /** Gives the account these roles, and takes all others away. */
  setRoles(session: WriteSession<DB>, account: string, roles: readonly string[]): Promise<void>;
  /** Throws `conflict` if this is the last account that can administer the service. */
  demandOther?(session: WriteSession<DB>, account: string): Promise<void>;
  /** Ends the sessions with these keys. */
  end(keys: readonly string[]): Promise<void>;
}

export type NewPerson = Pick<Person, 'name' | 'email' | 'roles'>;

/** Holder of an access token, with when it was issued. */
export type Holder = NewPerson & { readonly subject: string; readonly issuedAtMs: number };

/** People of a provider and their sessions. {@link Identities} keeps them in the service's database. */
export interface PeopleStore {
  /** The account of a person, who gets one if there is none, with the person's roles. */
  accountOf(person: Person): Promise<string>;
  /**
   * The account of the holder of an access token, who gets one if there is none. Its roles stay as they are. Throws `unauthenticated` for
   * who has left since the token was issued.
   */
  accountOfHolder(holder: Holder): Promise<string>;
  /** Connects a person to an account. Throws `conflict` if one of them is connected to another. */
  connect(person: Person, account: string): Promise<void>;
  /** The subject that the account is connected to at the provider; undefined if it is not connected. */
  subjectOf(account: string): Promise<string | undefined>;
  /** Takes the connection of an account away, with the roles that it gave and the sessions that began at the provider. */
  disconnect(account: string): Promise<void>;
  /** Remembers that a session of the service began at the provider. */
  keepSession(session: NewSession): Promise<void>;
  /** Forgets a session that has ended here, and ends its grant. Returns its ID token; undefined if it did not begin at the provider. */
  leave(key: string): Promise<string | undefined>;
  /** Ends the sessions of a person, or one of them. */
  end(ended: EndedSessions): Promise<void>;
  /** Remembers the state of an attempt, or the id of a token, for 10 minutes. Returns true the first time. */
  useUp(text: string): Promise<boolean>;
}

export interface NewSession {
  /** Names the session in the service. */
  readonly key: string;
  readonly person: Pick<Person, 'issuer' | 'subject' | 'sid'>;
  readonly grant: Grant;
  readonly expiresAtMs: number;
}

export interface IdentitiesOptions<DB extends OidcTables> {
  readonly database: Database<DB>;
  readonly clock: Clock;
  /** Encrypts tokens; at least 32 bytes. */
  readonly secret: string;
  readonly issuer: string;
  /** Kind of accounts, where a service has several; empty by default. */
  readonly realm?: string;
  readonly host: AccountHost<DB>;
}

/**
 * Takes the roles of people of any provider but this one, or of all without one: it is unknown which roles they have. For the
 * start of a service.
 */
export async function endOtherRoles<DB extends OidcTables>(
  options: Pick<IdentitiesOptions<DB>, 'database' | 'realm' | 'host'> & {
    readonly issuer: string | undefined;
  },
): Promise<void> {
  const { database, realm = '', host, issuer = '' } = options;
  const others = await otherIdentities.all(database, { realm, issuer });
  if (others.length === 0) return;
  await database.write(async (session) => {
    for (const { subject, issuer: former, account, confirmed_at_ms: nowMs } of others) {
      await confirmRoles.run(session, { realm, issuer: former, subject, roles: '', nowMs });
      await host.setRoles(session, account, []);
    }
  });
}

const attemptMs = 10 * 60_000;
const revokedWithinMs = 60 * 60_000;
const triesMax = 3;

/** People of a provider in the database of a service, by issuer and subject. */
export class Identities<DB extends OidcTables> implements PeopleStore {
  readonly options: IdentitiesOptions<DB>;
  readonly encryption: Encryption;
  readonly realm: string;

  constructor(options: IdentitiesOptions<DB>) {
    this.options = options;
    this.realm = options.realm ?? '';
    const key = hkdfSync('sha256', options.secret, '', 'oidc tokens', 32);
    this.encryption = new Encryption([new Uint8Array(key)]);
  }

  async accountOf(person: Person): Promise<string> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#write((session) => this.#findOrCreate(session, person));
      } catch (error) {
        // Another process took the name at the same time.
        if (tries === triesMax || !(error instanceof AppError) || error.code !== 'conflict') throw error;
      }
    }
  }

  async accountOfHolder(holder: Holder): Promise<string> {
    const { database, issuer } = this.options;
    const { realm } = this;
    const known = await identityOf.first(database, { realm, issuer, subject: holder.subject });
    if (known) return known.account;
    const left = await attemptOf.first(database, {
      hash: leftHash({ realm, issuer, subject: holder.subject }),
    });
    if (left && holder.issuedAtMs <= left.expires_at_ms - leftForMs)
      throw new AppError('unauthenticated', 'The token is of an account that was erased. Sign in again.');
    return this.accountOf({ ...holder, roles: [], issuer, sid: undefined, amr: [] });
  }

  async connect(person: Person, account: string): Promise<void> {
    await this.#write(async (session) => {
      const known = await identityOf.first(session, this.#keyOf(person));
      if (known?.account === account) return this.#setRoles(session, known, person.roles);
      const { issuer } = person;
      const other = await identityOfAccount.first(session, { realm: this.realm, issuer, account });
      const isLost = known && !(await this.options.host.has(session, known.account));
      if (other || (known && !isLost)) throw taken(other !== undefined);
      if (isLost) await deleteIdentity.run(session, this.#keyOf(person));
      await this.#insert(session, person, account);
    });
  }

  async subjectOf(account: string): Promise<string | undefined> {
    const { database, issuer } = this.options;
    return (await identityOfAccount.first(database, { realm: this.realm, issuer, account }))?.subject;
  }

  async disconnect(account: string): Promise<void> {
    const { issuer, host } = this.options;
    const { realm } = this;
    const keys = await this.#write(async (session) => {
      const identity = await identityOfAccount.first(session, { realm, issuer, account });
      if (!identity) return [];
      await host.demandOther?.(session, account);
      await host.setRoles(session, account, []);
      const rows = await sessionsOfSubject.all(session, this.#keyOf(identity));
      for (const { key } of rows) await this.#end(session, key);
      await deleteIdentity.run(session, this.#keyOf(identity));
      return rows.map(({ key }) => key);
    });
    await host.end(keys);
  }

  /** The roles that the provider last named of an account; none if it is not connected. */
  async rolesOf(account: string): Promise<string[]> {
    const { database, issuer } = this.options;
    const identity = await identityOfAccount.first(database, { realm: this.realm, issuer, account });
    return identity ? identity.roles.split(' ') : [];
  }

  async keepSession({ key, person, grant, expiresAtMs }: NewSession): Promise<void> {
    const { database, clock } = this.options;
    await insertSession.run(database, {
      ...this.#keyOf(person),
      key,
      sid: person.sid ?? null,
      ...this.encrypted(key, grant),
      created_at_ms: clock.now(),
      expires_at_ms: expiresAtMs,
    });
  }

  async leave(key: string): Promise<string | undefined> {
    const { database } = this.options;
    const row = await sessionByKey.first(database, { key });
    if (!row || row.realm !== this.realm) return undefined;
    await this.#write((session) => this.#end(session, key));
    return this.decrypted(key, row.id_token);
  }

  async end({ subject, sid }: EndedSessions): Promise<void> {
    const { database, host, issuer } = this.options;
    const { realm } = this;
    const found =
      subject === undefined
        ? await sessionsOfSid.all(database, { realm, issuer, sid: sid ?? '' })
        : (await sessionsOfSubject.all(database, { realm, issuer, subject })).filter(isMeantBy(sid));
    const keys = found.map(({ key }) => key);
    if (keys.length > 0) await host.end(keys);
    for (const key of keys) await deleteSession.run(database, { key });
  }

  async useUp(text: string): Promise<boolean> {
    const { database, clock } = this.options;
    const hash = createHash('sha256').update(text).digest('base64url');
    const { changes } = await useUpAttempt.run(database, { hash, expires_at_ms: clock.now() + attemptMs });
    return changes > 0;
  }

  /** True while a session lasts. */
  async hasSession(key: string): Promise<boolean> {
    const { database, clock } = this.options;
    const row = await sessionByKey.first(database, { key });
    return row !== undefined && row.expires_at_ms > clock.now();
  }

  /** Stores the roles of a person as the provider reports them. */
  async confirm(identity: IdentityRow, roles: readonly string[]): Promise<void> {
    await this.#write((session) => this.#setRoles(session, identity, roles));
  }

  encrypted(key: string, { idToken, refreshToken }: Grant) {
    const place = `oidc_session ${key}`;
    return {
      id_token: this.encryption.encrypt(idToken, place),
      refresh_token: refreshToken === undefined ? null : this.encryption.encrypt(refreshToken, place),
    };
  }

  decrypted(key: string, token: string): string | undefined {
    return this.encryption.decryptText(token, `oidc_session ${key}`);
  }

  /** Deletes a session, and has its grant ended at the provider. */
  async #end(session: WriteSession<DB>, key: string): Promise<void> {
    const row = await sessionByKey.first(session, { key });
    const { changes } = await deleteSession.run(session, { key });
    const token = row?.refresh_token && this.decrypted(key, row.refresh_token);
    if (changes === 0 || !token) return;
    const id = newOrderedId();
    const nowMs = this.options.clock.now();
    await insertRevocation.run(session, {
      id,
      token: this.encryption.encrypt(token, `oidc_revocation ${id}`),
      tries: 0,
      next_try_at_ms: nowMs,
      expires_at_ms: nowMs + revokedWithinMs,
    });
  }

  async #findOrCreate(session: WriteSession<DB>, person: Person): Promise<string> {
    const { host } = this.options;
    await session.lock(`oidc ${person.subject}`);
    const known = await identityOf.first(session, this.#keyOf(person));
    if (known && (await host.has(session, known.account))) {
      await this.#setRoles(session, known, person.roles);
      return known.account;
    }
    // Its account was deleted here.
    if (known) await deleteIdentity.run(session, this.#keyOf(person));
    const account = await host.create(session, person);
    await this.#insert(session, person, account);
    return account;
  }

  async #insert(session: WriteSession<DB>, person: Person, account: string): Promise<void> {
    const nowMs = this.options.clock.now();
    await insertIdentity.run(session, {
      ...this.#keyOf(person),
      account,
      roles: person.roles.join(' '),
      connected_at_ms: nowMs,
      confirmed_at_ms: nowMs,
      asked_at_ms: nowMs,
    });
    await this.options.host.setRoles(session, account, person.roles);
  }

  async #setRoles(session: WriteSession<DB>, identity: IdentityRow, roles: readonly string[]): Promise<void> {
    const nowMs = this.options.clock.now();
    await confirmRoles.run(session, { ...this.#keyOf(identity), roles: roles.join(' '), nowMs });
    await this.options.host.setRoles(session, identity.account, roles);
  }

  #write<T>(work: (session: WriteSession<DB>) => Promise<T>): Promise<T> {
    return this.options.database.write(work);
  }

  #keyOf({ issuer, subject }: Pick<Person, 'issuer' | 'subject'>) {
    return { realm: this.realm, issuer, subject };
  }
}

/** Among the sessions of a subject, those that a logout token ends. One whose ID token named no session may be any. */
function isMeantBy(ended: string | undefined) {
  return ({ sid }: { readonly sid: string | null }) => ended === undefined || sid === null || sid === ended;
}

function taken(isAccount: boolean): AppError {
  const message = isAccount
    ? 'Your account is already connected to another one there.'
    : 'That sign-in is already connected to another account here.';
  return new AppError('conflict', message, { reason: 'IDENTITY_TAKEN' });
}
