import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from './folder.ts';
import { freePort } from './free-port.ts';

/** A NATS server with JetStream for the tests of a file, in its own process. */
export interface TestNats {
  readonly url: string;
  /** Ends it at once, like kill -9. */
  kill(): Promise<void>;
  /** Stops it from responding until `thaw`, without ending it. */
  freeze(): void;
  thaw(): void;
  /** Starts it again at the same address with the same data, if it does not run. */
  revive(): Promise<void>;
  /** Ends it and starts an empty one at the same address. */
  replace(): Promise<void>;
}

/** Reason for the lack of a NATS server: `describe('on NATS', { skip: natsIsMissing() }, …)`. With `CI=true` that is an error. */
export function natsIsMissing(): string | false {
  if (program() !== undefined) return false;
  const reason = 'no nats-server: install the Debian package of that name';
  if (process.env.CI === 'true') throw new Error(reason);
  return reason;
}

/** Starts an empty server, which is removed after the tests. */
export async function startTestNats(): Promise<TestNats> {
  const server = await startNats();
  after(() => server.kill());
  return server;
}

/** Starts an empty server that runs until it is killed, with its data in new folders, by default of the system's temporary one. */
export async function startNats(newFolder = () => testFolder('nats')): Promise<TestNats> {
  let folder = newFolder();
  const port = await freePort();
  let child = await start(port, folder);
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async (): Promise<void> => {
    if (isOver()) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    revive: async () => {
      if (isOver()) child = await start(port, folder);
    },
    replace: async () => {
      await kill();
      folder = newFolder();
      child = await start(port, folder);
    },
  };
}

async function start(port: number, folder: string): Promise<ChildProcess> {
  const args = ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder];
  const child = spawn(program() as string, args, { stdio: 'ignore' });
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (attempt > 200 || child.exitCode !== null) {
      child.kill('SIGKILL');
      throw new Error('nats-server does not start');
    }
    await delay(25);
  }
  return child;
}

/** Debian installs it in a folder that is only in root's PATH. */
function program(): string | undefined {
  return ['nats-server', '/usr/sbin/nats-server'].find((name) => !spawnSync(name, ['--version']).error);
}

function answers(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(port, '127.0.0.1');
  socket.once('data', () => {
    resolve(true);
    socket.destroy();
  });
  socket.once('error', () => resolve(false));
  return promise;
}
