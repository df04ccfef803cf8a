export interface PasswordRules {
  readonly charactersMin: number;
  /** Words that a password must not hold, in lower case, such as the service's name. */
  readonly words: readonly string[];
}

const charactersMax = 128;
const localPartMin = 4;

/** What is wrong with a new password, to be read after "The password"; undefined where nothing is. Common ones are looked up elsewhere. */
export function passwordProblem(password: string, email: string, rules: PasswordRules): string | undefined {
  const text = password.normalize('NFC');
  const characters = [...text].length;
  if (characters < rules.charactersMin) return `must be at least ${rules.charactersMin} characters`;
  if (characters > charactersMax) return `must be at most ${charactersMax} characters`;
  if (!text.isWellFormed() || text.includes('\0')) return 'must be well-formed Unicode without U+0000';
  if (new Set(text).size === 1) return 'must not be one character over and over';
  if (isRun(text)) return 'must not be a run such as 12345678';
  return contextProblem(text, email, rules);
}

/** The spellings under which a password is looked up in a list of common ones: plain words in any case. */
export function commonSpellings(password: string): readonly string[] {
  const text = password.normalize('NFC');
  return /^[\p{L}\p{N}]*$/u.test(text) ? [text, text.toLowerCase()] : [text];
}

/** How hard a password that no rule refuses is to guess, from 2 to 4: a rough estimate by length and variety, for encouragement only. */
export function strengthOf(password: string): 2 | 3 | 4 {
  const characters = [...password];
  const kinds = [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(password));
  const varied = Math.min(characters.length, new Set(characters).size * 2);
  const bits = varied * (3 + kinds.length / 2);
  if (bits < 45) return 2;
  return bits < 70 ? 3 : 4;
}

function contextProblem(text: string, email: string, { words }: PasswordRules): string | undefined {
  const lower = text.toLowerCase();
  if (lower === email) return 'must not be the e-mail address';
  const [localPart = ''] = email.split('@');
  if (localPart.length >= localPartMin && holds(text, localPart))
    return 'must not hold the name in the e-mail address';
  const word = words.find((each) => lower.includes(each));
  return word && `must not hold "${word}"`;
}

/** As it is written, or in any case where it is most of the password: "Test1234!" is no worse for a test@. */
function holds(text: string, localPart: string): boolean {
  if (text.includes(localPart)) return true;
  return localPart.length * 2 >= text.length && text.toLowerCase().includes(localPart);
}

/** Characters that follow one another upwards or downwards. */
function isRun(text: string): boolean {
  const points = [...text.toLowerCase()].map((character) => character.codePointAt(0) ?? 0);
  const steps = points.slice(1).map((point, index) => point - (points[index] ?? 0));
  return steps.every((step) => step === 1) || steps.every((step) => step === -1);
}
