import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { listenErrorOf } from '@octavo/core';
import { grpcPortsFor, portsFor } from '../../index.ts';
import { type Examined, examine, type Finding, fine, wrong } from './finding.ts';

const nodeMajorMin = 26;
const freeBytesMin = 1024 ** 3;
/** A service may hold 10,000 connections, and each takes a file. */
const openFilesMin = 4_096;
const probeMs = 1_000;

/** Checks the version of Node and the limit of open files. */
export function checkProcess(): Finding[] {
  const node = process.versions.node;
  const isOld = Number.parseInt(node, 10) < nodeMajorMin;
  const limit = openFilesLimit();
  return [
    isOld
      ? wrong(
          'Node',
          `${node} is too old`,
          'run "npm ci", then "npx octavo", which uses the Node that comes with it',
        )
      : fine('Node', node),
    limit !== undefined && limit < openFilesMin
      ? wrong(
          'open files',
          `this process may open ${limit} files, and each connection takes one`,
          'raise the hard limit: "ulimit -Hn 65536", LimitNOFILE=65536 in a unit of systemd, or --ulimit nofile=65536 of Docker',
        )
      : fine('open files', limit === undefined ? 'no limit is known here' : `up to ${limit}`),
  ];
}

/** The hard limit, which Node raises its own to; undefined on systems without `/proc`. */
function openFilesLimit(): number | undefined {
  if (!existsSync('/proc/self/limits')) return undefined;
  const [, hard = ''] = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  return hard === 'unlimited' ? undefined : Number(hard);
}

/** Checks that the data folder can be written, belongs to one user, and has space. */
export async function checkFolder({ suite: { OCTAVO_DATA: folder } }: Examined): Promise<Finding[]> {
  const subject = 'data folder';
  const fix = 'correct it, or choose another folder with --data or OCTAVO_DATA';
  const usable = await examine(subject, fix, () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return folder;
  });
  if (usable.fix) return [usable];
  return [foreignOwner(folder) ?? usable, freeSpace(folder)];
}

/** Finds a folder, or a file in it, of another user, which this user's services cannot write. */
function foreignOwner(folder: string): Finding | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  const owner = statSync(folder).uid;
  if (owner !== me)
    return wrong(
      'data folder',
      `${folder} belongs to user ${owner}, and this is user ${me}: files that one writes, the other cannot`,
      `run Octavo as its owner ("sudo -u '#${owner}' npx octavo ..."), or give it away: "chown -R ${me} ${folder}"`,
    );
  const foreign = readdirSync(folder).find((name) => statSync(join(folder, name)).uid !== owner);
  if (foreign === undefined) return undefined;
  return wrong(
    'data folder',
    `${join(folder, foreign)} belongs to another user than its folder, as after a run with sudo`,
    `chown -R ${owner} ${folder}`,
  );
}

function freeSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`;
  if (freeBytes >= freeBytesMin) return fine('disk', free);
  return wrong(
    'disk',
    `${folder} has ${free}, and nothing is written when it is full`,
    'free at least 1 GB, or move the folder and set OCTAVO_DATA',
  );
}

/** Checks that each port is free, or held by a service of Octavo that runs. */
export async function checkPorts({ names, environment, suite }: Examined): Promise<Finding[]> {
  const http = Object.entries(portsFor(names, suite.PORT));
  const grpc = Object.entries(grpcPortsFor(names, environment));
  const running = new Set<string>();
  const findings = await Promise.all(
    http.map(async ([name, port]) => {
      const found = await checkPort(`port of ${name}`, suite.HOST, port);
      if (!found.fix || !(await isOctavo(suite.HOST, port))) return found;
      running.add(name);
      return fine(found.subject, `${port}: ${name} runs there`);
    }),
  );
  for (const [name, port] of grpc) {
    const found = await checkPort(`gRPC of ${name}`, suite.HOST, port);
    findings.push(
      found.fix && running.has(name) ? fine(found.subject, `${port}: ${name} runs there`) : found,
    );
  }
  return findings;
}

function checkPort(subject: string, host: string, port: number): Promise<Finding> {
  const fix =
    port > 0 && port < 1_024
      ? 'choose a port from 1024 with --port or PORT, and let a proxy listen on this one'
      : `stop what holds it ("ss -ltnp" names it), or choose others with --port, PORT${subject.startsWith('gRPC') ? ', GRPC_PORT' : ''} or HOST`;
  return examine(subject, fix, async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const server = createServer().once('error', (error) => reject(listenErrorOf(error, host, port)));
    server.listen(port, host, () => server.close(() => resolve()));
    await promise;
    return `${host}:${port} is free`;
  });
}

/** True if a service of Octavo responds there, which has a readiness of this form. */
async function isOctavo(host: string, port: number): Promise<boolean> {
  try {
    const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? host;
    const signal = AbortSignal.timeout(probeMs);
    const { status, checks } = (await (
      await fetch(`http://${name}:${port}/readiness`, { signal })
    ).json()) as {
      status?: unknown;
      checks?: unknown;
    };
    return ['ready', 'not_ready', 'stopping'].includes(String(status)) && typeof checks === 'object';
  } catch {
    return false;
  }
}
