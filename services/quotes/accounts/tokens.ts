import { hkdfSync } from 'node:crypto';
import type { Clock, Log } from '@octavo/core';
import { newId, newSecret } from '@octavo/core';
import { createPlainJwt, judgeRefresh, type PlainClaims } from '@octavo/core/jwt';
import type { Database } from '@octavo/data';
import type { Tables } from '../tables.ts';
import {
  activeReader,
  deleteExpired,
  familyOf,
  insertFamily,
  type Reader,
  revokeFamily,
  rotateFamily,
} from './store.ts';

const accessSeconds = 5 * 60;
const refreshSeconds = 86_400;
/** However often it is refreshed. */
const familyMsMax = 30 * 86_400_000;

export interface TokenPair {
  readonly access: string;
  readonly refresh: string;
}

export interface TokensOptions {
  readonly database: Database<Tables>;
  /** Secret from which their key is derived (HKDF-SHA-256, RFC 5869). */
  readonly secret: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reason to refuse a token, in the words of the dialect. */
export class TokenProblem extends Error {}

/**
 * Pairs of JWTs. The `jti` of each names its family, which is one sign-in, and that of a refresh token also its generation. Of several
 * requests with the same refresh token one wins; an older one that comes again later ends the family.
 */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #jwt: ReturnType<typeof createPlainJwt>;

  constructor(options: TokensOptions) {
    this.#options = options;
    const secret = Buffer.from(hkdfSync('sha256', options.secret, '', 'tokens', 32));
    this.#jwt = createPlainJwt({ secret, clock: options.clock });
  }

  /** The tokens of a new sign-in. */
  async issue(userId: number): Promise<TokenPair> {
    const { database, clock } = this.#options;
    const id = newId();
    const nowMs = clock.now();
    await insertFamily(database, {
      id,
      user_id: userId,
      created_at_ms: nowMs,
      expires_at_ms: nowMs + refreshSeconds * 1_000,
    });
    return this.#pair({ id, userId, generation: 0 });
  }

  /** Exchanges a refresh token. Throws {@link TokenProblem}. */
  async refresh(token: string): Promise<TokenPair> {
    const { database, clock } = this.#options;
    const { id, generation } = this.#read(token, 'refresh');
    const nowMs = clock.now();
    const times = { nowMs, expiresAtMs: nowMs + refreshSeconds * 1_000, bornAfterMs: nowMs - familyMsMax };
    const rotated = await rotateFamily(database, { id, generation, ...times });
    if (rotated) return this.#pair({ id, userId: rotated.userId, generation: generation + 1 });
    await this.#judge(id, generation);
    throw new TokenProblem(invalid);
  }

  /** Checks that any token of ours, of either kind, is valid now. Throws {@link TokenProblem}. */
  async verify(token: string): Promise<void> {
    const { id, generation, type } = this.#read(token);
    if (!(await this.#readerOf(id))) throw new TokenProblem(invalid);
    if (type !== 'refresh') return;
    const family = await familyOf(this.#options.database, id);
    if (family?.generation !== generation) throw new TokenProblem('Token is blacklisted');
  }

  /** Ends the sign-in of a refresh token: all its tokens are invalid from now on. Throws {@link TokenProblem}. */
  async end(token: string): Promise<void> {
    const { id } = this.#read(token, 'refresh');
    const { numUpdatedRows } = await revokeFamily(this.#options.database, id);
    if (numUpdatedRows === 0n) throw new TokenProblem('Token is blacklisted');
  }

  /** Returns the owner of an access token. Throws {@link TokenProblem}. */
  async readerOf(token: string): Promise<Reader> {
    const { id } = this.#read(token, 'access');
    const reader = await this.#readerOf(id);
    if (!reader) throw new TokenProblem(invalid);
    return reader;
  }

  /** Deletes sign-ins that have expired. */
  async sweep(): Promise<void> {
    await deleteExpired(this.#options.database, this.#options.clock.now());
  }

  #readerOf(id: string): Promise<Reader | undefined> {
    return activeReader(this.#options.database, id, this.#options.clock.now());
  }

  async #judge(id: string, generation: number): Promise<void> {
    const { database, clock, log } = this.#options;
    const family = await familyOf(database, id);
    if (!family || family.isRevoked) return;
    const rotatedMs = family.rotatedAtMs ?? undefined;
    const verdict = judgeRefresh(generation, { generation: family.generation, rotatedMs }, clock.now());
    if (verdict !== 'replay') return;
    await revokeFamily(database, id);
    log.warn({ event: 'authn_token_reuse', userId: family.userId }, 'a refresh token was used again');
  }

  #pair({ id, userId, generation }: { id: string; userId: number; generation: number }): TokenPair {
    const sign = (type: Kind, jti: string, seconds: number) =>
      this.#jwt.sign({ token_type: type, jti, user_id: userId }, seconds);
    return {
      refresh: sign('refresh', `${id}.${generation}`, refreshSeconds),
      access: sign('access', `${id}.${newSecret(9)}`, accessSeconds),
    };
  }

  #read(token: string, wanted?: Kind): { id: string; generation: number; type: unknown } {
    const claims = this.#verified(token);
    if (wanted !== undefined && claims.token_type !== wanted) throw new TokenProblem(wrongType);
    const [id = '', rest = ''] = String(claims.jti).split('.');
    return { id, generation: Number(rest), type: claims.token_type };
  }

  #verified(token: string): PlainClaims {
    try {
      return this.#jwt.verify(token);
    } catch (error) {
      throw new TokenProblem(invalid, { cause: error });
    }
  }
}

type Kind = 'access' | 'refresh';

const invalid = 'Token is invalid or expired';
const wrongType = 'Token has wrong type';
