import { createHmac, hash, randomInt, timingSafeEqual } from 'node:crypto';
import type { AppError, Clock } from '@octavo/core';
import { newSecret } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { normalizeEmail } from '@octavo/core/auth';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import { codeDigits } from '../keys/codes.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Caller, Sessions, TokenPair } from '../sessions/index.ts';
import type { Site } from '../site.ts';
import type { Tables } from '../store/store.ts';
import { claimAccount, lockAddress, usersOf } from '../users/index.ts';
import {
  countLinks,
  findLink,
  insertLink,
  type LinkAsker,
  type LinkRow,
  liveLinksMax,
  tryCodes,
  useLink,
  voidLinks,
  voidOldestLinks,
} from './store.ts';

interface MagicLinksOptions {
  readonly database: Database<Tables>;
  readonly sessions: Sessions;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly site: Site;
  /** The key for new codes, then the previous one. */
  readonly codeKeys: readonly [Buffer, ...Buffer[]];
  readonly lifetimeSeconds: number;
  /** 0 turns the limit off. */
  readonly perAddressMax: number;
  readonly allowsSignUp: boolean;
}

/** Origin of a request that uses a link or code. */
interface LinkUse {
  /** The user who was signed in there. */
  readonly caller: Caller | undefined;
  readonly visitor: Visitor;
}

const perAddressWindowMs = 600_000;
const askers = 3;

/** Links, and codes for other devices. They are sent by mail and work once. */
export class MagicLinks {
  readonly #options: MagicLinksOptions;

  constructor(options: MagicLinksOptions) {
    this.#options = options;
  }

  /**
   * Sends a link, unless the address is invalid or was sent too many. The client is never told, and known and unknown addresses are treated
   * alike. Returns whether the request counts against the limit of the client.
   */
  async request(
    given: string,
    { caller, locale }: { caller: Caller | undefined; locale: string | undefined },
  ): Promise<boolean> {
    const email = normalizeEmail(given);
    if (email === undefined) return false;
    const { database, mails, clock } = this.#options;
    const nowMs = clock.now();
    const asker = askerOf(caller, email);
    const outcome = await database.write(async (session) => {
      await lockAddress(session, email);
      if (await this.#isLimited(session, { email, asker, nowMs })) return 'refused';
      if (!(await this.#maySignIn(session, email))) return 'ignored';
      const link = await this.#create(session, { email, asker, nowMs });
      const isAskerSignedIn = asker !== 'anybody';
      await mails.enqueue(session, { kind: 'magic-link', to: email, ...link, isAskerSignedIn, locale });
      return 'sent';
    });
    if (outcome === 'sent') mails.wakeWorkers();
    return outcome !== 'refused';
  }

  /** Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  async verify(token: string, use: LinkUse): Promise<TokenPair> {
    const { database, clock } = this.#options;
    const nowMs = clock.now();
    return database.write(async (session) => {
      const link = await findLink(session, hashOf(token));
      if (link?.used !== 0) throw authErrors.invalidToken();
      if (link.expires_at_ms <= nowMs) throw authErrors.tokenExpired();
      await lockAddress(session, link.email);
      return this.#signIn(session, link, use);
    });
  }

  /** Throws INVALID_TOKEN. Each code has five tries and no other limit, so that strangers cannot keep the owner of an address out. */
  async verifyCode(given: { email: string; code: string }, use: LinkUse): Promise<TokenPair> {
    const email = normalizeEmail(given.email);
    if (email === undefined) throw authErrors.invalidToken();
    const { database, audit, clock } = this.#options;
    const nowMs = clock.now();
    // The count of tries must be committed although the request fails.
    const result = await database.write(async (session): Promise<TokenPair | AppError> => {
      await lockAddress(session, email);
      const link = this.#matching(await tryCodes(session, email, nowMs), given.code);
      if (link) return this.#signIn(session, link, use);
      await audit.record(session, 'authn_login_fail', { address: use.visitor.address });
      return authErrors.invalidToken();
    });
    if (result instanceof Error) throw result;
    return result;
  }

  /** Askers of one kind do not use up the links of another. */
  async #isLimited(
    session: WriteSession<Tables>,
    { email, asker, nowMs }: { email: string; asker: LinkAsker; nowMs: number },
  ): Promise<boolean> {
    const { perAddressMax } = this.#options;
    if (perAddressMax === 0) return false;
    return (
      (await countLinks(session, { email, asker, sinceMs: nowMs - perAddressWindowMs })) >= perAddressMax
    );
  }

  /** Returns true if the address may sign in or sign up. */
  async #maySignIn(session: WriteSession<Tables>, email: string): Promise<boolean> {
    return this.#options.allowsSignUp || (await usersOf(session, email)).some((user) => user.isVerified);
  }

  async #create(
    session: WriteSession<Tables>,
    { email, asker, nowMs }: { email: string; asker: LinkAsker; nowMs: number },
  ): Promise<{ link: string; code: string; expiresAtMs: number }> {
    const { site, lifetimeSeconds } = this.#options;
    const token = newSecret();
    const code = String(randomInt(10 ** codeDigits)).padStart(codeDigits, '0');
    const expiresAtMs = nowMs + lifetimeSeconds * 1_000;
    const tokenHash = hashOf(token);
    await voidOldestLinks(session, email, asker);
    await insertLink(session, {
      hash: tokenHash,
      email,
      asker,
      code_hash: codeHash(this.#options.codeKeys[0], tokenHash, code).toString('base64url'),
      created_at_ms: nowMs,
      expires_at_ms: expiresAtMs,
    });
    return { link: site.linkWith(token), code, expiresAtMs };
  }

  /** Uses up the link and all other links of the address. */
  async #signIn(
    session: WriteSession<Tables>,
    { email, hash: linkHash }: LinkRow,
    { caller, visitor }: LinkUse,
  ): Promise<TokenPair> {
    const { sessions, audit, mails, clock } = this.#options;
    const nowMs = clock.now();
    const { numUpdatedRows } = await useLink(session, linkHash, nowMs);
    if (numUpdatedRows === 0n) throw authErrors.invalidToken();
    await voidLinks(session, email);
    const proof = { email, signedInAs: caller?.user.id, nowMs };
    const user = await claimAccount({ session, audit, mails }, proof);
    return sessions.open(session, { user, amr: ['email'], visitor });
  }

  /** Always compares the same number of codes, however many links there are. */
  #matching(links: readonly LinkRow[], code: string): LinkRow | undefined {
    let found: LinkRow | undefined;
    for (let index = 0; index < Math.max(askers * liveLinksMax, links.length); index++) {
      const link = links[index];
      const expected = Buffer.from(link?.code_hash ?? '', 'base64url');
      for (const key of this.#options.codeKeys) {
        const given = codeHash(key, link?.hash ?? '', code);
        if (link && expected.length === given.length && timingSafeEqual(expected, given)) found = link;
      }
    }
    return found;
  }
}

/** A token for another address counts for nothing. */
function askerOf(caller: Caller | undefined, email: string): LinkAsker {
  if (caller?.user.email !== email) return 'anybody';
  return caller.user.isVerified ? 'owner' : 'unverified';
}

function codeHash(key: Buffer, linkHash: string, code: string): Buffer {
  return createHmac('sha256', key).update(`${linkHash}:${code}`).digest();
}

/** A token is 256 random bits, so its hash needs no salt. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
