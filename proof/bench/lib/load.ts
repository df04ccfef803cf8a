import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A request to repeat, and the duration. */
export interface Load {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Further headers of the connections, in turn. */
  readonly accounts?: readonly Readonly<Record<string, string>>[];
  readonly body?: string;
  /** Connections, each with one request at a time; 64 by default. */
  readonly connections?: number;
  readonly seconds?: number;
}

export interface LoadReport {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers whose status was not 2xx. */
  readonly failures: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const warmUpMsMax = 1_000;

/** Loads a server from a process of its own, by bare sockets, so that the load costs less than what it measures. */
export async function offer(load: Load): Promise<LoadReport> {
  const child = fork(fileURLToPath(import.meta.url), { stdio: 'inherit' });
  child.send(load);
  const [report] = (await once(child, 'message')) as [LoadReport];
  child.disconnect();
  return report;
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', async (load: Load) => {
    process.send?.(await run(load));
    process.exit();
  });
}

async function run(load: Load): Promise<LoadReport> {
  const { connections = 64, seconds = 4, accounts = [{}] } = load;
  const requests = accounts.map((account) =>
    requestOf({ ...load, headers: { ...load.headers, ...account } }),
  );
  let durationsMs: number[] = [];
  let failures = 0;
  const sockets = Array.from({ length: connections }, (_, index) => {
    const request = requests[index % requests.length] ?? requestOf(load);
    return drive(load.url, request, (durationMs, status) => {
      durationsMs.push(durationMs);
      if (status < 200 || status > 299) failures++;
    });
  });
  await setTimeout(Math.min(warmUpMsMax, seconds * 1_000));
  durationsMs = [];
  failures = 0;
  const startedAtMs = performance.now();
  await setTimeout(seconds * 1_000);
  const measured = durationsMs;
  const elapsedMs = performance.now() - startedAtMs;
  for (const socket of sockets) socket.destroy();
  return { ...quantiles(measured), perSecond: (measured.length * 1_000) / elapsedMs, failures };
}

/** The quantiles of durations in milliseconds. */
export function quantiles(durationsMs: number[]): Pick<LoadReport, 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs'> {
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: sorted.at(-1) ?? 0 };
}

function requestOf({ url, method = 'GET', headers = {}, body = '' }: Load): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({
    host,
    ...(body && { 'content-type': 'application/json' }),
    ...(body && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
}

/** Sends the request again as soon as its answer is whole: by Content-Length, else by the last chunk. */
function drive(url: string, request: Buffer, onAnswer: (durationMs: number, status: number) => void): Socket {
  const { hostname, port } = new URL(url);
  let sentAtMs = 0;
  let pending: Buffer | undefined;
  const socket = connect(Number(port), hostname, send).setNoDelay();
  socket.on('data', (bytes: Buffer) => {
    const whole = pending ? Buffer.concat([pending, bytes]) : bytes;
    if (!isComplete(whole)) {
      pending = whole;
      return;
    }
    pending = undefined;
    onAnswer(performance.now() - sentAtMs, Number(whole.toString('latin1', 9, 12)));
    send();
  });
  socket.on('error', () => onAnswer(0, 0));
  return socket;

  function send(): void {
    sentAtMs = performance.now();
    socket.write(request);
  }
}

function isComplete(bytes: Buffer): boolean {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return false;
  const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
  if (length !== undefined) return bytes.length >= end + 4 + Number(length);
  return bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n';
}
