import { createHmac } from 'node:crypto';
import { hash, parseOptions, verify } from '@node-rs/argon2';
import { type Config, integer, type Settings } from '../../base/config.ts';
import { randomBytes } from '../../base/random.ts';
import { ConcurrencyLimiter, type ConcurrencyLimits } from '../../concurrency/concurrency-limiter.ts';

/** The cost of one hash: argon2id parameters of RFC 9106 section 3.1. */
export interface PasswordCost {
  /** m, memory in KiB. */
  readonly memoryKib: number;
  /** t, passes over the memory. */
  readonly passes: number;
  /** p, lanes. */
  readonly lanes: number;
}

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, 2 passes, 1 lane; about 10 ms. */
export const owaspCost: PasswordCost = { memoryKib: 19_456, passes: 2, lanes: 1 };

/** Settings for the cost. Lower values are for tests. */
export const passwordSettings = {
  ARGON2_MEMORY_KIB: integer({
    default: owaspCost.memoryKib,
    min: 8,
    max: 4_194_304,
    help: 'Memory of a password hash in KiB',
  }),
  ARGON2_PASSES: integer({ default: owaspCost.passes, min: 1, max: 100, help: 'Passes of a password hash' }),
} satisfies Settings;

/** The cost given by {@link passwordSettings}. */
export function passwordCost(config: Config<typeof passwordSettings>): PasswordCost {
  return { memoryKib: config.ARGON2_MEMORY_KIB, passes: config.ARGON2_PASSES, lanes: owaspCost.lanes };
}

/** Number of hashes that run at once (4 by default) and wait (64 by default), and their cost. */
export interface PasswordsOptions extends Partial<ConcurrencyLimits> {
  /** {@link owaspCost} by default. */
  readonly cost?: PasswordCost;
  /** Mixed into each password by HMAC-SHA-256 before hashing. Hashes made with another pepper never match. */
  readonly pepper?: string | undefined;
}

/** Hashes and verifies inside a slot that {@link Passwords.inTurn} holds. */
export type Hasher = Pick<Passwords, 'hash' | 'verify'>;

/**
 * Hashes and verifies passwords with argon2id, off the event loop. At most 4 hashes run at once (76 MiB) and 64 wait.
 * Beyond that, every method throws `unavailable` with a retry after 1 s. Passwords are normalized to Unicode form C
 * (RFC 8265 section 4.2.2), so it does not matter which keyboard composed an accent.
 */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #limiter: ConcurrencyLimiter;
  readonly #pepper: string | undefined;
  readonly #unknown: string;

  constructor(options: PasswordsOptions = {}) {
    const { cost = owaspCost, running = 4, waiting = 64 } = options;
    this.#cost = cost;
    this.#pepper = options.pepper;
    this.#limiter = new ConcurrencyLimiter({ running, waiting });
    this.#unknown = this.unknowable();
  }

  /** A PHC string (`$argon2id$v=19$m=…,t=…,p=…$salt$tag`) with a fresh 16-byte salt and a 32-byte tag. */
  hash(password: string): Promise<string> {
    return this.inTurn((hasher) => hasher.hash(password));
  }

  /**
   * Returns true if the password is the one that was hashed. Without a hash (no such account) it takes the same time and
   * returns false. Throws if the hash is not a PHC string.
   */
  verify(hashed: string | undefined, password: string): Promise<boolean> {
    return this.inTurn((hasher) => hasher.verify(hashed, password));
  }

  /** Runs work while holding one slot, for an attempt that counts, looks up and verifies only once it is admitted. */
  inTurn<T>(work: (hasher: Hasher) => Promise<T>): Promise<T> {
    return this.#limiter.run(() => work(this.#hasher));
  }

  /** A new hash that no password has, for an account without one: checking it takes as long as any other. */
  unknowable(): string {
    return phc(this.#cost, randomBytes(saltBytes), Buffer.alloc(tagBytes));
  }

  /** Returns true if a hash was made with another cost, so that the next sign-in should replace it. */
  needsRehash(hashed: string): boolean {
    const { memoryCost, timeCost, parallelism, outputLen, saltLen } = parseOptions(hashed);
    const { memoryKib, passes, lanes } = this.#cost;
    return (
      !hashed.startsWith('$argon2id$v=19$') ||
      memoryCost !== memoryKib ||
      timeCost !== passes ||
      parallelism !== lanes ||
      outputLen !== tagBytes ||
      saltLen !== saltBytes
    );
  }

  readonly #hasher: Hasher = {
    hash: (password) =>
      hash(this.#bytesOf(password), {
        memoryCost: this.#cost.memoryKib,
        timeCost: this.#cost.passes,
        parallelism: this.#cost.lanes,
        outputLen: tagBytes,
        salt: randomBytes(saltBytes),
      }),
    verify: (hashed = this.#unknown, password) => verify(hashed, this.#bytesOf(password)),
  };

  #bytesOf(password: string): Buffer {
    const text = password.normalize('NFC');
    if (this.#pepper === undefined) return Buffer.from(text, 'utf8');
    return Buffer.from(createHmac('sha256', this.#pepper).update(text).digest('base64'));
  }
}

/** Returns false for a hash of {@link Passwords.unknowable}. */
export function isPassword(hashed: string): boolean {
  return !hashed.endsWith(`$${base64(Buffer.alloc(tagBytes))}`);
}

const saltBytes = 16;
const tagBytes = 32;

/** PHC string format; base64 without padding. */
function phc(cost: PasswordCost, salt: Buffer, tag: Buffer): string {
  const { memoryKib, passes, lanes } = cost;
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${base64(salt)}$${base64(tag)}`;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
