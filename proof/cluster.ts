import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { testFolder, until } from '@octavo/testing';
import {
  type Balancer,
  type Gate,
  startBalancer,
  startGate,
  startTestNats,
  startTestS3,
  testDatabaseUrl,
} from '@octavo/testing/engines';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';
import { settingsOf } from '../services/gateway/exports/testing.ts';
import { castOf, type Person } from '../services/gateway/testing.ts';

/** Two of each service as processes of their own, behind a load balancer, on PostgreSQL, NATS and an S3 server. */
export interface Cluster {
  readonly gateways: readonly Replica[];
  readonly posts: readonly Replica[];
  readonly workers: readonly Replica[];
  readonly authz: readonly Replica[];
  readonly balancer: Balancer;
  /** Between all of them and NATS. */
  readonly nats: Gate;
  readonly cast: Awaited<ReturnType<typeof castOf>>;
}

const passwords = {
  admin: 'admin-of-the-tests',
  editor: 'editor-of-the-tests',
  viewer: 'viewer-of-the-tests',
};

/** Starts one; it ends after the tests of the file that asks. */
export async function startCluster(): Promise<Cluster> {
  const database = await testDatabaseUrl();
  assert.ok(database.url);
  const [s3, server, balancer] = await Promise.all([startTestS3(), startTestNats(), startBalancer()]);
  const nats = await startGate(new URL(server.url).host);
  const common = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'fatal',
    RPC_TOKEN: 'a token between the services',
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    DEMO_ADMIN_PASSWORD: passwords.admin,
    DEMO_EDITOR_PASSWORD: passwords.editor,
    DEMO_VIEWER_PASSWORD: passwords.viewer,
  };
  const data = { ...common, DATABASE_URL: database.url };
  const work = { ...data, NATS_URL: `nats://${nats.address}`, JOB_LEASE_MS: '2000', POSTS_WORKER: 'off' };
  const two = (name: string, environment: Record<string, string>) =>
    Promise.all([Replica.start(name, environment), Replica.start(name, environment)]);
  const [posts, authz] = await Promise.all([two('posts', work), two('authz', data)]);
  const [workers, gateways] = await Promise.all([
    two('posts-worker', work),
    two('gateway', {
      ...common,
      ...settingsOf(s3),
      GATEWAY_JWT_SECRET: 'the key of the tests, which is long enough',
      POSTSVC_ADDR: posts.map(({ host }) => host).join(),
      AUTHSVC_ADDR: authz.map(({ host }) => host).join(),
    }),
  ]);
  for (const { url } of gateways) balancer.put(url);
  const cast = await castOf({ url: balancer.url, passwords });
  return { gateways, posts, workers, authz, balancer, nats, cast };
}

/** One process of a service, which keeps its address. */
export class Replica {
  readonly name: string;
  readonly url: string;
  readonly #environment: Record<string, string>;
  #child: ChildProcess;

  private constructor(
    name: string,
    environment: Record<string, string>,
    started: { url: string; child: ChildProcess },
  ) {
    this.name = name;
    this.#environment = environment;
    this.url = started.url;
    this.#child = started.child;
  }

  static async start(name: string, environment: Record<string, string>): Promise<Replica> {
    const own = { ...environment, OCTAVO_DATA: testFolder('replica') };
    const replica = new Replica(name, own, await startProcess(name, own));
    after(() => replica.kill());
    return replica;
  }

  get host(): string {
    return new URL(this.url).host;
  }

  /** Kills the process, as a failing machine does. */
  async kill(): Promise<void> {
    await stopProcess(this.#child, 'SIGKILL');
  }

  /** Restarts the process, as an update does: it is told to end, ends well, and is started again. */
  async restart(): Promise<void> {
    await stopProcess(this.#child);
    assert.equal(this.#child.exitCode, 0, `${this.name} ended with ${this.#child.exitCode}`);
    await this.start();
  }

  async start(): Promise<void> {
    const { child } = await startProcess(this.name, this.#environment, Number(new URL(this.url).port));
    this.#child = child;
  }

  /** The sum of a figure over the series whose labels match. */
  async figure(name: string, labels: RegExp): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) && labels.test(line));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }
}

/** Result of a load. */
export interface LoadReport {
  /** Ids of the posts whose creation was acknowledged. */
  readonly created: readonly number[];
  readonly read: number;
  /** Unexpected responses, or their absence. */
  readonly failures: readonly string[];
}

export interface Load extends AsyncDisposable {
  /** Waits until more posts than that were created, and as many reads answered, however slow the machine is. */
  reaches(count: number): Promise<unknown>;
  stop(): Promise<LoadReport>;
}

/** Creates and reads posts, over and over, until it is told to stop. */
export function startLoad(cast: Cluster['cast']): Load {
  const over = new AbortController();
  const created: number[] = [];
  const failures: string[] = [];
  let read = 0;
  const again = async (ask: () => Promise<void>) => {
    while (!over.signal.aborted) {
      await ask().catch((error: Error) => failures.push(`${error.message} ${String(error.cause ?? '')}`));
      await setTimeout(10);
    }
  };
  const write = async () => {
    const answer = await cast.alice.post('/posts', {
      title: 'Fog',
      body: 'I love it when the ferries wait.',
    });
    if (answer.status === 201) created.push(answer.json.data.id);
    else failures.push(`POST ${answer.status} ${answer.text}`);
  };
  const look = async () => {
    const id = created.at(-1);
    const answer = await cast.charlie.get(id === undefined ? '/posts' : `/posts/${id}`);
    if (answer.status === 200) read++;
    else failures.push(`GET ${answer.status} ${answer.text}`);
  };
  const all = Promise.all([write, write, look, look].map(again));
  const stop = async () => {
    over.abort();
    await all;
    return { created, read, failures };
  };
  const reaches = (count: number) => until(() => created.length > count && read > count);
  return { stop, reaches, [Symbol.asyncDispose]: async () => void (await stop()) };
}

/** Returns the posts that are missing. */
export async function missingOf(reader: Person, ids: readonly number[]): Promise<number[]> {
  const missing: number[] = [];
  for (const id of ids) if ((await reader.get(`/posts/${id}`)).status !== 200) missing.push(id);
  return missing;
}
