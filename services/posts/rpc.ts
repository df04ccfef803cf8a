import type { Clock } from '@octavo/core';
import { notFound, productVersion } from '@octavo/core';
import { type Database, type DatabaseHealth, engineOf, type Session } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import type { JobQueue } from '@octavo/data/jobs';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import {
  type NewPost as NewWirePost,
  type PostServiceDefinition,
  PostSort,
  ReanalysisStatus,
  type PostFilter as WireFilter,
  type Post as WirePost,
  type Reanalysis as WireReanalysis,
} from '@octavo/protocols/posts/v1/posts';
import type { Handlers } from '@octavo/rpc';
import type { Tables } from './database.ts';
import { type Check, checkAll, switchedOff } from './integrations.ts';
import {
  type DeletedPosts,
  findPost,
  type NewPost,
  type Post,
  type PostWriter,
  refuse,
} from './posts/index.ts';
import {
  cancelReanalysis,
  getReanalysis,
  listReanalyses,
  type Reanalysis,
  requestReanalysis,
} from './reanalysis/index.ts';
import { exportPosts, type PageRequest, type PageThreads, readFilter, readSlice } from './search/index.ts';
import {
  type Classifier,
  checkText,
  findSentiment,
  labelsOf,
  toWireClassification,
  wireLabels,
} from './sentiment/index.ts';
import { countByDay, readAnalytics } from './statistics/index.ts';

export interface HandlerParts {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly writer: PostWriter;
  readonly deleted: DeletedPosts;
  readonly pages: PageThreads;
  /** Absent where inference is off. */
  readonly classifier: Classifier | undefined;
  /** Absent where the message broker is off. */
  readonly queue: JobQueue | undefined;
  /** Absent where the event stream is off. */
  readonly events: EventStream | undefined;
  readonly health: DatabaseHealth<Tables>;
  /** Checks, one for each integration that is on, by its name in the status report. */
  readonly checks: Readonly<Record<string, Check>>;
}

type PostHandlers = Handlers<PostServiceDefinition>;

const exportBatchRows = 150;

const orders: Readonly<Record<number, PageRequest['order']>> = {
  [PostSort.POST_SORT_TITLE]: 'title',
  // A post is never older than one with a lower id.
  [PostSort.POST_SORT_CREATED_AT]: 'id',
  [PostSort.POST_SORT_UPDATED_AT]: 'updated',
};

/** Serves posts.v1. */
export function createHandlers(parts: HandlerParts): PostHandlers {
  return {
    ...writeHandlers(parts),
    ...readHandlers(parts),
    ...sentimentHandlers(parts),
    ...reanalysisHandlers(parts),
    ping: async () => {
      await parts.health.run();
      return {};
    },
    getInfo: async () => ({ version: productVersion(), database: await engineOf(parts.database) }),
    checkIntegrations: async (_request, { signal }) => ({
      integrations: await checkAll(parts.checks, signal),
    }),
  };
}

function writeHandlers({
  writer,
}: HandlerParts): Pick<
  PostHandlers,
  'createPost' | 'updatePost' | 'deletePost' | 'restorePost' | 'bulkCreatePosts'
> {
  return {
    createPost: async ({ post, idempotency }, call) => {
      const given = toNewPost(post);
      if (!idempotency) return { post: toWire(await writer.create(given, call)), replayed: false };
      const created = await writer.createOnce(given, idempotency, call);
      return { post: toWire(created.post), replayed: created.replayed };
    },

    updatePost: async ({ id, title, body, ifRevisions: allowedRevisions }, call) => ({
      post: toWire(await writer.update({ id, allowedRevisions }, { title, body }, call)),
    }),

    deletePost: async ({ id, ifRevisions: allowedRevisions }, call) => {
      await writer.remove({ id, allowedRevisions }, call);
      return {};
    },

    restorePost: async ({ id }, call) => ({ post: toWire(await writer.restore(id, call)) }),

    bulkCreatePosts: async ({ posts, errors, idempotencyKey, digest }, call) => {
      const idempotency = idempotencyKey === '' ? undefined : { key: idempotencyKey, digest };
      const outcome = await writer.createMany({ posts, errors, idempotency }, call);
      return { ids: [...outcome.ids], replayed: outcome.replayed, errors: [...outcome.errors] };
    },
  };
}

function readHandlers({
  database,
  pages,
  classifier,
  deleted,
  clock,
}: HandlerParts): Pick<
  PostHandlers,
  'getPost' | 'listPosts' | 'listDeletedPosts' | 'exportPosts' | 'getAnalytics' | 'countPostsByDay'
