import { existsSync, readFileSync } from 'node:fs';
import type { Log } from '@octavo/core';
import { type Environment, refuse, rejectSettings, type Settings } from '@octavo/core';
import { parse as parseToml } from 'smol-toml';

const prefix = 'PASSWORDLESS_';
const defaultFiles = ['config.toml', 'config.json'];
// If the environment has one of a group, the settings of that group in weaker sources are ignored.
const database = ['DATABASE_PATH', 'DATABASE_URL'];
const mailServer = ['SMTP_HOST', 'SMTP_PORT', 'SMTP_USERNAME', 'SMTP_PASSWORD'];

/**
 * Reads settings from the environment, then from the configuration file, then from the settings of the whole suite. The file is the one in
 * CONFIG_PATH, else config.toml or config.json in the current folder. Its keys are the settings in lower case, without their prefix.
 */
export function withConfigFile(settings: Settings): (environment: Environment, log?: Log) => Environment {
  return (environment, log) => {
    const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
    const file = read(settings, given.CONFIG_PATH, log);
    const chosen = { ...without(file, given), ...given };
    return { ...suiteSettings(chosen), ...chosen };
  };
}

/** The settings of the file that the environment does not have, not even as NAME_FILE. */
function without(file: Record<string, string>, given: Environment): Record<string, string> {
  const isGiven = (key: string) =>
    given[prefix + key] !== undefined || given[`${prefix}${key}_FILE`] !== undefined;
  const hidden = new Set(database.some(isGiven) ? database : []);
  const left = Object.entries(file).filter(([name]) => {
    const key = name.slice(prefix.length).replace(/_FILE$/, '');
    return !isGiven(key) && !hidden.has(key);
  });
  return Object.fromEntries(left);
}

/** The mail server of the suite, unless another one is set: its password must not go to another server. */
function suiteSettings(chosen: Environment): Record<string, string> {
  if (chosen[`${prefix}SMTP_HOST`] !== undefined) return {};
  const names = [...mailServer, 'SMTP_PASSWORD_FILE'].filter((name) => chosen[name] !== undefined);
  return Object.fromEntries(names.map((name) => [prefix + name, chosen[name] as string]));
}

function read(settings: Settings, path: string | undefined, log: Log | undefined): Record<string, string> {
  const file = path ?? defaultFiles.find((name) => existsSync(name));
  if (file === undefined) return {};
  const found: Record<string, string> = {};
  const problems: Record<string, string> = {};
  const unknown: string[] = [];
  for (const [key, value] of Object.entries(parse(file, path === undefined))) {
    const name = prefix + key.toUpperCase();
    const setting = settings[name];
    const holdsSecret = settings[name.replace(/_FILE$/, '')]?.secret === true;
    if (key !== key.toLowerCase() || !(setting || holdsSecret)) unknown.push(key);
    else if (value !== '') {
      const problem = problemOf(setting, value);
      if (problem) problems[`${key} (${file})`] = problem;
      else found[name] = String(value);
    }
  }
  refuse(problems);
  if (unknown.length > 0) log?.warn({ file, unknown }, 'the configuration file has unknown keys');
  return found;
}

function parse(file: string, isDefault: boolean): Record<string, unknown> {
  const name = isDefault ? file : 'CONFIG_PATH';
  try {
    const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '');
    const value: unknown = file.endsWith('.json') ? JSON.parse(text) : parseToml(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
    return rejectSettings({ [name]: `(${file}) must contain keys and values` });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'CONFIG' || (error as { reason?: string }).reason === 'CONFIG') throw error;
    // A parser may quote the faulty line, which may hold a secret, so only its place is shown.
    const problem = code
      ? `cannot be read: ${code}`
      : `is not well-formed: ${placeOf(error as Error, message)}`;
    return rejectSettings({ [name]: `(${file}) ${problem}` });
  }
}

function placeOf(error: Error, message: string): string {
  const { line, column } = error as { line?: number; column?: number };
  if (line !== undefined) return `line ${line}, column ${column}`;
  return /position (\d+)/.exec(message)?.[0] ?? 'it cannot be parsed';
}

function problemOf(setting: Settings[string] | undefined, value: unknown): string | undefined {
  const kind = setting?.kind ?? 'text';
  if (kind === 'integer' && typeof value !== 'number' && typeof value !== 'string')
    return 'must be a whole number';
  if (kind === 'on|off' && typeof value !== 'boolean' && typeof value !== 'string')
    return 'must be true or false';
  if (kind !== 'integer' && kind !== 'on|off' && typeof value !== 'string') return 'must be text';
  try {
    setting?.parse(String(value));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
