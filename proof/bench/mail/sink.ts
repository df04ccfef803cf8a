import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startSmtpSink } from '@octavo/testing/engines';

/** Mails that a server has received so far. */
export interface SinkReport {
  readonly mails: number;
  readonly recipients: number;
  /** Message-IDs; as many as recipients where whatever came twice is the same mail. */
  readonly messageIds: number;
  /** Seconds from the first mail to the last. */
  readonly seconds: number;
}

export interface BenchSink extends AsyncDisposable {
  readonly port: number;
  report(): Promise<SinkReport>;
  clear(): Promise<void>;
}

/** A mail server on loopback that takes everything, in a process of its own. */
export async function startSink(): Promise<BenchSink> {
  const child = fork(fileURLToPath(import.meta.url));
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    report: () => ask(child, 'report'),
    clear: async () => void (await ask(child, 'clear')),
    [Symbol.asyncDispose]: async () => void child.kill(),
  };
}

async function ask(child: ChildProcess, what: 'report' | 'clear'): Promise<SinkReport> {
  child.send(what);
  const [answer] = (await once(child, 'message')) as [SinkReport];
  return answer;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const caught: { to: string; messageId: string; atMs: number }[] = [];
  const sink = await startSmtpSink({
    hold: ({ to, messageId }) => {
      caught.push({ to: to[0] ?? '', messageId, atMs: performance.now() });
    },
  });
  process.on('message', (what) => {
    if (what === 'clear') caught.length = 0;
    process.send?.({
      mails: caught.length,
      recipients: new Set(caught.map(({ to }) => to)).size,
      messageIds: new Set(caught.map(({ messageId }) => messageId)).size,
      seconds: ((caught.at(-1)?.atMs ?? 0) - (caught[0]?.atMs ?? 0)) / 1_000,
    } satisfies SinkReport);
  });
  process.once('disconnect', () => process.exit());
  process.send(sink.port);
}
