import { existsSync } from 'node:fs';
import { type AppError, toAppError } from '#kit/errors.ts';
import { commands } from './commands.ts';
import { helpOf, overview } from './help.ts';

// Whoever reads may have seen enough, as in `octavo config | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return say(overview());
  if (name === '--version') return say(await version());
  const command = commands[name];
  if (!command)
    return complain(`octavo: there is no command "${name}". Run "octavo --help" for the list.`, 64);
  if (rest.includes('--help') || rest.includes('-h')) return say(helpOf(name, command));
  if (existsSync('.env')) process.loadEnvFile('.env');
  try {
    const { run } = await command.load();
    return await run(rest);
  } catch (error) {
    return explain(error);
  }
}

/** Exit statuses follow sysexits.h: 64 usage, 69 unavailable, 70 internal, 75 try again, 78 configuration. */
function explain(error: unknown): number {
  if (error instanceof TypeError && String(Reflect.get(error, 'code')).startsWith('ERR_PARSE_ARGS')) {
    return complain(`octavo: ${error.message}`, 64);
  }
  const known = toAppError(error);
  if (known.code === 'internal') {
    return complain(`octavo: ${known.message}\n${(known.cause as Error)?.stack ?? known.stack}`, 70);
  }
  return complain(`octavo: ${known.message}`, statusOf(known));
}

function statusOf(error: AppError): number {
  if (error.reason === 'CONFIG') return 78;
  if (error.code === 'unavailable' || error.code === 'timeout') return 69;
  if (error.code === 'rate_limited') return 75;
  return 64;
}

function say(words: string): number {
  process.stdout.write(`${words}\n`);
  return 0;
}

function complain(words: string, status: number): number {
  process.stderr.write(`${words}\n`);
  return status;
}

async function version(): Promise<string> {
  const { default: manifest } = await import('../package.json', { with: { type: 'json' } });
  return `octavo ${manifest.version} (node ${process.versions.node})`;
}
