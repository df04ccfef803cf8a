import type { Clock } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import { SentimentLabel, type Classification as WireClassification } from '@octavo/protocols/posts/v1/posts';
import { type Tables, writeLock } from '../database.ts';
import { announceSentiments } from '../events/index.ts';
import type { Post } from '../posts/index.ts';
import type { Classification, Classifier } from './classifier.ts';
import { type SentimentChanges, type StoredSentiment, writeSentiments } from './store.ts';

export interface SentimentParts {
  readonly database: Database<Tables>;
  readonly classifier: Classifier;
  /** Absent where events are off. */
  readonly events: EventStream | undefined;
  readonly clock: Clock;
}

/** Characters that a thread classifies in half a second. */
const partCharactersMax = 200_000;

/** The text of a post that is classified. */
function textOf({ title, body }: Post): string {
  return `${title}\n${body}`;
}

/** Classifies posts, in their order. */
export async function classifyPosts(
  { classifier, clock }: Pick<SentimentParts, 'classifier' | 'clock'>,
  posts: readonly Post[],
  signal: AbortSignal,
): Promise<StoredSentiment[]> {
  const classified = await classifier.classify(posts.map(textOf), signal);
  const classifiedAtMs = clock.now();
  return posts.map(({ id, revision }, index) => {
    const classification = classified[index];
    if (!classification) throw new Error('the classifier gave too few classifications');
    return { postId: id, revision, ...classification, model: classifier.model, classifiedAtMs };
  });
}

/**
 * Stores how posts were classified, with an event for each change. `within` runs in the same transaction; if it throws,
 * nothing is stored.
 */
export async function storeSentiments(
  { database, events, clock }: Pick<SentimentParts, 'database' | 'events' | 'clock'>,
  sentiments: readonly StoredSentiment[],
  options: {
    readonly traceparents: ReadonlyMap<number, string | undefined>;
    readonly within?: (session: WriteSession<Tables>, changes: SentimentChanges) => Promise<void>;
  },
): Promise<void> {
  const { traceparents, within } = options;
  await database.write(async (session) => {
    await session.lock(writeLock);
    const changes = await writeSentiments(session, sentiments);
    await within?.(session, changes);
    if (events && changes.changed.length > 0) {
      await announceSentiments(session, toMessage(changes.changed, traceparents), clock.now());
    }
  });
  events?.notify();
}

/** Posts in parts of a bounded number and a bounded length. */
export function* inParts(posts: readonly Post[], postsMax: number): Generator<Post[]> {
  let part: Post[] = [];
  let characters = 0;
  for (const post of posts) {
    part.push(post);
    characters += post.title.length + post.body.length;
    if (part.length < postsMax && characters < partCharactersMax) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}

function toMessage(
  sentiments: readonly StoredSentiment[],
  traceparents: ReadonlyMap<number, string | undefined>,
) {
  return {
    sentiments: sentiments.map(({ postId, revision, model, classifiedAtMs, ...classification }) => ({
      postId,
      revision,
      classification: toWireClassification(classification, model),
      classifiedAtMs,
    })),
    traceparents: sentiments.map(({ postId }) => traceparents.get(postId) ?? ''),
  };
}

/** A classification as a message, with the model that made it. */
export function toWireClassification(
  { label, probabilities }: Classification,
  model: string,
): WireClassification {
  const { negative, neutral, positive } = probabilities;
  return { label: wireLabels[label], negative, neutral, positive, model };
}

/** Labels as messages name them. */
export const wireLabels = {
  negative: SentimentLabel.SENTIMENT_LABEL_NEGATIVE,
  neutral: SentimentLabel.SENTIMENT_LABEL_NEUTRAL,
  positive: SentimentLabel.SENTIMENT_LABEL_POSITIVE,
};
