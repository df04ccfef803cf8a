import { createHmac } from 'node:crypto';
import type { Passwords } from '#kit/auth/passwords.ts';

/** Hashes as the kit makes them, of passwords that are first mixed with the pepper where there is one. */
export class PasswordHashes {
  readonly #passwords: Passwords;
  readonly #pepper: string | undefined;

  constructor(passwords: Passwords, pepper: string | undefined) {
    this.#passwords = passwords;
    this.#pepper = pepper;
  }

  hash(password: string): Promise<string> {
    return this.#passwords.hash(this.#peppered(password));
  }

  /** Without a hash it takes as long and is false. */
  verify(hashed: string | undefined, password: string): Promise<boolean> {
    return this.#passwords.verify(hashed, this.#peppered(password));
  }

  #peppered(password: string): string {
    if (this.#pepper === undefined) return password;
    return createHmac('sha256', this.#pepper).update(password.normalize('NFC')).digest('base64');
  }
}
