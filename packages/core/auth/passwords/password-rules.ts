import { closeSync, openSync } from 'node:fs';
import { type Config, integer, refuse, type Settings, text } from '../../base/config.ts';
import { AppError } from '../../base/errors.ts';
import { loadOnce } from '../../concurrency/load-once.ts';
import { BreachedPasswords } from './breached-passwords.ts';

/** Settings for {@link openPasswordRules}. */
export const passwordRuleSettings = {
  PASSWORD_MIN_LENGTH: integer({
    default: 8,
    min: 1,
    max: 64,
    help: 'Minimum length of a new password; NIST 800-63B recommends 15',
  }),
  BREACHED_PASSWORDS_FILE: text({
    help: 'File of sorted SHA-1 sums of passwords to reject, in the format of Have I Been Pwned',
  }),
} satisfies Settings;

export interface PasswordRulesOptions {
  readonly charactersMin: number;
  /** Words that a password must not contain, in lower case, such as the service's name. */
  readonly words: readonly string[];
  readonly breached: BreachedPasswords | undefined;
}

/** Owner of a password, which must not be, or contain, their names. */
export interface PasswordOwner {
  /** Address in lower case. */
  readonly email?: string | undefined;
  readonly username?: string | undefined;
}

/** Refuses the setting if the file of breached passwords cannot be read. For `checks` of a service. */
export function checkBreachedFile({
  BREACHED_PASSWORDS_FILE: path,
}: Config<typeof passwordRuleSettings>): void {
  try {
    if (path !== undefined) closeSync(openSync(path, 'r'));
  } catch (error) {
    refuse({ BREACHED_PASSWORDS_FILE: `cannot be read: ${(error as NodeJS.ErrnoException).code}` });
  }
}

/** The rules that the settings ask for. */
export async function openPasswordRules(
  config: Config<typeof passwordRuleSettings>,
  words: readonly string[],
  stack: AsyncDisposableStack,
): Promise<PasswordRules> {
  const { BREACHED_PASSWORDS_FILE: path } = config;
  const breached = path === undefined ? undefined : stack.use(await BreachedPasswords.open(path));
  return new PasswordRules({ charactersMin: config.PASSWORD_MIN_LENGTH, words, breached });
}

const charactersMax = 128;
const nameMin = 4;

/** Decides which new passwords are accepted: by rules, by a list of common ones, and by a file of breached ones. */
export class PasswordRules {
  readonly #options: PasswordRulesOptions;
  readonly #common: () => Promise<ReadonlySet<string>>;

  constructor(options: PasswordRulesOptions) {
    this.#options = options;
    this.#common = loadOnce(() => loadCommon(options.charactersMin));
  }

  get charactersMin(): number {
    return this.#options.charactersMin;
  }

  /** Throws `invalid_input` with reason `WEAK_PASSWORD` and the rule that is broken. */
  async check(password: string, owner: PasswordOwner): Promise<void> {
    const problem = await this.problemOf(password, owner);
    if (problem) throw weakPassword(problem);
  }

  /** Returns the problem with a password, to be read after "The password"; undefined if it is accepted. */
  async problemOf(password: string, owner: PasswordOwner): Promise<string | undefined> {
    const { charactersMin, breached } = this.#options;
    const problem = shapeProblem(password, charactersMin) ?? this.#contentProblem(password, owner);
    if (problem) return problem;
    const common = await this.#common();
    if (commonSpellings(password).some((spelling) => common.has(spelling))) {
      return 'is one of the most common passwords';
    }
    return (await breached?.has(password)) ? 'has appeared in a data breach' : undefined;
  }

  #contentProblem(password: string, { email, username }: PasswordOwner): string | undefined {
    const text = password.normalize('NFC');
    const lower = text.toLowerCase();
    if (lower === email) return 'must not be the e-mail address';
    const [localPart = ''] = email?.split('@') ?? [];
    if (localPart.length >= nameMin && holds(text, localPart))
      return 'must not contain the name from the e-mail address';
    const name = username?.normalize('NFC').toLowerCase() ?? '';
    if (name.length > 0 && (lower === name || (name.length >= nameMin && holds(text, name))))
      return 'must not contain the username';
    const word = this.#options.words.find((each) => lower.includes(each));
    return word && `must not contain "${word}"`;
  }
}

/** The error of a password that breaks a rule; `problem` is read after "The password". */
export function weakPassword(problem: string): AppError {
  return new AppError('invalid_input', `The password ${problem}.`, {
    reason: 'WEAK_PASSWORD',
    fields: { password: problem },
  });
}

/** Returns the strength of an accepted password from 2 to 4: a rough estimate by length and variety, for the meter on the page. */
export function strengthOf(password: string): 2 | 3 | 4 {
  const characters = [...password];
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(password));
  const varied = Math.min(characters.length, new Set(characters).size * 2);
  const bits = varied * (3 + kinds.length / 2);
  if (bits < 45) return 2;
  return bits < 70 ? 3 : 4;
}

function shapeProblem(password: string, charactersMin: number): string | undefined {
  const text = password.normalize('NFC');
  const characters = [...text].length;
  if (characters < charactersMin) return `must be at least ${charactersMin} characters`;
  if (characters > charactersMax) return `must be at most ${charactersMax} characters`;
  if (!text.isWellFormed() || text.includes('\0')) return 'must be well-formed Unicode without U+0000';
  if (new Set(text).size === 1) return 'must not repeat a single character';
  return isSequence(text) ? 'must not be a sequence such as 12345678' : undefined;
}

/** Characters that follow one another upwards or downwards. */
function isSequence(text: string): boolean {
  const points = [...text.toLowerCase()].map((character) => character.codePointAt(0) ?? 0);
  const steps = points.slice(1).map((point, index) => point - (points[index] ?? 0));
  return steps.every((step) => step === 1) || steps.every((step) => step === -1);
}

/** True if a password contains a text as written; in any case only if that is most of it, so that test can still use "Test1234!". */
function holds(text: string, name: string): boolean {
  if (text.includes(name)) return true;
  return name.length * 2 >= text.length && text.toLowerCase().includes(name);
}

/** The spellings to look for in the list of common passwords: plain words match in any case. */
function commonSpellings(password: string): readonly string[] {
  const text = password.normalize('NFC');
  return /^[\p{L}\p{N}]*$/u.test(text) ? [text, text.toLowerCase()] : [text];
}

/** Loaded on first use: it takes about 20 ms, which would delay the start. */
async function loadCommon(charactersMin: number): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common'].filter((password) => password.length >= charactersMin));
}
