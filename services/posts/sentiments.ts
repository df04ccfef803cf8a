import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import type { EventStream } from '#kit/events/index.ts';
import type { Classifier } from './classifier.ts';
import { announceSentiments } from './events.ts';
import type { Post } from './post.ts';
import { toWire } from './sentiment-message.ts';
import { writeLock } from './store.ts';
import { type SentimentChanges, type StoredSentiment, storeSentiments } from './store-sentiments.ts';
import type { Tables } from './tables.ts';

export interface SentimentParts {
  readonly database: Database<Tables>;
  readonly classifier: Classifier;
  /** Absent where changes are not told. */
  readonly events: EventStream | undefined;
  readonly clock: Clock;
}

/** The texts of these posts are read at the same moment: as many characters as a thread classifies in half a second. */
const charactersAtOnce = 200_000;

/** What is scored of a post. */
export function textOf({ title, body }: Post): string {
  return `${title}\n${body}`;
}

/** Classifies posts, to be stored. */
export async function classifyPosts(
  { classifier, clock }: Pick<SentimentParts, 'classifier' | 'clock'>,
  posts: readonly Post[],
  signal: AbortSignal,
): Promise<StoredSentiment[]> {
  const classified = await classifier.classify(posts.map(textOf), signal);
  const classifiedAtMs = clock.now();
  return posts.map(({ id, revision }, index) => {
    const classification = classified[index];
    if (!classification) throw new Error('the classifier gave less than it was given');
    return { postId: id, revision, ...classification, model: classifier.model, classifiedAtMs };
  });
}

/**
 * Stores how posts were classified, with an event for each that is another than before. `within` runs in the same
 * transaction; where it throws, nothing is stored.
 */
export async function keepSentiments(
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
    const changes = await storeSentiments(session, sentiments);
    await within?.(session, changes);
    if (events && changes.changed.length > 0) {
      await announceSentiments(session, toMessage(changes.changed, traceparents), clock.now());
    }
  });
  events?.notify();
}

/** Posts in parts that are not too much at once. */
export function* inParts(posts: readonly Post[], postsMax: number): Generator<Post[]> {
  let part: Post[] = [];
  let characters = 0;
  for (const post of posts) {
    part.push(post);
    characters += post.title.length + post.body.length;
    if (part.length < postsMax && characters < charactersAtOnce) continue;
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
      classification: toWire(classification, model),
      classifiedAtMs,
    })),
    traceparents: sentiments.map(({ postId }) => traceparents.get(postId) ?? ''),
  };
}
