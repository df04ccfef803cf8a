import { isoTime, type Static, Type } from '@octavo/core';
import { ReanalysisStatus, type Reanalysis as StoredReanalysis } from '@octavo/protocols/posts/v1/posts';

const status = Type.Enum(['queued', 'running', 'succeeded', 'failed', 'canceled']);

/** A reanalysis that was just requested. */
export const ReanalysisTicket = Type.Object(
  { jobId: Type.String(), status },
  {
    title: 'ReanalysisTicket',
    examples: [{ jobId: '7b9e8f5e-3a55-4a0a-8a57-0c1d2e3f4a5b', status: 'queued' }],
  },
);

const instant = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

const Report = Type.Object({
  posts: Type.Integer({ description: 'Number of counted posts' }),
  statisticsRepaired: Type.Boolean({ description: 'True if the statistics were wrong' }),
  classified: Type.Integer({ description: 'Number of classified posts; 0 if the model is off' }),
  labelsChanged: Type.Integer({ description: 'Number of posts with a new label' }),
});

/** The progress of a reanalysis, and its result. */
export const ReanalysisJob = Type.Object(
  {
    jobId: Type.String(),
    status,
    progress: Type.Number({ description: 'From 0 to 1; 1 only after success' }),
    createdAt: Type.String({ format: 'date-time' }),
    startedAt: instant,
    finishedAt: instant,
    result: Type.Optional(Report),
    error: Type.Optional(Type.String()),
  },
  {
    title: 'ReanalysisJob',
    examples: [
      {
        jobId: '7b9e8f5e-3a55-4a0a-8a57-0c1d2e3f4a5b',
        status: 'succeeded',
        progress: 1,
        createdAt: '2026-01-31T08:15:00.000Z',
        startedAt: '2026-01-31T08:15:00.012Z',
        finishedAt: '2026-01-31T08:15:04.250Z',
        result: { posts: 12_000, statisticsRepaired: false, classified: 12_000, labelsChanged: 3 },
      },
    ],
  },
);
export type ReanalysisJob = Static<typeof ReanalysisJob>;

/** A reanalysis in the API's shape. */
export function toJob(stored: StoredReanalysis | undefined): ReanalysisJob {
  const status = stored && statuses[stored.status];
  if (!status) throw new Error('the posts service sent no reanalysis');
  const { id: jobId, progress, createdAtMs, startedAtMs, finishedAtMs, report, error } = stored;
  return {
    jobId,
    status,
    progress,
    createdAt: isoTime(createdAtMs),
    startedAt: startedAtMs === undefined ? null : isoTime(startedAtMs),
    finishedAt: finishedAtMs === undefined ? null : isoTime(finishedAtMs),
    ...(report && { result: report }),
    ...(error !== undefined && { error }),
  };
}

const statuses: Readonly<Record<number, ReanalysisJob['status']>> = {
  [ReanalysisStatus.REANALYSIS_STATUS_QUEUED]: 'queued',
  [ReanalysisStatus.REANALYSIS_STATUS_RUNNING]: 'running',
  [ReanalysisStatus.REANALYSIS_STATUS_SUCCEEDED]: 'succeeded',
  [ReanalysisStatus.REANALYSIS_STATUS_FAILED]: 'failed',
  [ReanalysisStatus.REANALYSIS_STATUS_CANCELED]: 'canceled',
};
