import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { Clock } from '@octavo/core';
import type { Encryption } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { JWK } from 'oidc-provider';
import type { Tables } from '../store/store.ts';

const dayMs = 86_400_000;
/** Time that a key signs. */
const signsMs = 90 * dayMs;
/** Time that a key is published before it signs, so that replicas and applications know it by then. */
const announcedMs = dayMs;
/** Time that a key is published after the next one took over. */
const servedMs = 7 * dayMs;

interface SigningKeysOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly encryption: Encryption;
}

/** The keys to publish; the first one signs. */
export interface SigningKeySet {
  /** Changes with the keys and their order. */
  readonly version: string;
  readonly keys: readonly JWK[];
}

interface Key {
  readonly generation: number;
  readonly signsFromMs: number;
  readonly jwk: JWK;
}

/**
 * The ES256 keys of all replicas. Each key belongs to a generation, which one conditional statement claims: of several replicas that create
 * the next key, one wins, and the others read it. Which key signs follows from the times in the rows alone.
 */
export class SigningKeys {
  readonly #options: SigningKeysOptions;

  constructor(options: SigningKeysOptions) {
    this.#options = options;
  }

  /** Creates the next key if it is time to, and deletes keys that are no longer served. */
  async current(): Promise<SigningKeySet> {
    const { database, clock } = this.#options;
    const nowMs = clock.now();
    let keys = await this.#load();
    const newest = keys.usable.at(-1);
    if (!newest || newest.signsFromMs + signsMs - announcedMs <= nowMs) {
      // After a long pause no application knows the new key in advance, but the old one is worse.
      const signsFromMs = newest ? Math.max(newest.signsFromMs + signsMs, nowMs) : nowMs;
      await this.#create(keys.generation + 1, signsFromMs);
      keys = await this.#load();
    }
    const { usable } = keys;
    const signing = usable.findLast(({ signsFromMs }) => signsFromMs <= nowMs) ?? usable[0];
    const served = usable.filter((_, index) => (usable[index + 1]?.signsFromMs ?? nowMs) + servedMs > nowMs);
    const oldest = served[0]?.generation ?? 0;
    if (oldest > (usable[0]?.generation ?? 0)) {
      await database.write(({ kysely }) =>
        kysely.deleteFrom('oidc_key').where('generation', '<', oldest).execute(),
      );
    }
    const ordered = served.toSorted((one, other) => Number(other === signing) - Number(one === signing));
    const version = ordered.map(({ generation }) => generation).join(',');
    return { version, keys: ordered.map(({ jwk }) => jwk) };
  }

  /** The keys, oldest first, but for those that were encrypted with a secret that is lost. */
  async #load(): Promise<{ generation: number; usable: Key[] }> {
    const { kysely } = this.#options.database;
    const rows = await kysely.selectFrom('oidc_key').selectAll().orderBy('generation').execute();
    const usable = rows.flatMap(({ generation, private_key: encrypted, signs_from_ms: signsFromMs }) => {
      const text = this.#options.encryption.decryptText(encrypted, placeOf(generation));
      if (text === undefined) return [];
      return [{ generation, signsFromMs, jwk: { ...JSON.parse(text), alg: 'ES256', use: 'sig' } }];
    });
    return { generation: rows.at(-1)?.generation ?? 0, usable };
  }

  async #create(generation: number, signsFromMs: number): Promise<void> {
    const { database, encryption } = this.#options;
    const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' });
    const text = JSON.stringify(privateKey.export({ format: 'jwk' }));
    const row = {
      generation,
      private_key: encryption.encrypt(text, placeOf(generation)),
      signs_from_ms: signsFromMs,
    };
    await database.write(({ kysely }) =>
      kysely
        .insertInto('oidc_key')
        .values(row)
        .onConflict((conflict) => conflict.column('generation').doNothing())
        .execute(),
    );
  }
}

function placeOf(generation: number): string {
  return `oidc_key:${generation}`;
}
