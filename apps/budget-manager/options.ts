import type { ParseArgsConfig } from 'node:util';
import { Failure } from './failure.ts';

/** Options for `parseArgs`. */
export type OptionTypes = NonNullable<ParseArgsConfig['options']>;

/** The options of every command, with their help. */
export const globalOptions = {
  url: { type: 'string', help: 'address of the service (BUDGET_MANAGER_URL)' },
  token: { type: 'string', help: 'a JWT (BUDGET_MANAGER_TOKEN); by default the one that "login" saved' },
  email: { type: 'string', help: 'signs in for this one command; asks for the password if it is missing' },
  password: { type: 'string', help: 'password for --email (BUDGET_MANAGER_PASSWORD)' },
  timeout: { type: 'string', help: 'seconds of silence after which it gives up (60)' },
  json: { type: 'boolean', help: 'prints JSON, one object a line' },
  quiet: { type: 'boolean', help: 'prints no progress' },
  help: { type: 'boolean', short: 'h', help: 'prints the usage' },
  version: { type: 'boolean', help: 'prints the version' },
} as const satisfies Record<string, OptionTypes[string] & { help: string }>;

/** Parsed command line. */
export interface Arguments {
  /** The name of the command; absent if there is none. */
  readonly name: string | undefined;
  /** Arguments after the name. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
}

/** The value of an option that is a number of at least `minimum`. */
export function integerOption(options: Arguments['options'], name: string, minimum = 1): number | undefined {
  const value = options[name];
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d{1,9}$/.test(String(value)) || number < minimum) {
    throw new Failure('usage', `--${name} must be a whole number of at least ${minimum}.`);
  }
  return number;
}
