import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Measures exchanges a second: a chain of refresh tokens for each connection, by bare sockets. Tokens come by message. */
const [url = '', seconds = ''] = process.argv.slice(2);
process.once('message', async (tokens: string[]) => {
  process.send?.(await refreshFor(tokens, Number(seconds)));
});

async function refreshFor(tokens: readonly string[], durationSeconds: number): Promise<number> {
  let count = 0;
  const latest = tokens.map((token) => chain(token, () => count++));
  await setTimeout(1_000);
  count = 0;
  const startMs = performance.now();
  await setTimeout(durationSeconds * 1_000);
  const perSecond = (count * 1_000) / (performance.now() - startMs);
  for (const stop of latest) stop();
  return perSecond;
}

/** Exchanges a token, then the one that it got, and so on. */
function chain(first: string, onAnswer: () => void): () => void {
  const { hostname, port, host } = new URL(url);
  const head = `POST /token/refresh HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: `;
  let isOver = false;
  let pending = '';
  const send = (token: string) => {
    const body = JSON.stringify({ refresh_token: token });
    socket.write(`${head}${body.length}\r\n\r\n${body}`);
  };
  const socket = connect(Number(port), hostname, () => send(first)).setNoDelay();
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    pending += chunk;
    if (!pending.endsWith('}')) return;
    const token = /"refresh_token":"([^"]+)"/.exec(pending)?.[1];
    if (!pending.startsWith('HTTP/1.1 200') || !token) throw new Error(pending);
    pending = '';
    onAnswer();
    if (isOver) socket.end();
    else send(token);
  });
  return () => {
    isOver = true;
  };
}
