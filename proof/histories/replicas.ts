import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@octavo/core';
import { type Gate, startGate } from '@octavo/testing/engines';
import { stopProcess } from '../../apps/octavo/testing.ts';
import type { Store } from './audit.ts';
import type { Outcome } from './history.ts';

/** One process that serves all services under test. */
export class Replica implements AsyncDisposable {
  /** Between it and PostgreSQL. */
  readonly gate: Gate | undefined;
  readonly #names: readonly string[];
  readonly #environment: Environment;
  #child: ChildProcess | undefined;
  #urls: Readonly<Record<string, string>> = {};

  private constructor(names: readonly string[], environment: Environment, gate: Gate | undefined) {
    this.#names = names;
    this.#environment = environment;
    this.gate = gate;
  }

  static async start(names: readonly string[], environment: Environment): Promise<Replica> {
    const { DATABASE_URL: databaseUrl } = environment;
    if (!databaseUrl) return new Replica(names, environment, undefined).#started();
    const through = new URL(databaseUrl);
    const gate = await startGate(through.host);
    through.host = gate.address;
    return new Replica(names, { ...environment, DATABASE_URL: through.href }, gate).#started();
  }

  /** Address of a service; while the process is down, the last one. */
  url(service: string): string {
    return this.#urls[service] ?? '';
  }

  /** Ends it as a machine that fails does, and starts it again. */
  async crash(): Promise<void> {
    if (this.#child) await stopProcess(this.#child, 'SIGKILL');
    // A start that fails is repeated, as those who run services do it.
    await this.#started().catch(() => this.#started());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child) await stopProcess(this.#child, 'SIGKILL');
  }

  async #started(): Promise<Replica> {
    const entry = join(import.meta.dirname, '../../apps/octavo/octavo.js');
    const child = spawn(process.execPath, [entry, 'serve', ...this.#names, '--port', '0'], {
      env: { PATH: process.env.PATH, ...this.#environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.off('exit', kill));
    let text = '';
    for await (const piece of child.stdout) {
      text += piece;
      const lines = [...text.matchAll(/^(\w+) +(http:\S+)$/gm)];
      if (lines.length < this.#names.length) continue;
      this.#urls = Object.fromEntries(lines.map(([, name = '', url = '']) => [name, url]));
      return this;
    }
    throw new Error(`it ended with ${child.exitCode} while it started: ${text}`);
  }
}

/** The processes under test, and their data. */
export interface Cluster {
  readonly replicas: readonly Replica[];
  readonly store: Store;
}

/** Work of clients while processes fail, with the check of their answers. */
export interface Workload {
  /** Steps, each repeated by one client. */
  readonly clients: readonly (() => Promise<void>)[];
  /** Looks a last time, once everything works again, and returns what must not be. */
  check(): Promise<string[]>;
}

/** A replica of the service, another one each time. */
export function anyOf({ replicas }: Cluster, service: string): string {
  return replicas[turn++ % replicas.length]?.url(service) ?? '';
}

let turn = 0;

export interface Request {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds that the client waits. */
  readonly patienceMs?: number;
}

export interface Response {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: workloads read any response
  readonly json: any;
  readonly text: string;
}

/**
 * Sends a request. It failed if no server took it or the response is 503 or 408, which promises that nothing was done. A response of 504, and a
 * connection that ends or stays silent, leave the outcome unknown.
 */
export async function send(url: string, request: Request = {}): Promise<Outcome<Response>> {
  const outcome = await attempt(url, request);
  // A client that is refused does not ask again at once.
  if (outcome === 'failed') await delay(100);
  return outcome;
}

async function attempt(
  url: string,
  { method, body, headers, patienceMs = 5_000 }: Request,
): Promise<Outcome<Response>> {
  const isForm = body instanceof URLSearchParams;
  try {
    const response = await fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      redirect: 'manual',
      headers: { ...(body !== undefined && !isForm && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    // A frozen process has not read the request in time, and says so when it goes on.
    if (response.status === 503 || response.status === 408) return 'failed';
    if (response.status === 504) return 'unknown';
    if (response.status >= 500) throw new Broken(`${method ?? ''} ${url}: ${response.status} ${text}`);
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    const { status, headers: received } = response;
    return { ok: { status, headers: received, text, json: isJson && text ? JSON.parse(text) : undefined } };
  } catch (error) {
    if (error instanceof Broken) throw error;
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    return code === 'ECONNREFUSED' ? 'failed' : 'unknown';
  }
}

/** A response that no fault explains. */
export class Broken extends Error {}

/** The outcome with another output. */
export function mapped<From, To>(outcome: Outcome<From>, map: (output: From) => To): Outcome<To> {
  return typeof outcome === 'string' ? outcome : { ok: map(outcome.ok) };
}

/** Repeats a request that prepares something until it succeeds. */
export async function certainly(at: () => string, path: string, request: Request): Promise<Response> {
  for (;;) {
    const outcome = await send(`${at()}${path}`, { ...request, patienceMs: 60_000 });
    if (typeof outcome === 'string') continue;
    if (outcome.ok.status < 400) return outcome.ok;
    throw new Broken(`${path}: ${outcome.ok.status} ${outcome.ok.text}`);
  }
}
