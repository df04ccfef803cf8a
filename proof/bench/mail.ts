/**
 * The e-mail worker of passwordless against a mail server on loopback that takes everything (smtp-server, a process of its own).
 *
 * First its rate: mails are queued over HTTP, then one worker process sends them; beside it a bare pool of nodemailer with as many
 * connections and the same texts. Then what crashes do: two web processes queue mails while three workers send them and one of those is
 * killed (-9) every second and replaced.
 *
 *   node proof/bench/mail.ts [mails] [sqlite|postgres://...] [lease seconds]
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { type SinkReport, startSink } from './mail/sink.ts';

const mails = Number(process.argv[2] ?? 2_000);
const database = process.argv[3] ?? 'sqlite';
const leaseSeconds = process.argv[4] ?? '5';
const at = 'reader@example.com';
const folder = testFolder('bench');
const sink = await startSink();
const environment = {
  OCTAVO_DATA: folder,
  LOG_LEVEL: 'error',
  NODE_ENV: 'development',
  DATABASE_URL: database === 'sqlite' ? '' : database,
  PASSWORDLESS_WORKER: 'off',
  PASSWORDLESS_LIMIT_POST_PER_IP: '0',
  PASSWORDLESS_LIMIT_MAGIC_PER_IP: '0',
  PASSWORDLESS_SMTP_HOST: '127.0.0.1',
  PASSWORDLESS_SMTP_PORT: String(sink.port),
  PASSWORDLESS_MAIL_LEASE_SECONDS: leaseSeconds,
};

try {
  console.log(`${mails} mails, ${database.split(':')[0]}`);
  if (database !== 'sqlite') await dropSchema(database);
  await bare();
  await oneWorker();
  await killed();
} finally {
  await sink[Symbol.asyncDispose]();
}

async function bare(): Promise<void> {
  await sink.clear();
  const pool = createTransport({
    pool: true,
    host: '127.0.0.1',
    port: sink.port,
    maxConnections: 3,
    maxMessages: 100,
  });
  const text = 'Open this link: https://example.com/verify?token=x\n'.repeat(10);
  const html = `<p>${text}</p>`;
  const send = (index: number) =>
    pool.sendMail({ from: 'a@example.com', to: `${index}.${at}`, subject: 'Sign in', text, html });
  await lanes(5, mails, send);
  pool.close();
  tell('nodemailer alone', await sink.report());
}

async function oneWorker(): Promise<void> {
  await sink.clear();
  const web = await startProcess('passwordless', environment);
  await lanes(16, mails, (index) => requestLink(web.url, `one-${index}.${at}`));
  const worker = await startProcess('passwordless-worker', environment);
  const report = await allArrived();
  tell('one worker process', report);
  await Promise.all([web, worker].map(({ child }) => stopProcess(child)));
}

async function killed(): Promise<void> {
  await sink.clear();
  const webs = await Promise.all([1, 2].map(() => startProcess('passwordless', environment)));
  const startWorker = async () => (await startProcess('passwordless-worker', environment)).child;
  const workers: ChildProcess[] = await Promise.all([1, 2, 3].map(startWorker));
  const done = new AbortController();
  const killing = killOneASecond(workers, startWorker, done.signal);
  await lanes(16, mails, (index) => requestLink(webs[index % 2]?.url ?? '', `two-${index}.${at}`));
  const report = await allArrived();
  done.abort();
  const kills = await killing;
  tell(`two web and three worker processes, ${kills} kills`, report);
  const duplicates = report.mails - report.recipients;
  const share = ((100 * duplicates) / mails).toFixed(2);
  const ids =
    report.messageIds === report.recipients ? 'each under its one Message-ID' : 'under OTHER Message-IDs';
  console.log(`  ${mails - report.recipients} lost, ${duplicates} twice (${share} %), ${ids}`);
  await Promise.all([...webs.map(({ child }) => child), ...workers].map((child) => stopProcess(child)));
}

async function killOneASecond(
  workers: ChildProcess[],
  startWorker: () => Promise<ChildProcess>,
  done: AbortSignal,
): Promise<number> {
  let kills = 0;
  for (;;) {
    await delay(1_000, undefined, { signal: done }).catch(() => {});
    if (done.aborted) return kills;
    const turn = kills++ % workers.length;
    await stopProcess(workers[turn] as ChildProcess, 'SIGKILL');
    workers[turn] = await startWorker();
  }
}

/** Waits until nothing more comes, also nothing twice. */
async function allArrived(): Promise<SinkReport> {
  for (;;) {
    const report = await sink.report();
    if (report.recipients >= mails) break;
    await delay(100);
  }
  const { seconds } = await sink.report();
  await delay(Number(leaseSeconds) * 1_000 + 2_000);
  return { ...(await sink.report()), seconds };
}

async function requestLink(url: string, email: string): Promise<void> {
  const response = await fetch(`${url}/request/magic`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  await response.arrayBuffer();
}

async function lanes(count: number, total: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < total) await act(next++);
  };
  await Promise.all(Array.from({ length: count }, lane));
}

async function dropSchema(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS passwordless CASCADE');
  await client.end();
}

function tell(what: string, { recipients, seconds }: SinkReport): void {
  console.log(
    `${what}: ${recipients} mails in ${seconds.toFixed(1)} s, ${Math.round(recipients / seconds)}/s`,
  );
}
