import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream';
import { after } from 'node:test';
import { testFolder } from './folder.ts';

/** The address of a test bucket, which is empty at first. */
export interface TestBucket {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** An S3 server with one bucket, in its own process. */
export interface TestS3 extends TestBucket {
  /** Id of the current process. */
  readonly pid: number;
  /** Ends it at once, like kill -9. */
  kill(): Promise<void>;
  /** Stops it from responding until `thaw`, without ending it. */
  freeze(): void;
  thaw(): void;
  /** Starts it again at the same address with the same data, if it does not run. */
  revive(): Promise<void>;
}

const bucket = 'test';
const key = 'S3RVER';

/** Starts a server; it ends after the tests of the calling file. */
export async function startTestS3(): Promise<TestS3> {
  const server = await startS3();
  after(() => server[Symbol.asyncDispose]());
  return server;
}

/** Starts a server that runs until it is disposed of, with its data in a folder. */
export async function startS3(folder = testFolder('s3')): Promise<TestS3 & AsyncDisposable> {
  let { child, port } = await serve(folder, 0);
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const kill = async () => {
    if (isOver()) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    ...bucketAt(port),
    get pid() {
      return child.pid as number;
    },
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async revive() {
      if (isOver()) ({ child, port } = await serve(folder, port));
    },
    [Symbol.asyncDispose]: kill,
  };
}

/**
 * A test server with support for `If-None-Match: *` on a PUT, which Amazon's and most others have: a proxy that responds with
 * 412 if the key is taken, and decides one request at a time.
 */
export async function startStrictTestS3(): Promise<TestBucket> {
  const folder = testFolder('s3');
  const { child, port } = await serve(folder, 0);
  let turn = Promise.resolve();
  const proxy = createServer((incoming, outgoing) => {
    const over = new Promise<void>((resolve) => outgoing.once('close', resolve));
    const pass = () => {
      const path = decodeURIComponent(incoming.url?.replace(/\?.*/s, '') ?? '');
      if (isConditional(incoming) && existsSync(join(folder, `${path}._S3rver_object`))) {
        incoming.resume().on('end', () => outgoing.writeHead(412).end());
      } else {
        forward(incoming, outgoing, port);
      }
    };
    if (isConditional(incoming)) turn = turn.then(pass).then(() => over);
    else pass();
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  after(async () => {
    proxy.closeAllConnections();
    proxy.close();
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return bucketAt((proxy.address() as AddressInfo).port);
}

function bucketAt(port: number): TestBucket {
  const credentials = { accessKeyId: key, secretAccessKey: key };
  return { endpoint: `http://127.0.0.1:${port}`, bucket, region: 'us-east-1', credentials };
}

function isConditional({ headers }: IncomingMessage): boolean {
  return headers['if-none-match'] === '*';
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method = '', url = '', headers } = incoming;
  const onward = request({ port, method, path: url, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    pipeline(answer, outgoing, () => undefined);
  });
  pipeline(incoming, onward, (error) => error && outgoing.destroy());
}

async function serve(folder: string, port: number): Promise<{ child: ChildProcess; port: number }> {
  const program = createRequire(import.meta.url).resolve('s3rver/bin/s3rver.js');
  const args = ['-d', folder, '-a', '127.0.0.1', '-p', String(port), '--configure-bucket', bucket];
  const child = spawn(process.execPath, ['--no-deprecation', program, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const listening = /listening on .*:(\d+)/.exec(line)?.[1];
    if (listening === undefined) continue;
    child.stdout.resume();
    return { child, port: Number(listening) };
  }
  throw new Error('the S3 server did not start');
}
