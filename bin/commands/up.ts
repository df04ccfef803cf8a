import { parseArgs } from 'node:util';
import { checkSettings } from '../../services/check-settings.ts';
import { portsFor, readSuite, startSystem, upNames } from '../../services/index.ts';
import { signalHint, stopSignal } from '../stop-signal.ts';

export async function run(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      host: { type: 'string' },
      port: { type: 'string' },
      config: { type: 'string' },
    },
  });
  const environment = {
    ...process.env,
    ...(values.data && { OCTAVO_DATA: values.data }),
    ...(values.host && { HOST: values.host }),
    ...(values.port && { PORT: values.port }),
    ...(values.config && { CONFIG_PATH: values.config }),
    LOG_LEVEL: process.env.LOG_LEVEL || (process.stderr.isTTY ? 'warn' : 'info'),
  };
  const names = upNames();
  await checkSettings(names, environment);
  const stopped = stopSignal();
  await using system = await startSystem(names, {
    environment,
    ports: portsFor(names, readSuite(environment).PORT),
  });
  const readyMs = Math.round(performance.now());
  const [addresses, signIns] = [await system.addresses(), await system.demoSignIns()];
  const links = await system.setupLinks();
  process.stdout.write(
    `${banner(addresses, signIns)}${setup(links)}\n\nReady in ${readyMs} ms. Ctrl+C stops everything.\n`,
  );
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

function banner(
  addresses: readonly { name: string; summary: string; url: string }[],
  signIns: readonly { username: string; password: string; role: string }[],
): string {
  const services = table(addresses.map(({ name, url, summary }) => [name, url, summary]));
  if (signIns.length === 0) return services;
  const accounts = table(
    signIns.map(({ username, password, role }) => [username, password, permissions[role] ?? role]),
  );
  return `${services}\n\nDemo sign-ins:\n${accounts}`;
}

function setup(links: readonly { name: string; url: string }[]): string {
  if (links.length === 0) return '';
  return `\n\nCreate the first administrators (each link once, within an hour):\n${table(links.map(({ name, url }) => [name, url]))}`;
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
