import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, readdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from './folder.ts';
import { freePort } from './free-port.ts';

/** A real mail server: Debian's OpenSMTPD, which accepts mail for `bob@mail.test` only. */
export interface TestSmtpd extends AsyncDisposable {
  readonly port: number;
  /** Bob's mail of this `Message-ID`, once it is there. The server may deliver others that a former run has left in its queue. */
  mailOfBob(id: string): Promise<Buffer>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const nobody = 65_534;
const patienceMs = 15_000;
const program = '/usr/sbin/smtpd';

/** False, or why there is no such server for tests; with `CI=true` that is an error. Only one can run on a machine. */
export function smtpdMissing(): false | string {
  const why = existsSync(program)
    ? userInfo().uid !== 0 && 'OpenSMTPD can only be started by root'
    : `there is no ${program}: apt-get install opensmtpd`;
  if (why && process.env.CI === 'true') throw new Error(why);
  return why;
}

export async function startTestSmtpd(): Promise<TestSmtpd> {
  const folder = testFolder('smtpd');
  const box = testFolder('box');
  await chown(box, nobody, nobody);
  const port = await freePort();
  await configure({ folder, box, port });
  let child: ChildProcess | undefined;
  const server = {
    port,
    mailOfBob: (id: string) => mailIn(join(box, 'new'), id),
    async start() {
      child = spawn(program, ['-d', '-f', join(folder, 'smtpd.conf')], { stdio: 'ignore' });
      await answers(port).catch(async (error) => {
        await server.stop();
        throw error;
      });
    },
    async stop() {
      if (!child || child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
  await server.start();
  return server;
}

/** Configures the server without TLS, because OpenSMTPD's does not work with OpenSSL in Debian 12. */
async function configure({
  folder,
  box,
  port,
}: {
  folder: string;
  box: string;
  port: number;
}): Promise<void> {
  await writeFile(
    join(folder, 'smtpd.conf'),
    `table people { "bob" = "nobody" }
listen on 127.0.0.1 port ${port} hostname mail.test
action "keep" maildir "${box}" virtual <people>
match from any for domain "mail.test" action "keep"
`,
    { mode: 0o600 },
  );
}

async function mailIn(folder: string, id: string): Promise<Buffer> {
  const giveUpMs = performance.now() + patienceMs;
  for (;;) {
    const names = await readdir(folder).catch(() => []);
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name))));
    const mail = mails.find((source) => source.includes(`<${id}>`));
    if (mail) return mail;
    if (performance.now() > giveUpMs) throw new Error(`bob has got ${names.length} mails, but not ${id}`);
    await delay(50);
  }
}

async function answers(port: number): Promise<void> {
  const giveUpMs = performance.now() + patienceMs;
  while (!(await greets(port))) {
    if (performance.now() > giveUpMs) throw new Error('OpenSMTPD does not start; is another one running?');
    await delay(50);
  }
}

function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
