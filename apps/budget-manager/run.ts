import { parseArgs } from 'node:util';
import { productVersion } from '@octavo/core';
import { Client } from './client.ts';
import { signIn } from './commands/login.ts';
import { type Command, commands } from './commands.ts';
import type { Context } from './context.ts';
import { readToken } from './credentials.ts';
import { Failure } from './failure.ts';
import { type Arguments, globalOptions, integerOption, type OptionTypes } from './options.ts';
import { Output } from './output.ts';

/** The code of each command, loaded when it runs. */
const loaders: Readonly<Record<string, () => Promise<(context: Context) => Promise<void>>>> = {
  'list-budgets': async () => (await import('./commands/budgets.ts')).listBudgets,
  'add-budget': async () => (await import('./commands/budgets.ts')).addBudget,
  'add-expense': async () => (await import('./commands/expenses.ts')).addExpense,
  'list-expenses': async () => (await import('./commands/expenses.ts')).listExpenses,
  'search-expenses': async () => (await import('./commands/expenses.ts')).searchExpenses,
  import: async () => (await import('./commands/transfer.ts')).importFile,
  'undo-import': async () => (await import('./commands/transfer.ts')).undoImport,
  export: async () => (await import('./commands/transfer.ts')).exportFile,
  watch: async () => (await import('./commands/watch.ts')).watch,
  graphql: async () => (await import('./commands/graphql.ts')).graphql,
  seed: async () => (await import('./commands/seed.ts')).seed,
  login: async () => (await import('./commands/login.ts')).login,
  logout: async () => (await import('./commands/login.ts')).logout,
  whoami: async () => (await import('./commands/login.ts')).whoami,
  completion: async () => (await import('./completion.ts')).completion,
};

/** Runs one command line. Rejects with a {@link Failure} or another error. */
export async function run(argv: readonly string[]): Promise<void> {
  const { name, operands, options } = readArguments(argv);
  const command = name === undefined ? undefined : commands[name];
  const output = new Output({ json: options.json === true, quiet: options.quiet === true });
  if (options.version) return output.line(`budget-manager ${productVersion()}`);
  if (options.help) return output.line(name && command ? usageOf(name, command) : overview());
  const load = name === undefined ? undefined : loaders[name];
  if (name === undefined || !command || !load) throw new Failure('usage', overview());
  checkUsage(name, command, operands, options);
  const execute = await load();
  const silenceMs = (integerOption(options, 'timeout') ?? 60) * 1_000;
  const client = new Client({
    url: () => findAddress(options),
    note: (text: string) => output.note(text),
    silenceMs,
  });
  if (!command.isPublic) client.token = await tokenFor(client, options);
  await execute({ operands, options, output, client });
}

function checkUsage(
  name: string,
  command: Command,
  operands: readonly string[],
  options: Arguments['options'],
): void {
  const missing = command.operands[operands.length];
  if (missing !== undefined)
    throw new Failure('usage', `${missing} is missing.\n\n${usageOf(name, command)}`);
  const extra = operands[command.operands.length];
  if (extra !== undefined)
    throw new Failure('usage', `"${extra}" is one word too many. Put quotes around text with spaces.`);
  for (const [option, { required }] of Object.entries(command.options)) {
    if (required && options[option] === undefined) throw new Failure('usage', `--${option} is missing.`);
  }
}

async function tokenFor(client: Client, options: Arguments['options']): Promise<string> {
  if (typeof options.token === 'string') return options.token;
  if (typeof options.email === 'string') return (await signIn(client, options)).token;
  const token = process.env.BUDGET_MANAGER_TOKEN || (await readToken(await client.url()));
  if (token) return token;
  // Where nothing listens, signing in would not help.
  await client.get('/health');
  throw new Failure(
    'signed_out',
    'You are not signed in. Run "budget-manager login --email YOU@EXAMPLE.COM", or give --token.',
  );
}

function overview(): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const);
  return [
    'Usage: budget-manager [OPTIONS] COMMAND',
    '',
    ...columns(rows),
    '',
    'Options:',
    ...columns(optionRows(globalOptions)),
    '',
    'Exit status: 0 done, 1 refused, 2 wrong usage, 3 not signed in, 4 not reachable.',
  ].join('\n');
}

function usageOf(name: string, command: Command): string {
  const rows = optionRows(command.options);
  return [
    `Usage: budget-manager ${[name, ...command.operands].join(' ')} [OPTIONS]`,
    '',
    `${name}: ${command.summary}.`,
    ...(rows.length > 0 ? ['', 'Options:', ...columns(rows)] : []),
    '',
    'Options of all commands:',
    ...columns(optionRows(globalOptions)),
  ].join('\n');
}

function optionRows(options: Readonly<Record<string, { readonly type: string; readonly help: string }>>) {
  return Object.entries(options).map(
    ([name, { type, help }]) =>
      [`--${name}${type === 'string' ? ` ${name.toUpperCase()}` : ''}`, help] as const,
  );
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([head]) => head.length)) + 2;
  return rows.map(([head, text]) => `  ${head.padEnd(width)}${text}`);
}

const addressWithAll = 'http://127.0.0.1:3006';
const addressAlone = 'http://127.0.0.1:3000';
const probeMs = 1_000;

/** `--url`, `BUDGET_MANAGER_URL`, or this machine: port 3006 if budgets answers there, as with `octavo up`, else 3000. */
async function findAddress(options: Arguments['options']): Promise<string> {
  const given = typeof options.url === 'string' ? options.url : process.env.BUDGET_MANAGER_URL;
  if (given) return checkAddress(given);
  return (await isBudgets(addressWithAll)) ? addressWithAll : addressAlone;
}

function checkAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href.replace(/\/$/, '');
  throw new Failure('usage', `The address "${text}" must start with http:// or https://.`);
}

async function isBudgets(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/api/budgets`, { signal: AbortSignal.timeout(probeMs) });
    await response.body?.cancel();
    // Without a token, the list of budgets exists and is refused.
    return response.status === 401;
  } catch {
    return false;
  }
}

/** Reads options, which may stand before or after the command. Throws a usage error for those that the command does not have. */
function readArguments(argv: readonly string[]): Arguments {
  const [name] = parseArgs({
    args: [...argv],
    options: allOptions(),
    strict: false,
    allowPositionals: true,
  }).positionals;
  if (name !== undefined && !Object.hasOwn(commands, name)) {
    throw new Failure('usage', `There is no command "${name}". Run "budget-manager --help" for a list.`);
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: { ...globalOptions, ...(name !== undefined && commands[name]?.options) },
    allowPositionals: true,
  });
  return { name, operands: positionals.slice(1), options: values as Arguments['options'] };
}

/** Returns the options of all commands: those with a value must be known before the command is. */
function allOptions(): OptionTypes {
  return Object.assign({}, globalOptions, ...Object.values(commands).map(({ options }) => options));
}
