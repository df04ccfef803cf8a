import cluster from 'node:cluster';
import { parseArgs } from 'node:util';
import type { Environment } from '@octavo/core';
import { AppError } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { checkSettings, warnOfUnused } from '../check-settings.ts';
import { loadServices, portsFor, readSuite, startSystem } from '../index.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { supervise } from './workers.ts';

export async function run(args: string[]): Promise<number> {
  const { values, positionals: names } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      workers: { type: 'string', default: '1' },
      config: { type: 'string' },
    },
  });
  if (names.length === 0)
    throw new AppError('invalid_input', 'name the services to serve; "octavo config" lists them');
  const environment = {
    ...process.env,
    ...(values.config === undefined ? {} : { CONFIG_PATH: values.config }),
  };
  await checkSettings(names, environment);
  const workers = Number(values.workers);
  if (!Number.isInteger(workers) || workers < 1) {
    throw new AppError('invalid_input', '--workers must be a whole number from 1');
  }
  if (workers > 1) await rejectWorkers(names);
  const suite = readSuite(environment);
  if (cluster.isPrimary)
    await warnOfUnused(names, environment, createLog({ service: names.join(' '), level: suite.LOG_LEVEL }));
  const ports = portsFor(names, suite.PORT);
  if (workers > 1 && cluster.isPrimary) return supervise(workers);
  return serve(names, environment, ports);
}

async function rejectWorkers(names: readonly string[]): Promise<void> {
  const services = await loadServices(names);
  const single = services.find((service) => service.isSingle);
  if (!single) return;
  throw new AppError('invalid_input', `${single.name} keeps its state in memory, so it runs as one worker`);
}

async function serve(
  names: readonly string[],
  environment: Environment,
  ports: Readonly<Record<string, number>>,
): Promise<number> {
  const stopped = stopSignal();
  try {
    await using system = await startSystem(names, { environment, ports });
    const addresses = await system.addresses();
    const links = await system.setupLinks();
    announce(
      [
        ...addresses.map(({ name, url }) => `${name.padEnd(12)} ${url}\n`),
        ...links.map(
          ({ name, url }) => `${name}: create the first administrator at ${url} (once, within an hour)\n`,
        ),
      ].join(''),
    );
    await stopped;
    return 0;
  } finally {
    // The channel to the supervisor would keep a worker alive that could not start.
    cluster.worker?.disconnect();
  }
}

/** A worker sends the lines to its supervisor, which prints them once for all. */
function announce(lines: string): void {
  if (cluster.isWorker) process.send?.(lines);
  else process.stdout.write(lines);
}
