import { existsSync } from 'node:fs';
import { AppError, describeSystemError, toAppError } from '@octavo/core';
import { type Command, commands, sharedOptions } from './commands.ts';
import { guardStandardOutput } from './terminal/standard-output.ts';

guardStandardOutput('octavo');

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return print(overview());
  if (name === '--version') return print(await version());
  const command = commands[name];
  if (!command) return fail(`octavo: there is no command "${name}". Run "octavo --help" for a list.`, 64);
  if (rest.includes('--help') || rest.includes('-h')) return print(helpOf(name, command));
  if (existsSync('.env')) process.loadEnvFile('.env');
  try {
    const options = takeSharedOptions(rest);
    const { run } = await command.load();
    return await run(options);
  } catch (error) {
    return report(error);
  }
}

/**
 * The other arguments. The shared options become settings, so that each command, and a worker that it starts, finds the same data and
 * the same ports.
 */
function takeSharedOptions(args: readonly string[]): string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const others: string[] = [];
  for (let index = 0; index < end; index++) {
    const word = args[index] as string;
    const [, name = '', own] = /^--(data|port)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === '') {
      others.push(word);
      continue;
    }
    const value = own ?? (index + 1 < end ? args[++index] : undefined);
    if (!value) throw new AppError('invalid_input', `--${name} needs a value`);
    process.env[sharedOptions[name as keyof typeof sharedOptions].setting] = value;
  }
  return [...others, ...args.slice(end)];
}

/** All commands on one screen. */
function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length)) + 2;
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}${summary}`);
  const shared = Object.values(sharedOptions).map(({ usage }) => usage);
  const note = `Every command takes ${shared.join(' and ')}. Run octavo COMMAND --help for details.`;
  return ['Usage: octavo COMMAND [OPTIONS]', '', ...lines, '', note].join('\n');
}

/** The usage of one command. */
function helpOf(name: string, command: Command): string {
  const shared = Object.values(sharedOptions).map(({ usage, help }) => [usage, help] as const);
  const all = [...Object.entries(command.options), ...shared];
  const width = Math.max(...all.map(([option]) => option.length)) + 2;
  const options = all.map(([option, help]) => `  ${option.padEnd(width)}${help}`);
  const head = [`Usage: ${command.usage}`, '', `octavo ${name}: ${command.summary}.`];
  return [...head, '', 'Options:', ...options].join('\n');
}

/** Exit statuses follow sysexits.h: 64 usage, 69 unavailable, 70 internal, 75 try again, 78 configuration. */
function report(error: unknown): number {
  if (error instanceof TypeError && String(Reflect.get(error, 'code')).startsWith('ERR_PARSE_ARGS')) {
    return fail(`octavo: ${error.message}`, 64);
  }
  const known = describeSystemError(error) ?? toAppError(error);
  if (known.code === 'internal') {
    return fail(`octavo: ${known.message}\n${(known.cause as Error)?.stack ?? known.stack}`, 70);
  }
  return fail(`octavo: ${known.message}`, statusOf(known));
}

function statusOf(error: AppError): number {
  if (error.reason === 'CONFIG') return 78;
  if (error.code === 'unavailable' || error.code === 'timeout') return 69;
  if (error.code === 'rate_limited') return 75;
  return 64;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

function fail(text: string, status: number): number {
  process.stderr.write(`${text}\n`);
  return status;
}

async function version(): Promise<string> {
  const { productVersion } = await import('@octavo/core');
  return `octavo ${productVersion()} (node ${process.versions.node})`;
}
