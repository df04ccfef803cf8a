import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Until it is killed: requests of which each depends on the one before, by bare sockets: a chain of refresh tokens for each connection, or ever new users. */
const [what = '', url = '', amount = ''] = process.argv.slice(2);
const password = 'a password for measuring';
if (what === 'register') process.send?.(await registerAll(Number(amount)));
else process.send?.(await refreshFor(Number(amount)));

async function registerAll(users: number): Promise<number> {
  let next = 0;
  const lanes = Array.from({ length: 32 }, () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const newUser = () => JSON.stringify({ email: `user${next++}@example.com`, password });
    ask('/auth/register', newUser(), () => {
      if (next < users) return newUser();
      resolve();
      return undefined;
    });
    return promise;
  });
  await Promise.all(lanes);
  return next;
}

async function refreshFor(seconds: number): Promise<number> {
  let count = 0;
  const lanes = Array.from({ length: 64 }, async () => {
    const first = await signIn();
    ask('/auth/refresh', first, (answer) => {
      count++;
      return JSON.stringify({ refreshToken: tokenIn(answer) });
    });
  });
  await Promise.all(lanes);
  await setTimeout(1_000);
  count = 0;
  const startMs = performance.now();
  await setTimeout(seconds * 1_000);
  return (count * 1_000) / (performance.now() - startMs);
}

async function signIn(): Promise<string> {
  const answer = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'bob@example.com', password }),
  });
  return JSON.stringify({ refreshToken: tokenIn(await answer.text()) });
}

function tokenIn(text: string): string {
  const token = /"refreshToken":"([^"]+)"/.exec(text)?.[1];
  if (!token) throw new Error(`no token in ${text}`);
  return token;
}

/** Sends a body and then, on the same connection, whatever `next` makes of each answer, until that is nothing. */
function ask(path: string, body: string, next: (answer: string) => string | undefined): void {
  const { hostname, port, host } = new URL(url);
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: `;
  const send = (text: string) => socket.write(`${head}${Buffer.byteLength(text)}\r\n\r\n${text}`);
  let pending = '';
  const socket = connect(Number(port), hostname, () => send(body)).setNoDelay();
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    pending += chunk;
    if (!pending.endsWith('}}')) return;
    const [status, answer] = [pending.slice(9, 12), pending];
    pending = '';
    if (!status.startsWith('2')) throw new Error(answer);
    const text = next(answer);
    if (text) send(text);
    else socket.end();
  });
}
