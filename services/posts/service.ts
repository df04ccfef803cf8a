import type { Log } from '@octavo/core';
import { type Config, flag, integer, type Settings } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import { type Database, DatabaseHealth, databaseSettings, queriedGauges } from '@octavo/data';
import { defineService, type ServiceContext, type ServiceParts } from '@octavo/data/service';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { checkRpcToken, type Handlers, rpcSettings, serveRpc } from '@octavo/rpc';
import { createHttpServer } from '@octavo/web/server';
import { type Brokers, brokerSettings, checkBrokers, openBrokers } from './brokers.ts';
import { migrations, openPostDatabase, type Tables } from './database.ts';
import { type Check, switchedOff } from './integrations.ts';
import { DeletedPosts, PostWriter } from './posts/index.ts';
import { type DeadJobs, deadJobs, startReanalyses } from './reanalysis/index.ts';
import { createHandlers } from './rpc.ts';
import { PageThreads, PostIndexer } from './search/index.ts';
import { serveOpenInference } from './sentiment/api.ts';
import {
  type Classifier,
  checkInference,
  inferenceSettings,
  openClassifier,
  startEnrichment,
} from './sentiment/index.ts';
import { countPosts, lastPostId, postUpTo } from './statistics/index.ts';

export type { DeadJobs } from './reanalysis/index.ts';

const workerSettings = {
  ...databaseSettings,
  ...rpcSettings,
  ...inferenceSettings,
  ...brokerSettings,
} satisfies Settings;

const sweepEveryMs = 3_600_000;

const workerChecks = [checkBrokers, checkInference];

const settings = {
  ...workerSettings,
  POSTS_WORKER: flag({
    default: true,
    help: 'Runs queued work in this process too; off leaves it to posts-worker',
  }),
  POSTS_KEEP_DELETED_DAYS: integer({
    default: 30,
    min: 0,
    max: 3_650,
    help: 'Days in which a deleted post can be restored; 0 deletes at once and for good',
  }),
} satisfies Settings;

type WorkerConfig = Config<typeof workerSettings>;
type Parts = ServiceParts<typeof settings>;

/** Resources that both services open. */
interface Opened extends Brokers {
  readonly database: Database<Tables>;
  /** Absent where inference is off. */
  readonly classifier: Classifier | undefined;
}

/** The posts, their search index and their statistics. */
export const posts = defineService({
  name: 'posts',
  summary: 'Posts, search and statistics',
  settings,
  checks: [checkRpcToken, ...workerChecks],
  migrations,
  derived: { post_trigram: null, post_gram: null, 'post.indexed': null },
  build,
});

/** The work behind the posts, in a process of its own: any number of them, anywhere. */
export const postsWorker = defineService({
  name: 'posts-worker',
  summary: 'Reanalysis, events and sentiment of posts',
  settings: workerSettings,
  checks: workerChecks,
  build: buildWorker,
});

const countedJobsMax = 100;

async function build(parts: Parts) {
  const { config, context, stack } = parts;
  const { clock, log, dataFolder: folder } = context;
  const opened = await open(parts, () => parts.openDatabase<Tables>());
  const { database, events } = opened;
  const indexer =
    database.dialect === 'sqlite' ? stack.use(new PostIndexer({ database, folder, log })) : undefined;
  indexer?.start();
  const onWritten = (count: number) => indexer?.written(count);
  const deleted = new DeletedPosts(config.POSTS_KEEP_DELETED_DAYS);
  const failure = 'posts that were deleted long ago are still kept';
  const removeExpired = () => deleted.removeExpired(database, clock.now());
  stack.use(runEvery(sweepEveryMs, removeExpired, { log, failure, startsNow: true }));
  const writer = stack.use(new PostWriter({ database, folder, clock, events, deleted, onWritten }));
  const pages = stack.use(new PageThreads({ database, folder }));
  const health = createHealth(database, log);
  const handlers = createHandlers({
    ...opened,
    clock,
    writer,
    deleted,
    pages,
    health,
    checks: checksOf(opened),
  });
  queriedGauges(context.metrics, { posts_stored: 'Posts that are not deleted.' }, async () => {
    return { posts_stored: await countPosts(opened.database, undefined) };
  });
  // On its own, as NATS may not answer.
  queriedGauges(
    context.metrics,
    { posts_jobs_failed: 'Jobs that failed for good, at most 100.' },
    async () => {
      return { posts_jobs_failed: (await opened.queue?.dead(countedJobsMax))?.length ?? 0 };
    },
  );
  if (config.POSTS_WORKER) startWork(parts, opened);
  return { url: await listen(parts, handlers, { ...opened, health }), handlers };
}

