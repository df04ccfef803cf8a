import { parseArgs } from 'node:util';
import { createLog } from '@octavo/core/log';
import { checkSettings, warnOfUnused } from '../check-settings.ts';
import { portsFor, readSuite, startSystem, upNames } from '../index.ts';
import { onOneHost, type System } from '../system.ts';
import { openTerminalLog } from '../terminal/log.ts';
import { signalHint, stopSignal } from '../terminal/stop-signal.ts';

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      host: { type: 'string' },
      config: { type: 'string' },
    },
  });
  const environment = {
    ...process.env,
    ...(values.host && { HOST: values.host }),
    ...(values.config && { CONFIG_PATH: values.config }),
    LOG_LEVEL: process.env.LOG_LEVEL || (process.stderr.isTTY ? 'warn' : 'info'),
  };
  const names = upNames();
  await checkSettings(names, environment, { hasOneSignIn: true });
  const suite = readSuite(environment);
  const terminal = process.stderr.isTTY ? await openTerminalLog() : undefined;
  const log = createLog({
    service: 'octavo',
    level: suite.LOG_LEVEL,
    ...(terminal && { destination: terminal }),
  });
  await warnOfUnused(names, environment, log);
  const stopped = stopSignal();
  await using system = await startSystem(names, {
    environment,
    ports: portsFor(names, suite.PORT),
    hasOneSignIn: true,
    terminal,
  });
  const readyMs = Math.round(performance.now());
  process.stdout.write(`${await summary(system)}\n\nReady in ${readyMs} ms. Ctrl+C stops everything.\n`);
  const hint = signalHint(process.env);
  if (hint !== undefined) process.stderr.write(`${hint}\n`);
  await stopped;
  return 0;
}

const permissions: Readonly<Record<string, string>> = {
  admin: 'full access',
  editor: 'reads and writes',
  viewer: 'reads',
};

/** Summary of the first steps: addresses, demo accounts, the setup link and the place of mails. */
async function summary(system: System): Promise<string> {
  const sites = system.sites();
  const signIns = await system.demoSignIns();
  const paragraphs = [
    table(sites.map(({ title, url, summary }) => [title, url, summary])),
    signIns.length > 0 &&
      `Demo sign-ins:\n${table(signIns.map(({ username, password, role }) => [username, password, permissions[role] ?? role]))}`,
    await setup(system),
    process.env.SMTP_HOST ? '' : mails(sites),
  ];
  return paragraphs.filter(Boolean).join('\n\n');
}

async function setup(system: System): Promise<string> {
  if (system.signIn) {
    const address = await system.signIn.setupAddress();
    return address ? `Become administrator of all services (once, within an hour):\n  ${address}` : '';
  }
  const links = onOneHost(await system.setupLinks());
  if (links.length === 0) return '';
  return `Create the first administrators (each link once, within an hour):\n${table(links.map(({ name, url }) => [name, url]))}`;
}

function mails(sites: ReturnType<System['sites']>): string {
  const site = sites.find(({ name }) => name === 'portal');
  return site ? `Read the mails here (no mail server is set):\n  ${site.url}/mails` : '';
}

/** Columns padded to their widest cell. */
function table(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `  ${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}`,
    )
    .join('\n');
}
