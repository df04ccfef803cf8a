import { setTimeout as sleep } from 'node:timers/promises';
import { parseRaw } from '@octavo/core/text';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { printable } from '../output.ts';

interface Message {
  readonly type: string;
  readonly seq?: number;
  readonly event?: string;
  readonly message?: string;
  readonly createdAt?: string;
}

const refusals: Readonly<Record<number, Failure>> = {
  4401: new Failure('signed_out', 'The token is wrong or has expired.'),
  4403: new Failure('refused', 'The account is disabled.'),
};
const pauseMs = 1_000;
const pauseMsMax = 10_000;

/** Prints notifications until it is interrupted. It says that a connection was lost, and goes on where it was. */
export async function watch({ client, output }: Context): Promise<void> {
  const address = (await client.url()).replace(/^http/, 'ws');
  const token = client.token ?? '';
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  let lastSeq: number | undefined;
  const show = (message: Message) => {
    if (message.type === 'ready' && lastSeq === undefined) lastSeq = message.seq;
    if (message.type === 'gap') output.note('Some notifications are too old to be sent again.');
    if (message.type !== 'notification') return;
    lastSeq = message.seq;
    if (output.json) output.object(message);
    else output.line(printable(`${message.createdAt}  ${message.event}  ${message.message}`));
  };
  for (let failures = 0; !stopping.signal.aborted; failures++) {
    const wasOpen = await follow(address, { token, lastSeq, show, signal: stopping.signal });
    if (stopping.signal.aborted) return;
    if (wasOpen) failures = 0;
    else if (lastSeq === undefined) throw new Failure('unreachable', `${address} cannot be reached.`);
    if (failures === 0) output.note('The connection was lost; connecting again until it is interrupted.');
    const waitMs = Math.min(pauseMs * (failures + 1), pauseMsMax);
    await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
  }
}

interface Following {
  readonly token: string;
  readonly lastSeq: number | undefined;
  readonly show: (message: Message) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the connection is closed: with whether it was open. Rejects if the server refuses the account. */
function follow(address: string, { token, lastSeq, show, signal }: Following): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const socket = new WebSocket(`${address}/ws`, ['bearer', token]);
  let wasOpen = false;
  const stop = () => socket.close(1000);
  signal.addEventListener('abort', stop);
  socket.addEventListener('message', ({ data }) => {
    const message = parseRaw(String(data)) as Message;
    if (message.type === 'ready') {
      wasOpen = true;
      socket.send(JSON.stringify({ type: 'resume', ...(lastSeq !== undefined && { lastSeq }) }));
    }
    show(message);
  });
  socket.addEventListener('close', ({ code }) => {
    signal.removeEventListener('abort', stop);
    const refusal = refusals[code];
    if (refusal) reject(refusal);
    else resolve(wasOpen);
  });
  // A close event follows each error.
  socket.addEventListener('error', () => undefined);
  return promise;
}
