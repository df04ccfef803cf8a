import { readFileSync } from 'node:fs';
import { AppError, type Fields } from './errors.ts';

/** One setting: an environment variable with its kind, default and help. Declare it with `text()`, `integer()`, `flag()` or `choice()`. */
export interface Setting<T> {
  readonly kind: string;
  readonly help: string;
  readonly default: T;
  /** Never printed; `<NAME>_FILE` may name a file that holds it. */
  readonly secret: boolean;
  /** True if it must be set with `NODE_ENV=production`. */
  readonly requiredInProduction: boolean;
  /** The value of a non-empty text. Throws an `Error` whose message starts with "must be" if it is invalid. */
  parse(text: string): T;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table of settings, under the same names. */
export type Config<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

export type Environment = Readonly<Record<string, string | undefined>>;

interface SettingOptions<T> {
  readonly help: string;
  readonly default?: T;
  readonly secret?: boolean;
  readonly requiredInProduction?: boolean;
}

interface TextOptions extends SettingOptions<string> {
  /** Minimum in bytes. */
  readonly minLength?: number;
  /** Returns a problem that starts with "must", or nothing. */
  readonly check?: (value: string) => string | undefined;
}

/** Any text. Without a default, a missing setting is `undefined`. */
export function text(options: TextOptions & { default: string }): Setting<string>;
export function text(options: TextOptions): Setting<string | undefined>;
export function text(options: TextOptions): Setting<string | undefined> {
  const { minLength = 0, check } = options;
  return define('text', options, (value) => {
    if (Buffer.byteLength(value) < minLength) throw new Error(`must be at least ${minLength} bytes`);
    const problem = check?.(value);
    if (problem !== undefined) throw new Error(problem);
    return value;
  });
}

/** A whole number from `min` to `max`. */
export function integer(
  options: SettingOptions<number> & { default: number; min?: number; max?: number },
): Setting<number>;
export function integer(
  options: SettingOptions<number> & { min?: number; max?: number },
): Setting<number | undefined>;
export function integer(
  options: SettingOptions<number> & { min?: number; max?: number },
): Setting<number | undefined> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  return define('integer', options, (value) => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}`);
    }
    return number;
  });
}

/** `on` or `off` (also `true`/`false`, `1`/`0`, `yes`/`no`). */
export function flag(options: SettingOptions<boolean> & { default: boolean }): Setting<boolean> {
  return define('on|off', options, (value) => {
    if (/^(on|true|1|yes)$/i.test(value)) return true;
    if (/^(off|false|0|no)$/i.test(value)) return false;
    throw new Error('must be on or off');
  }) as Setting<boolean>;
}

/** One of a few words. */
export function choice<const T extends string>(
  words: readonly T[],
  options: SettingOptions<T> & { default: T },
): Setting<T> {
  return define(words.join('|'), options, (value) => {
    if (!words.includes(value as T)) throw new Error(`must be one of ${words.join(', ')}`);
    return value as T;
  }) as Setting<T>;
}

/**
 * Reads every setting from the environment. An empty variable counts as not set; `X_FILE` names the file of a secret.
 * Throws one `invalid_input` {@link AppError} that names every invalid setting.
 */
export function readConfig<S extends Settings>(settings: S, environment: Environment): Config<S> {
  const { config, problems } = inspectConfig(settings, environment);
  refuse(problems);
  return config;
}

/**
 * The settings, and the problems that {@link readConfig} would throw. Only for {@link problemsOf}: a check that needs an invalid setting
 * ends there, because there is nothing to check.
 */
export function inspectConfig<S extends Settings>(
  settings: S,
  environment: Environment,
): { config: Config<S>; problems: Fields } {
  const problems: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    try {
      values[name] = readSetting(name, setting, environment);
    } catch (error) {
      problems[name] = (error as Error).message;
      Object.defineProperty(values, name, { get: refuseUse, enumerable: true });
    }
  }
  return { config: values as Config<S>, problems };
}

/** Throws `invalid_input` with reason `CONFIG` if there are problems, given by the names of settings. */
export function refuse(problems: Fields): void {
  if (Object.keys(problems).length > 0) rejectSettings(problems);
}

/** Throws the error of {@link refuse}, where a problem is known to exist. */
export function rejectSettings(problems: Fields): never {
  const lines = Object.entries(problems).map(([name, problem]) => `${name} ${problem}`);
  throw new AppError('invalid_input', lines.join('; '), { fields: problems, reason: 'CONFIG' });
}

/** Runs checks that throw like {@link refuse}, and gives the problems that they name. Throws any other error. */
export function problemsOf(checks: Iterable<() => unknown>): Fields {
  const problems: Record<string, string> = {};
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (error instanceof InvalidUse) continue;
      if (!(error instanceof AppError) || error.reason !== 'CONFIG') throw error;
      Object.assign(problems, error.fields);
    }
  }
  return problems;
}

/** A setting was used whose value is invalid. */
class InvalidUse extends Error {}

function refuseUse(): never {
  throw new InvalidUse('this setting is invalid');
}

function readSetting(name: string, setting: Setting<unknown>, environment: Environment): unknown {
  const given = environment[name] || (setting.secret ? readSecretFile(name, environment) : undefined);
  if (given) return setting.parse(given);
  if (setting.requiredInProduction && environment.NODE_ENV === 'production') {
    throw new Error('is required with NODE_ENV=production');
  }
  return setting.default;
}

function readSecretFile(name: string, environment: Environment): string | undefined {
  const path = environment[`${name}_FILE`];
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    throw new Error(`cannot be read from ${path} (${name}_FILE): ${(error as NodeJS.ErrnoException).code}`);
  }
}

function define<T>(
  kind: string,
  options: SettingOptions<T>,
  parse: (text: string) => T | undefined,
): Setting<T | undefined> {
  return {
    kind,
    help: options.help,
    default: options.default,
    secret: options.secret ?? false,
    requiredInProduction: options.requiredInProduction ?? false,
    parse,
  };
}
