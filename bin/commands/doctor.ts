import { accessSync, constants, mkdirSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { describeSystemError, toAppError } from '#kit/base/errors.ts';
import { silentLog } from '#kit/base/log.ts';
import { openDatabase } from '#kit/db/index.ts';
import { grpcPortsFor, portsFor, readSuite, upNames } from '../../services/index.ts';
import { databasesOf } from './data/databases.ts';

const nodeMajorMin = 26;
const freeBytesMin = 1024 ** 3;

/** Prints one line per check. The exit code is 1 if any of them fails. */
export async function run(): Promise<number> {
  const suite = readSuite(process.env);
  const checks: [string, () => Promise<string> | string][] = [
    ['runtime', checkRuntime],
    ['data folder', () => checkFolder(suite.OCTAVO_DATA)],
    ...Object.entries(portsFor(upNames(), suite.PORT)).map(([name, port]) =>
      portCheck(`port of ${name}`, suite.HOST, port),
    ),
    ...Object.entries(grpcPortsFor(upNames(), process.env)).map(([name, port]) =>
      portCheck(`gRPC of ${name}`, suite.HOST, port),
    ),
    ...(await databasesOf([], process.env, silentLog)).map((options): [string, () => Promise<string>] => [
      `database ${options.name}`,
      async () => {
        await using database = await openDatabase(options);
        await database.ping();
        return database.dialect;
      },
    ]),
  ];
  const results = [];
  for (const [name, check] of checks) results.push(await report(name, check));
  return results.every(Boolean) ? 0 : 1;
}

async function report(name: string, check: () => Promise<string> | string): Promise<boolean> {
  try {
    process.stdout.write(`ok    ${name.padEnd(18)} ${await check()}\n`);
    return true;
  } catch (error) {
    const { code, message, cause } = describeSystemError(error) ?? toAppError(error);
    process.stdout.write(
      `FAIL  ${name.padEnd(18)} ${code === 'internal' ? ((cause as Error)?.message ?? message) : message}\n`,
    );
    return false;
  }
}

function checkRuntime(): string {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < nodeMajorMin)
    throw new Error(`Node ${process.versions.node}; "npm run" and "npx octavo" use the right version`);
  return `Node ${process.versions.node}`;
}

function checkFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  accessSync(folder, constants.W_OK);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes < freeBytesMin) throw new Error(`${folder} has less than 1 GB free`);
  return `${folder}, ${Math.floor(freeBytes / 1024 ** 3)} GB free`;
}

function portCheck(title: string, host: string, port: number): [string, () => Promise<string>] {
  return [title, () => checkPort(host, port)];
}

function checkPort(host: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer();
  server.once('error', (error: NodeJS.ErrnoException) => {
    reject(
      new Error(
        error.code === 'EADDRINUSE'
          ? `${port} is in use (by octavo itself, if it is running)`
          : error.message,
      ),
    );
  });
  server.listen(port, host, () => server.close(() => resolve(`${host}:${port} is free`)));
  return promise;
}
