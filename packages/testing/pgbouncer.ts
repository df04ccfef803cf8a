import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { testFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const running: ChildProcess[] = [];
// Registered here, because within a hook it would stop with that hook.
after(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

/** Reason for the lack of PgBouncer: `test(…, { skip: pgbouncerIsMissing() }, …)`. With `CI=true` that is an error. */
export function pgbouncerIsMissing(): string | false {
  if (program() !== undefined) return false;
  const reason = 'no pgbouncer: install the Debian package of that name';
  if (process.env.CI === 'true') throw new Error(reason);
  return reason;
}

/**
 * Starts a PgBouncer before the server of an address, until the tests of the file are over, and returns the address behind it. Settings are
 * those of its section `[pgbouncer]`.
 */
export async function startPgbouncer(
  url: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const listen_port = await freePort();
  const all = { listen_addr: '127.0.0.1', listen_port, unix_socket_dir: '', auth_type: 'any', ...settings };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const secret = password && ` password=${decodeURIComponent(password)}`;
  const server = `host=${hostname} port=${port || 5432} user=${decodeURIComponent(username)}${secret}`;
  const folder = testFolder('pgbouncer');
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `[databases]\n* = ${server}\n[pgbouncer]\n${lines.join('\n')}\n`);
  // Run by root, it switches to another account, which must be able to read the file.
  chmodSync(folder, 0o711);
  const args = userInfo().uid === 0 ? ['-q', '-u', 'nobody', file] : ['-q', file];
  const child = spawn(program() as string, args, { stdio: 'ignore' });
  running.push(child);
  await until(() => answers(listen_port));
  return `postgres://${username}@127.0.0.1:${listen_port}${pathname}`;
}

/** Debian installs it in a folder that is only in root's PATH. */
function program(): string | undefined {
  return ['pgbouncer', '/usr/sbin/pgbouncer'].find((name) => !spawnSync(name, ['--version']).error);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