async function buildWorker(parts: ServiceParts<typeof workerSettings>) {
  const { config, context, stack } = parts;
  const opened = await open(parts, async () => stack.use(await openOf(config, context)));
  startWork(parts, opened);
  const health = createHealth(opened.database, context.log);
  const server = stack.use(
    await createHttpServer({
      name: 'posts-worker',
      context,
      title: 'Worker of the post backend',
      description: 'Serves probes and metrics. It takes its work from the queue.',
      checks: { database: () => health.run() },
      optionalChecks: checksOf(opened),
    }),
  );
  return { url: context.port === undefined ? undefined : await server.listen() };
}

async function open(
  { config, context, stack }: Pick<ServiceParts<typeof workerSettings>, 'config' | 'context' | 'stack'>,
  openDatabase: () => Promise<Database<Tables>>,
): Promise<Opened> {
  const classifier = openClassifier(config, context);
  if (classifier) stack.use(classifier);
  const database = await openDatabase();
  const { queue, events } = stack.use(await openBrokers(config, context, database));
  return { database, classifier, queue, events };
}

/** Starts the background work: publishing events, classifying new posts, reanalyses. */
function startWork(
  { config, context, stack }: Pick<ServiceParts<typeof workerSettings>, 'config' | 'context' | 'stack'>,
  opened: Opened,
): void {
  const { classifier, queue, events } = opened;
  const parts = { ...context, ...opened, leaseMs: config.JOB_LEASE_MS };
  if (events) stack.use(events.publish());
  if (events && classifier) stack.use(startEnrichment({ ...parts, classifier, events }));
  if (queue) stack.use(startReanalyses({ ...parts, queue }));
}

/** Checks, one for each integration that is on, by its name in the status report. */
function checksOf({ classifier, queue, events }: Opened): Record<string, Check> {
  return {
    ...(classifier && { inferenceServer: (signal) => classifier.ping(signal) }),
    ...(queue && { messageBroker: (signal) => queue.ping(signal) }),
    ...(events && { eventStream: (signal) => events.ping(signal) }),
  };
}

/** Over RPC if it has a port of its own; the handlers are called directly otherwise. */
async function listen(
  { config, context, stack }: Parts,
  handlers: Handlers<PostServiceDefinition>,
  { health, classifier }: Pick<Opened, 'classifier'> & { readonly health: DatabaseHealth<Tables> },
): Promise<string | undefined> {
  if (context.port === undefined) return undefined;
  const { log, metrics } = context;
  const token = config.RPC_TOKEN;
  const server = stack.use(
    await createHttpServer({
      name: 'posts',
      context,
      title: 'Post backend',
      description:
        'Serves posts.v1.PostService to the other services over the Connect protocol, and the sentiment model over the Open Inference protocol under /v2.',
      checks: { database: () => health.run() },
      limits: { drainMs: 300 },
    }),
  );
  await serveRpc(server.app, PostServiceDefinition, handlers, { log, token, metrics });
  // Only the model that runs here: two processes that pass texts on to each other would never answer.
  if (classifier && config.INFERENCE_URL === undefined) {
    await serveOpenInference(server.app, classifier, { token, log });
  }
  return server.listen();
}

/** The dead jobs of the posts without serving, for the command line. */
export async function openDeadJobs(
  config: WorkerConfig,
  context: ServiceContext,
): Promise<DeadJobs & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openOf(config, context));
  const { queue } = stack.use(await openBrokers(config, context, database));
  if (!queue) throw switchedOff('messageBroker');
  const owned = stack.move();
  const { clock } = context;
  return { ...deadJobs({ database, queue, clock }), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The database of the posts, for processes that do not serve them. */
function openOf(config: WorkerConfig, { dataFolder: folder, log, metrics }: ServiceContext) {
  const {
    DATABASE_URL: url,
    DATABASE_POOLER: pooler,
    DATABASE_DIRECT_URL: directUrl,
    DATABASE_CONNECTIONS: connections,
  } = config;
  return openPostDatabase({ url, pooler, directUrl, connections, folder, log, metrics });
}

/**
 * Checks that the database of the posts can be read and written. It reads the newest post and one at random, which finds
 * damaged pages. It costs the same at a million posts.
 */
function createHealth(database: Database<Tables>, log: Log): DatabaseHealth<Tables> {
  return new DatabaseHealth({ database, log, read: readSome });
}

async function readSome(database: Database<Tables>): Promise<void> {
  const last = await lastPostId(database);
  const ids = [last, Math.ceil(Math.random() * last)];
  await Promise.all(ids.map((upTo) => postUpTo(database, upTo)));
}
