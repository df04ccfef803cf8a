import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

/** Messages received by the sockets of a process. */
export interface ClientReport {
  readonly delaysMs: number[];
  /** Messages whose number does not follow the one before. */
  readonly outOfOrder: number;
}

interface Task {
  readonly url: string;
  /** The `Authorization` of each socket. */
  readonly authorizations: readonly string[];
}

const processes = 2;
const connectsAtOnce = 50;
const tellEveryMs = 5;
const giveUpMs = 60_000;

/** Sockets in processes of their own, which are ready. */
export interface Clients extends AsyncDisposable {
  /** Returns the number of messages that have arrived, which the processes report every few milliseconds. */
  received(): number;
  /** Resolves when `count` have arrived; rejects after a minute. */
  until(count: number): Promise<void>;
  reports(): Promise<ClientReport[]>;
}

/** Opens sockets, spread over the accounts and the processes. */
export async function startClients(
  { url, accounts }: { readonly url: string; readonly accounts: readonly string[] },
  sockets: number,
): Promise<Clients> {
  const all = Array.from({ length: sockets }, (_, index) => accounts[index % accounts.length] ?? '');
  const counts: number[] = new Array(processes).fill(0);
  const waiting = new Set<{ count: number; resolve: () => void }>();
  const received = () => counts.reduce((sum, count) => sum + count, 0);
  const children = Array.from({ length: processes }, () => fork(fileURLToPath(import.meta.url)));
  await Promise.all(
    children.map(async (child, index) => {
      child.send({ url, authorizations: all.filter((_, socket) => socket % processes === index) });
      await once(child, 'message');
      child.on('message', (told: number | ClientReport) => {
        if (typeof told !== 'number') return;
        counts[index] = told;
        for (const waiter of waiting) if (received() >= waiter.count) waiter.resolve();
      });
    }),
  );
  return {
    received,
    async until(count) {
      if (received() >= count) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { count, resolve };
      waiting.add(waiter);
      const timer = globalThis.setTimeout(() => {
        reject(new Error(`${received()} of ${count} messages arrived`));
      }, giveUpMs);
      await promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(waiter);
      });
    },
    reports: () => Promise.all(children.map(reportOf)),
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        const ended = once(child, 'exit');
        child.kill();
        await ended;
      }
    },
  };
}

async function reportOf(child: ChildProcess): Promise<ClientReport> {
  child.send('report');
  for (;;) {
    const [told] = (await once(child, 'message')) as [number | ClientReport];
    if (typeof told !== 'number') return told;
  }
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (task: Task) => void run(task));
  process.once('disconnect', () => process.exit());
}

async function run({ url, authorizations }: Task): Promise<void> {
  const delaysMs: number[] = [];
  let outOfOrder = 0;
  const connect = async (authorization: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: { authorization } });
    let lastSeq: number | undefined;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.on('error', reject);
    socket.on('open', () => socket.send('{"type":"resume"}'));
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1');
      if (!text.startsWith('{"type":"notification"')) return resolve();
      delaysMs.push(
        performance.timeOrigin + performance.now() - Number(/"message":"([\d.]+)"/.exec(text)?.[1]),
      );
      const seq = Number(/"seq":(\d+)/.exec(text)?.[1]);
      if (lastSeq !== undefined && seq !== lastSeq + 1) outOfOrder++;
      lastSeq = seq;
    });
    await promise;
  };
  const rest = authorizations.values();
  const work = async () => {
    for (const authorization of rest) await connect(authorization);
  };
  await Promise.all(Array.from({ length: connectsAtOnce }, work));
  // Ours deliver from the moment that they have read `resume`.
  await setTimeout(1_000);
  process.send?.('ready');
  let told = 0;
  setInterval(() => {
    if (delaysMs.length > told) process.send?.(delaysMs.length);
    told = delaysMs.length;
  }, tellEveryMs);
  process.on('message', () => process.send?.({ delaysMs, outOfOrder } satisfies ClientReport));
}