> {
  const usable = (filter: WireFilter) => {
    if (filter.sentiment && !classifier) throw switchedOff('inferenceServer');
    return readFilter(filter);
  };
  return {
    getPost: async ({ id }) => {
      const post = await findPost(database, id);
      if (!post) throw notFound('post', id);
      return { post: toWire(post) };
    },

    listPosts: async ({ filter = {}, sort, descending, page, pageSize }) => {
      const order = orders[sort] ?? 'id';
      const slice = readSlice(page, pageSize);
      const { posts, total } = await pages.read({ ...usable(filter), order, descending, ...slice });
      return { posts: posts.map(toWire), total };
    },

    listDeletedPosts: async ({ page, pageSize }) => {
      const slice = readSlice(page, pageSize);
      const read = (session: Session<Tables>) => deleted.list(session, { ...slice, nowMs: clock.now() });
      const { posts, total } = await database.read(read);
      const found = posts.map(({ deletedAtMs, keptUntilMs, ...post }) => ({
        post: toWire(post),
        deletedAtMs,
        keptUntilMs,
      }));
      return { posts: found, total };
    },

    exportPosts: async function* ({ filter = {} }, { signal }) {
      const options = { batchRows: exportBatchRows, signal };
      for await (const batch of exportPosts(database, usable(filter), options)) {
        yield { posts: batch.map(toWire) };
      }
    },

    getAnalytics: async () => {
      const analytics = await database.read(readAnalytics);
      return {
        ...analytics,
        topCharacters: [...analytics.topCharacters],
        postsPerUser: new Map(analytics.postsPerUser),
        postsPerHour: [...analytics.postsPerHour],
      };
    },

    countPostsByDay: async ({ days }) => ({ days: await countByDay(database, { days, nowMs: clock.now() }) }),
  };
}

function sentimentHandlers({
  database,
  classifier,
}: HandlerParts): Pick<PostHandlers, 'classifyText' | 'getPostSentiment' | 'getSentimentLabels'> {
  return {
    classifyText: async ({ text }, { signal }) => {
      if (!classifier) throw switchedOff('inferenceServer');
      checkText(text);
      const [classification] = await classifier.classify([text], signal);
      if (!classification) throw new Error('the classifier gave no classification for a text');
      return { classification: toWireClassification(classification, classifier.model) };
    },

    getPostSentiment: async ({ id }) => {
      if (!classifier) throw switchedOff('inferenceServer');
      const sentiment = await findSentiment(database, id);
      if (!sentiment) throw notFound('sentiment of post', id);
      const { model, classifiedAtMs } = sentiment;
      return { classification: toWireClassification(sentiment, model), classifiedAtMs };
    },

    getSentimentLabels: async ({ ids }) => {
      if (!classifier) throw switchedOff('inferenceServer');
      if (ids.length > postLimits.pageSize) refuse({ ids: `must be at most ${postLimits.pageSize}` });
      const found = await labelsOf(database, ids);
      return { labels: new Map(found.map(({ postId, label }) => [postId, wireLabels[label]])) };
    },
  };
}

function reanalysisHandlers(
  parts: HandlerParts,
): Pick<PostHandlers, 'requestReanalysis' | 'getReanalysis' | 'listReanalyses' | 'cancelReanalysis'> {
  const { database } = parts;
  const queue = (): JobQueue => {
    if (!parts.queue) throw switchedOff('messageBroker');
    return parts.queue;
  };
  return {
    requestReanalysis: async (_request, call) => ({
      reanalysis: toWireReanalysis(await requestReanalysis({ ...parts, queue: queue() }, call)),
    }),

    getReanalysis: async ({ id }) => {
      queue();
      return { reanalysis: toWireReanalysis(await getReanalysis(database, id)) };
    },

    listReanalyses: async ({ limit }) => {
      queue();
      const rows = Math.max(1, Math.min(limit, postLimits.reanalyses));
      return { reanalyses: (await listReanalyses(database, rows)).map(toWireReanalysis) };
    },

    cancelReanalysis: async ({ id }, call) => {
      queue();
      return { reanalysis: toWireReanalysis(await cancelReanalysis(parts, id, call)) };
    },
  };
}

/** A post that is absent is refused like one without values. */
function toNewPost(post: NewWirePost | undefined): NewPost {
  return post ?? { userId: 0, title: '', body: '' };
}

/** The two shapes are the same, and this compiles only as long as they are. */
function toWire(post: Post): WirePost {
  return post;
}

function toWireReanalysis(reanalysis: Reanalysis): WireReanalysis {
  const { id, status, progress, createdAtMs, startedAtMs, finishedAtMs, error } = reanalysis;
  return {
    id,
    status: statuses[status],
    progress,
    createdAtMs,
    startedAtMs: startedAtMs ?? undefined,
    finishedAtMs: finishedAtMs ?? undefined,
    report:
      status === 'succeeded'
        ? {
            posts: reanalysis.posts ?? 0,
            statisticsRepaired: reanalysis.repaired === 1,
            classified: reanalysis.classified,
            labelsChanged: reanalysis.labelsChanged,
          }
        : undefined,
    error: error ?? undefined,
  };
}

const statuses = {
  queued: ReanalysisStatus.REANALYSIS_STATUS_QUEUED,
  running: ReanalysisStatus.REANALYSIS_STATUS_RUNNING,
  succeeded: ReanalysisStatus.REANALYSIS_STATUS_SUCCEEDED,
  failed: ReanalysisStatus.REANALYSIS_STATUS_FAILED,
  canceled: ReanalysisStatus.REANALYSIS_STATUS_CANCELED,
} as const;
