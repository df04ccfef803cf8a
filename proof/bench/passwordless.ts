/**
 * The passwordless service on a SQLite file that syncs each commit, beside a bare node:http server that parses a JSON body and makes one, and
 * better-auth on the same kind of file; 64 clients, no rate limits, no mails sent. better-auth has no refresh tokens: its
 * session check that extends the session stands for the exchange. Rounds alternate; the best of each counts, since the machine may have other
 * work.
 *
 *   node proof/bench/passwordless.ts [rounds] [seconds]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FakeClock } from '@octavo/core';
import { testFolder } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { bests, say } from './lib/compare.ts';
import { type Load, offer } from './lib/load.ts';
import { startEcho } from './tokens/echo.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const clients = 64;
const folder = testFolder('bench');
const environment = {
  OCTAVO_DATA: folder,
  LOG_LEVEL: 'warn',
  NODE_ENV: 'development',
  DATABASE_URL: process.env.DATABASE_URL,
  PASSWORDLESS_WORKER: 'off',
  ...Object.fromEntries(
    [
      'POST_PER_IP',
      'MAGIC_PER_IP',
      'MAGIC_PER_ADDRESS',
      'ENROLL_PER_IP',
      'VERIFY_PER_IP',
      'REFRESH_PER_IP',
    ].map((name) => [`PASSWORDLESS_LIMIT_${name}`, '0']),
  ),
};

await compare();

async function compare(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const ours = stack.adopt(await startProcess('passwordless', environment), ({ child }) =>
    stopProcess(child),
  );
  const peer = stack.adopt(await startPeer(), ({ child }) => stopProcess(child, 'SIGKILL'));
  const pair = await signIn(ours.url, 'shape@example.com');
  using echo = await startEcho(pair);
  const magic = (url: string): Load => ({
    url,
    method: 'POST',
    headers: { origin: new URL(url).origin },
    body: JSON.stringify({ email: 'alice@example.com' }),
    seconds,
  });
  const ways: Record<string, () => Promise<number>> = {
    'refresh floor': () =>
      rate({ ...magic(`${echo.url}/`), body: JSON.stringify({ refresh_token: pair.refresh_token }) }),
    refresh: async () => chains(ours.url, await tokensFor(ours.url)),
    'session extension of better-auth': () =>
      rate({ url: `${peer.url}/api/auth/get-session`, headers: { cookie: peer.cookie }, seconds }),
    'magic floor': () => rate(magic(`${echo.url}/`)),
    magic: () => rate(magic(`${ours.url}/request/magic`)),
    'magic link of better-auth': () => rate(magic(`${peer.url}/api/auth/sign-in/magic-link`)),
  };
  const found = await bests(ways, rounds);
  say('POST /token/refresh', found, ['refresh', 'refresh floor', 'session extension of better-auth']);
  say('POST /request/magic', found, ['magic', 'magic floor', 'magic link of better-auth']);
}

interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Peer {
  readonly url: string;
  readonly cookie: string;
  readonly child: ChildProcess;
}

async function startPeer(): Promise<Peer> {
  const child = fork(helper('better-auth.ts'), [join(folder, 'better-auth.sqlite')]);
  const [told] = (await once(child, 'message')) as [{ url: string; cookie: string }];
  return { ...told, child };
}

async function tokensFor(url: string): Promise<string[]> {
  const stamp = Date.now();
  const pairs = await Promise.all(
    Array.from({ length: clients }, (_, index) => signIn(url, `user${index}.${stamp}@example.com`)),
  );
  return pairs.map(({ refresh_token: token }) => token);
}

/** Signs in by an authenticator app, which needs no mail. */
async function signIn(url: string, email: string): Promise<Pair> {
  const enrolled = (await (await post(`${url}/totp/enroll`, { email })).json()) as { secret: string };
  const code = appCode(enrolled.secret, new FakeClock(Date.now()));
  const answer = await post(`${url}/totp/verify`, { email, code });
  if (answer.status !== 200) throw new Error(await answer.text());
  return (await answer.json()) as Pair;
}

async function chains(url: string, tokens: readonly string[]): Promise<number> {
  const child = fork(helper('chains.ts'), [url, String(seconds)]);
  child.send(tokens);
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`chains.ts ended with ${code}`)),
  );
  const [perSecond] = (await Promise.race([once(child, 'message'), failed])) as [number];
  failed.catch(() => {});
  child.kill();
  return perSecond;
}

async function rate(load: Load): Promise<number> {
  const { perSecond, failures } = await offer({ ...load, connections: clients });
  if (failures > 0) throw new Error(`${load.url}: ${failures} answers were no success`);
  return perSecond;
}

function helper(file: string): string {
  return fileURLToPath(new URL(`passwordless/${file}`, import.meta.url));
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
