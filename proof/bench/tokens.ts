/**
 * The token service beside its bare floors and better-auth, both in memory and with the same argon2id cost (19 MiB, 2 passes, 1 lane), neither
 * with a rate limit. better-auth has no refresh tokens: its session check that extends the session stands for the exchange. Rounds
 * alternate; the best of each counts, since the machine may have other work.
 *
 *   node proof/bench/tokens.ts [rounds] [seconds] [compare,memory]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { startBareHttp } from './lib/bare-http.ts';
import { bests, say } from './lib/compare.ts';
import { type Load, offer } from './lib/load.ts';
import { startEcho } from './tokens/echo.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 3);
const alice = { email: 'alice@example.com', password: 'a password for measuring', name: 'Alice' };
// Signs in over and over: beyond a hundred sessions the oldest gives way, and Alice is to keep hers.
const bob = { ...alice, email: 'bob@example.com', name: 'Bob' };
const usersMax = 100_000;
const folder = testFolder('bench');
const environment = { OCTAVO_DATA: folder, LOG_LEVEL: 'warn', RATE_LIMIT_MAX: '0', NODE_ENV: 'development' };

const parts = process.argv[4]?.split(',') ?? ['compare', 'memory'];
if (parts.includes('compare')) await compare();
if (parts.includes('memory')) await measureMemory();

async function compare(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const ours = stack.adopt(await startProcess('tokens', environment), ({ child }) => stopProcess(child));
  const checking = stack.adopt(await startPeer('check'), ({ child }) => stopProcess(child, 'SIGKILL'));
  const extending = stack.adopt(await startPeer('extend'), ({ child }) => stopProcess(child, 'SIGKILL'));
  await post(`${ours.url}/auth/register`, bob);
  await post(`${checking.url}/api/auth/sign-up/email`, bob);
  const { tokens } = (await (await post(`${ours.url}/auth/register`, alice)).json()) as {
    tokens: Record<string, string>;
  };
  const headers = { authorization: `Bearer ${tokens.accessToken}` };
  const me = { url: `${ours.url}/auth/me`, headers, seconds };
  using bare = await startBareHttp(await (await fetch(me.url, { headers })).text());
  using echo = await startEcho(tokens);
  const session = (peer: Peer) => ({
    url: `${peer.url}/api/auth/get-session`,
    headers: { cookie: peer.cookie },
    seconds,
  });
  const ways: Record<string, () => Promise<number>> = {
    'me floor': () => rate({ ...me, url: `${bare.url}/` }),
    me: () => rate(me),
    'session check of better-auth': () => rate(session(checking)),
    'refresh floor': () => chains(echo.url),
    refresh: () => chains(ours.url),
    'session extension of better-auth': () => rate(session(extending)),
    'login floor': () => ask('hashes.ts', [String(seconds)]),
    login: () => rate(login(`${ours.url}/auth/login`)),
    'sign-in of better-auth': () => rate(login(`${checking.url}/api/auth/sign-in/email`)),
  };
  const found = await bests(ways, rounds);
  say('Tokens: GET /auth/me', found, ['me', 'me floor', 'session check of better-auth']);
  say('Tokens: POST /auth/refresh', found, ['refresh', 'refresh floor', 'session extension of better-auth']);
  say('Tokens: POST /auth/login', found, ['login', 'login floor', 'sign-in of better-auth']);
  const [, during] = await Promise.all([
    offer(login(`${ours.url}/auth/login`)),
    offer({ ...me, connections: 1 }),
  ]);
  console.log(
    `GET /auth/me while logins saturate: p50 ${during.p50Ms.toFixed(1)} ms, p99 ${during.p99Ms.toFixed(1)} ms`,
  );
}

async function measureMemory(): Promise<void> {
  const light = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };
  await using stack = new AsyncDisposableStack();
  const started = await startProcess('tokens', { ...environment, ...light });
  const { url, child } = stack.adopt(started, () => stopProcess(started.child));
  const beforeMb = await residentMb(child);
  await ask('chains.ts', ['register', url, String(usersMax)]);
  const afterMb = await residentMb(child);
  console.log(`memory: ${beforeMb} MB at start, ${afterMb} MB with ${usersMax} users, each with a session`);
}

interface Peer {
  readonly url: string;
  readonly cookie: string;
  readonly child: ChildProcess;
}

async function startPeer(mode: 'check' | 'extend'): Promise<Peer> {
  const child = forkHelper('better-auth.ts', [mode]);
  const [url] = (await once(child, 'message')) as [string];
  const answer = await post(`${url}/api/auth/sign-up/email`, alice);
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  return { url, cookie, child };
}

function login(url: string): Load {
  const { email, password } = bob;
  return { url, method: 'POST', body: JSON.stringify({ email, password }), connections: 8, seconds };
}

async function rate(load: Load): Promise<number> {
  const { perSecond, failures } = await offer(load);
  if (failures > 0) throw new Error(`${load.url}: ${failures} answers were no success`);
  return perSecond;
}

function chains(url: string): Promise<number> {
  return ask('chains.ts', ['refresh', url, String(seconds)]);
}

async function ask(file: string, parameters: string[]): Promise<number> {
  const child = forkHelper(file, parameters);
  const failed = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`${file} ended with ${code}`)),
  );
  const [answer] = (await Promise.race([once(child, 'message'), failed])) as [number];
  failed.catch(() => {});
  child.kill();
  return answer;
}

function forkHelper(file: string, parameters: string[]): ChildProcess {
  return fork(fileURLToPath(new URL(`tokens/${file}`, import.meta.url)), parameters);
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(url).origin },
    body: JSON.stringify(body),
  });
}

async function residentMb(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}
