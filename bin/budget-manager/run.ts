import { findAddress } from './address.ts';
import { readArguments } from './arguments.ts';
import { Client } from './client.ts';
import { type Command, commands } from './commands.ts';
import type { Context } from './context.ts';
import { readToken } from './credentials.ts';
import { Failure } from './failure.ts';
import { signIn } from './login.ts';
import { type Arguments, globalOptions } from './options.ts';
import { Output } from './output.ts';

/** The code of each command, loaded when it runs. */
const loaders: Readonly<Record<string, () => Promise<(context: Context) => Promise<void>>>> = {
  'list-budgets': async () => (await import('./budgets.ts')).listBudgets,
  'add-budget': async () => (await import('./budgets.ts')).addBudget,
  'add-expense': async () => (await import('./expenses.ts')).addExpense,
  'search-expenses': async () => (await import('./expenses.ts')).searchExpenses,
  import: async () => (await import('./transfer.ts')).importFile,
  export: async () => (await import('./transfer.ts')).exportFile,
  watch: async () => (await import('./watch.ts')).watch,
  graphql: async () => (await import('./graphql.ts')).graphql,
  seed: async () => (await import('./seed.ts')).seed,
  login: async () => (await import('./login.ts')).login,
  completion: async () => (await import('./completion.ts')).completion,
};

/** Runs one command line. Rejects with a {@link Failure} or another error. */
export async function run(argv: readonly string[]): Promise<void> {
  const { name, operands, options } = readArguments(argv);
  const command = name === undefined ? undefined : commands[name];
  const output = new Output({ json: options.json === true, quiet: options.quiet === true });
  if (options.help) return output.line(name && command ? usageOf(name, command) : overview());
  const load = name === undefined ? undefined : loaders[name];
  if (name === undefined || !command || !load) throw new Failure('usage', overview());
  checkUsage(name, command, operands, options);
  const execute = await load();
  const client = new Client({ url: () => findAddress(options), note: (text) => output.note(text) });
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
