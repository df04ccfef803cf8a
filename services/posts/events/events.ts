import type { WriteSession } from '@octavo/data';
import { appendEvents, type Expanded } from '@octavo/data/events';
import {
  PostCreated,
  PostDeleted,
  PostRestored,
  PostSentiment,
  PostSentiments,
  PostsCreated,
  PostUpdated,
  ReanalysisRequested,
} from '@octavo/protocols/posts/v1/events';
import type { Tables } from '../database.ts';

/** The types of the events. Their payloads are in packages/protocols/posts/v1/events.proto. */
export const eventTypes = {
  created: 'post.created.v1',
  updated: 'post.updated.v1',
  deleted: 'post.deleted.v1',
  restored: 'post.restored.v1',
  sentiment: 'post.sentiment.v1',
  reanalysisRequested: 'reanalysis.requested.v1',
} as const;

/** Announcement of a change as an event, and the trace that caused it. Absent where events are off. */
export interface Announcement {
  readonly traceparent?: string | undefined;
}

type Writer = WriteSession<Tables>;

/** Posts with consecutive ids, as one row of the outbox: each of a thousand costs a few bytes. */
export async function announceCreated(
  session: Writer,
  options: {
    readonly lastId: number;
    readonly createdAtMs: number;
    readonly userIds: number[];
    /** Announcements, one for all posts or one for each. */
    readonly announcements: readonly Announcement[];
  },
): Promise<void> {
  const { lastId, createdAtMs, userIds, announcements } = options;
  const [{ traceparent } = {}] = announcements;
  const differ = announcements.some((other) => other.traceparent !== traceparent);
  const traceparents = differ ? announcements.map((each) => each.traceparent ?? '') : [];
  const created = { firstId: lastId + 1, createdAtMs, userIds, traceparents };
  await appendEvents(session, {
    type: eventTypes.created,
    data: PostsCreated.encode(created).finish(),
    timeMs: createdAtMs,
    traceparent: differ ? undefined : traceparent,
  });
}

export async function announceUpdated(
  session: Writer,
  { id, userId, updatedAtMs, revision }: PostUpdated,
  { traceparent }: Announcement,
): Promise<void> {
  const data = PostUpdated.encode({ id, userId, updatedAtMs, revision }).finish();
  await appendEvents(session, { type: eventTypes.updated, data, timeMs: updatedAtMs, traceparent });
}

export async function announceDeleted(
  session: Writer,
  { id, userId, deletedAtMs }: PostDeleted,
  { traceparent }: Announcement,
): Promise<void> {
  const data = PostDeleted.encode({ id, userId, deletedAtMs }).finish();
  await appendEvents(session, { type: eventTypes.deleted, data, timeMs: deletedAtMs, traceparent });
}

export async function announceRestored(
  session: Writer,
  { id, userId, restoredAtMs, revision }: PostRestored,
  { traceparent }: Announcement,
): Promise<void> {
  const data = PostRestored.encode({ id, userId, restoredAtMs, revision }).finish();
  await appendEvents(session, { type: eventTypes.restored, data, timeMs: restoredAtMs, traceparent });
}

export async function announceSentiments(
  session: Writer,
  sentiments: PostSentiments,
  timeMs: number,
): Promise<void> {
  const data = PostSentiments.encode(sentiments).finish();
  await appendEvents(session, { type: eventTypes.sentiment, data, timeMs });
}

export async function announceReanalysis(
  session: Writer,
  requested: ReanalysisRequested,
  { traceparent }: Announcement,
): Promise<void> {
  const data = ReanalysisRequested.encode(requested).finish();
  const timeMs = requested.requestedAtMs;
  await appendEvents(session, { type: eventTypes.reanalysisRequested, data, timeMs, traceparent });
}

/** The events of a row of the outbox. */
export function expandEvents(type: string, data: Uint8Array): Expanded[] {
  switch (type) {
    case eventTypes.created:
      return expandCreated(PostsCreated.decode(data));
    case eventTypes.sentiment:
      return expandSentiments(PostSentiments.decode(data));
    case eventTypes.updated:
      return [{ subject: String(PostUpdated.decode(data).id), data }];
    case eventTypes.deleted:
      return [{ subject: String(PostDeleted.decode(data).id), data }];
    case eventTypes.restored:
      return [{ subject: String(PostRestored.decode(data).id), data }];
    default:
      return [{ subject: ReanalysisRequested.decode(data).reanalysisId, data }];
  }
}

function expandCreated({ firstId, createdAtMs, userIds, traceparents }: PostsCreated): Expanded[] {
  return userIds.map((userId, index) => {
    const id = firstId + index;
    const data = PostCreated.encode({ id, userId, createdAtMs, revision: 1 }).finish();
    return { subject: String(id), data, traceparent: traceparents[index] || undefined };
  });
}

function expandSentiments({ sentiments, traceparents }: PostSentiments): Expanded[] {
  return sentiments.map((sentiment, index) => ({
    subject: String(sentiment.postId),
    data: PostSentiment.encode(sentiment).finish(),
    traceparent: traceparents[index] || undefined,
  }));
}
