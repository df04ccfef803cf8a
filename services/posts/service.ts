import { type Config, flag, type Settings, text } from '#kit/config.ts';
import { type Database, type DatabaseOptions, openDatabase } from '#kit/db/index.ts';
import { createHttpServer } from '#kit/http/server.ts';
import { type Handlers, requireTokenOffLoopback, serveRpc } from '#kit/rpc/index.ts';
import type { Running, Service, ServiceContext } from '#kit/service.ts';
import { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { serveOpenInference } from './api-open-inference.ts';
import { type Brokers, brokerSettings, openBrokers } from './brokers.ts';
import type { Classifier } from './classifier.ts';
import { postDatabase } from './database.ts';
import { inferenceSettings, openClassifier } from './inference.ts';
import { JobDesk } from './job-desk.ts';
import { PageReader } from './page-reader.ts';
import { PostWriter } from './post-writer.ts';
import { Posts } from './posts.ts';
import { Reanalyses } from './reanalyses.ts';
import { createHandlers } from './rpc.ts';
import { type Check, switchedOff } from './rpc-integrations.ts';
import type { Tables } from './tables.ts';
import { startWork } from './work.ts';

const workerSettings = {
  DATABASE_URL: text({ secret: true, help: 'PostgreSQL to keep data in; without it SQLite files' }),
  RPC_TOKEN: text({ secret: true, help: 'Shared secret between the services' }),
  ...inferenceSettings,
  ...brokerSettings,
} satisfies Settings;

const settings = {
  ...workerSettings,
  POSTS_WORKER: flag({
    default: true,
    help: 'Whether this process does what is queued too; off leaves it to posts-worker',
  }),
} satisfies Settings;

type PostsConfig = Config<typeof settings>;

export interface RunningPosts extends Running {
  readonly handlers: Handlers<PostServiceDefinition>;
}

export type { JobDesk } from './job-desk.ts';

/** The posts, their search index and their statistics. */
export const posts: Service<typeof settings, object, RunningPosts> = {
  name: 'posts',
  summary: 'Posts, search and statistics',
  settings,
  database: databaseOptions,
  start,
};

/** What is queued behind the posts, in a process of its own: any number of them, anywhere. */
export const postsWorker: Service<typeof workerSettings> = {
  name: 'posts-worker',
  summary: 'Reanalyses, events and sentiments of the posts',
  settings: workerSettings,
  start: startWorker,
};

async function start(config: PostsConfig, context: ServiceContext): Promise<RunningPosts> {
  await using stack = new AsyncDisposableStack();
  const { clock, dataFolder, log } = context;
  const classifier = stack.use(openClassifier(config, context));
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  const brokers = stack.use(await openBrokers(config, context, database));
  const pages = stack.use(new PageReader({ database, folder: dataFolder, log }));
  const writer = stack.use(new PostWriter({ database, folder: dataFolder }));
  const { queue, events } = brokers;
  const reanalyses = queue && new Reanalyses({ database, queue, events, clock });
  const posts = new Posts({ database, pages, writer, clock, events });
  const checks = checksOf(classifier, brokers);
  const handlers = createHandlers(posts, { classifier, checks, reanalyses });
  if (config.POSTS_WORKER) {
    const leaseMs = config.JOB_LEASE_MS;
    stack.use(startWork({ ...context, database, classifier, queue, events, leaseMs }));
  }
  const url = await listen(stack, { config, context, handlers, database, classifier });
  const owned = stack.move();
  return { url, handlers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function startWorker(config: Config<typeof workerSettings>, context: ServiceContext): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const classifier = stack.use(openClassifier(config, context));
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  const brokers = stack.use(await openBrokers(config, context, database));
  const leaseMs = config.JOB_LEASE_MS;
  stack.use(startWork({ ...context, ...brokers, database, classifier, leaseMs }));
  const server = stack.use(
    await createHttpServer({
      name: 'posts-worker',
      context,
      title: 'Worker of the post backend',
      description: 'Tells how it is; its work it takes from the queue.',
      checks: { database: () => database.ping() },
      optionalChecks: checksOf(classifier, brokers),
    }),
  );
  const url = context.port === undefined ? undefined : await server.listen();
  const owned = stack.move();
  return { ...(url && { url }), [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The dead jobs of the posts, without serving: for the command line. */
export async function openJobDesk(
  config: Config<typeof workerSettings>,
  context: ServiceContext,
): Promise<{ readonly desk: JobDesk } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openDatabase<Tables>(databaseOptions(config, context)));
  const { queue } = stack.use(await openBrokers(config, context, database));
  if (!queue) throw switchedOff('messageBroker');
  const owned = stack.move();
  const desk = new JobDesk({ database, queue, clock: context.clock });
  return { desk, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** For the optional parts that are on. */
function checksOf(classifier: Classifier | undefined, { queue, events }: Brokers): Record<string, Check> {
  return {
    ...(classifier && { inferenceServer: (signal) => classifier.ping(signal) }),
    ...(queue && { messageBroker: (signal) => queue.ping(signal) }),
    ...(events && { eventStream: (signal) => events.ping(signal) }),
  };
}

function databaseOptions(
  config: Config<typeof workerSettings>,
  { dataFolder, log, metrics }: ServiceContext,
): DatabaseOptions {
  return postDatabase({ url: config.DATABASE_URL, folder: dataFolder, log, metrics });
}

async function listen(
  stack: AsyncDisposableStack,
  parts: {
    config: PostsConfig;
    context: ServiceContext;
    handlers: Handlers<PostServiceDefinition>;
    database: Database<Tables>;
    classifier: Classifier | undefined;
  },
): Promise<string | undefined> {
  const { config, context, handlers, database, classifier } = parts;
  if (context.port === undefined) return undefined;
  const { environment, host } = context;
  requireTokenOffLoopback({ tokenSetting: 'RPC_TOKEN', address: host, token: config.RPC_TOKEN, environment });
  const server = stack.use(
    await createHttpServer({
      name: 'posts',
      context,
      title: 'Post backend',
      description:
        'Serves posts.v1.PostService by the Connect protocol to the other services, and the sentiment model by the Open Inference protocol under /v2.',
      checks: { database: () => database.ping() },
      limits: { drainMs: 300 },
    }),
  );
  await serveRpc(server.app, PostServiceDefinition, handlers, {
    log: context.log,
    token: config.RPC_TOKEN,
    metrics: context.metrics,
  });
  // Only what runs here: two processes that pass texts on to each other would never answer.
  if (classifier && config.INFERENCE_URL === undefined) {
    await serveOpenInference(server.app, classifier, { token: config.RPC_TOKEN, log: context.log });
  }
  return server.listen();
}
