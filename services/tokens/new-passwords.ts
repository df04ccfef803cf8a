import type { BreachedPasswords } from './breached-passwords.ts';
import { commonSpellings, type PasswordRules, passwordProblem } from './password-rules.ts';
import { refusals } from './refusals.ts';

/** Decides whether a password may be taken: by the rules, a list of common ones, and the breached ones where there is such a file. */
export class NewPasswords {
  readonly #rules: PasswordRules;
  readonly #breached: BreachedPasswords | undefined;
  #common: Promise<ReadonlySet<string>> | undefined;

  constructor(rules: PasswordRules, breached: BreachedPasswords | undefined) {
    this.#rules = rules;
    this.#breached = breached;
  }

  get charactersMin(): number {
    return this.#rules.charactersMin;
  }

  /** Throws WEAK_PASSWORD with the rule that is broken. */
  async check(password: string, email: string): Promise<void> {
    const problem = await this.problemOf(password, email);
    if (problem) throw refusals.weakPassword(problem);
  }

  async problemOf(password: string, email: string): Promise<string | undefined> {
    const problem = passwordProblem(password, email, this.#rules);
    if (problem) return problem;
    this.#common ??= loadCommon(this.#rules.charactersMin);
    const common = await this.#common;
    if (commonSpellings(password).some((spelling) => common.has(spelling))) {
      return 'is one of the most common ones';
    }
    return (await this.#breached?.has(password)) ? 'is known from a breach elsewhere' : undefined;
  }
}

/** Loaded at the first use, which costs some 20 ms that no start should. */
async function loadCommon(charactersMin: number): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= charactersMin));
}
