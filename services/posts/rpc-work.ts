import { notFound } from '#kit/errors.ts';
import type { Handlers } from '#kit/rpc/index.ts';
import { type PostServiceDefinition, type Reanalysis, ReanalysisStatus } from '#proto/posts/v1/posts.ts';
import type { Classifier } from './classifier.ts';
import type { Posts } from './posts.ts';
import type { Reanalyses } from './reanalyses.ts';
import { switchedOff } from './rpc-integrations.ts';
import { toWire } from './sentiment-message.ts';
import type { ReanalysisRow } from './tables.ts';

export interface WorkHandlerParts {
  readonly posts: Posts;
  /** Absent where the broker is switched off. */
  readonly reanalyses: Reanalyses | undefined;
  /** Absent where it is switched off. */
  readonly classifier: Classifier | undefined;
}

type WorkHandlers = Pick<
  Handlers<PostServiceDefinition>,
  'requestReanalysis' | 'getReanalysis' | 'listReanalyses' | 'cancelReanalysis' | 'getPostSentiment'
>;

/** Serves what of posts.v1 is done behind the requests. */
export function createWorkHandlers(parts: WorkHandlerParts): WorkHandlers {
  const { posts, classifier } = parts;
  const reanalyses = () => {
    if (!parts.reanalyses) throw switchedOff('messageBroker');
    return parts.reanalyses;
  };
  return {
    requestReanalysis: async (_request, { traceparent }) => ({
      reanalysis: toReanalysis(await reanalyses().request(traceparent)),
    }),

    getReanalysis: async ({ id }) => ({ reanalysis: toReanalysis(await reanalyses().get(id)) }),

    listReanalyses: async ({ limit }) => ({
      reanalyses: (await reanalyses().latest(Math.max(1, Math.min(limit, 100)))).map(toReanalysis),
    }),

    cancelReanalysis: async ({ id }) => ({ reanalysis: toReanalysis(await reanalyses().cancel(id)) }),

    getPostSentiment: async ({ id }) => {
      if (!classifier) throw switchedOff('inferenceServer');
      const sentiment = await posts.sentiment(id);
      if (!sentiment) throw notFound('sentiment of post', id);
      const { model, classifiedAtMs } = sentiment;
      return { classification: toWire(sentiment, model), classifiedAtMs };
    },
  };
}

function toReanalysis(row: ReanalysisRow): Reanalysis {
  return {
    id: row.id,
    status: statuses[row.status],
    progress: row.progress,
    createdAtMs: row.created_at_ms,
    startedAtMs: row.started_at_ms ?? undefined,
    finishedAtMs: row.finished_at_ms ?? undefined,
    report:
      row.status === 'succeeded'
        ? {
            posts: row.posts ?? 0,
            statisticsRepaired: row.repaired === 1,
            classified: row.classified,
            labelsChanged: row.labels_changed,
          }
        : undefined,
    error: row.error ?? undefined,
  };
}

const statuses = {
  queued: ReanalysisStatus.REANALYSIS_STATUS_QUEUED,
  running: ReanalysisStatus.REANALYSIS_STATUS_RUNNING,
  succeeded: ReanalysisStatus.REANALYSIS_STATUS_SUCCEEDED,
  failed: ReanalysisStatus.REANALYSIS_STATUS_FAILED,
  canceled: ReanalysisStatus.REANALYSIS_STATUS_CANCELED,
} as const;
