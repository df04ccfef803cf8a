import { describe, type TestContext } from 'node:test';
import type { Environment } from '@octavo/core';
import { AppError, FakeClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { Database } from '@octavo/data';
import {
  type ListPostsRequest,
  PostServiceDefinition,
  PostSort,
  type Post as WirePost,
} from '@octavo/protocols/posts/v1/posts';
import { type Client, localClient } from '@octavo/rpc';
import { remoteClient } from '@octavo/rpc/remote';
import { testConfig, testContext, testFolder, testMode } from '@octavo/testing';
import pg from 'pg';
import { openPostDatabase, type Tables } from '../database.ts';
import { posts } from '../service.ts';

/** A database and a way to call. */
export interface World {
  /** PostgreSQL, or SQLite where it is empty. */
  readonly databaseUrl: string | undefined;
  readonly remote: boolean;
  /** Besides the place of the data. By default no worker runs. */
  readonly settings?: Environment;
  /** Start of its clock. */
  readonly startMs?: number;
}

export interface TestPosts {
  readonly client: Client<PostServiceDefinition>;
  readonly clock: FakeClock;
  readonly dataFolder: string;
  /** The metrics as Prometheus reads them. */
  readonly metrics: () => Promise<string>;
  /** Stops it before the test ends. */
  readonly stop: () => Promise<void>;
  /** The database, to look into. */
  readonly open: () => Promise<Database<Tables>>;
}

/** Runs the tests on the database and over the kind of call that the environment names (`packages/testing/mode.ts`). */
export async function inTestMode(tests: (world: World) => void): Promise<void> {
  const { databaseUrl, isRemote } = await testMode();
  const database = databaseUrl === undefined ? 'SQLite' : 'PostgreSQL';
  describe(`on ${database}, ${isRemote ? 'over the network' : 'in process'}`, () =>
    tests({ databaseUrl, remote: isRemote }));
}

/** The service with an empty database, or with the one of a folder. It stops after the test. */
export async function startPosts(
  context: Pick<TestContext, 'after'>,
  world: World,
  existingFolder?: string,
): Promise<TestPosts> {
  const dataFolder = existingFolder ?? testFolder('posts');
  if (world.databaseUrl && !existingFolder) await dropSchema(world.databaseUrl);
  const clock = new FakeClock(world.startMs);
  const config = testConfig(posts.settings, {
    DATABASE_URL: world.databaseUrl,
    RPC_TOKEN: 'shared',
    POSTS_WORKER: 'off',
    ...world.settings,
  });
  const serviceContext = testContext('posts', { clock, dataFolder, port: world.remote ? 0 : undefined });
  const running = await posts.start(config, serviceContext, {});
  let stopped: PromiseLike<void> | undefined;
  const stop = async () => {
    stopped ??= running[Symbol.asyncDispose]();
    await stopped;
  };
  context.after(stop);
  const client = clientOf(context, running);
  const open = () => openPostDatabase({ url: world.databaseUrl, folder: dataFolder, log: silentLog });
  const metrics = () => serviceContext.metrics.metrics();
  return { client, clock, dataFolder, metrics, stop, open };
}

function clientOf(
  context: Pick<TestContext, 'after'>,
  running: Awaited<ReturnType<typeof posts.start>>,
): Client<PostServiceDefinition> {
  if (!running.url) return localClient(PostServiceDefinition, running.handlers, { log: silentLog });
  const client = remoteClient(PostServiceDefinition, {
    address: running.url,
    token: 'shared',
    log: silentLog,
  });
  context.after(() => client[Symbol.asyncDispose]());
  return client;
}

export async function dropSchema(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS posts CASCADE');
  await client.end();
}

/** A list request that asks for everything in the default order, but for what is given. */
export function listing(request: Partial<ListPostsRequest> = {}): ListPostsRequest {
  return { filter: {}, sort: PostSort.POST_SORT_ID, descending: true, page: 1, pageSize: 20, ...request };
}

/** Creates posts, all or none, and gives their ids. */
export async function bulkCreate(
  client: Client<PostServiceDefinition>,
  rows: readonly { userId: number; title: string; body: string }[],
): Promise<number[]> {
  const request = { posts: [...rows], errors: [], idempotencyKey: '', digest: Buffer.alloc(0) };
  return (await client.bulkCreatePosts(request)).ids;
}

export async function exported(
  client: Client<PostServiceDefinition>,
  filter: ListPostsRequest['filter'] = {},
): Promise<WirePost[]> {
  const all: WirePost[] = [];
  for await (const { posts: batch } of client.exportPosts({ filter })) all.push(...batch);
  return all;
}

/** Returns the error that a call was refused with. */
export async function refusal(call: Promise<unknown>): Promise<AppError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}
