import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { beginSpan, type OpenSpan, type Tracer, withinSpans } from '@octavo/core/tracing';
import type { EventStream, StreamEvent } from '@octavo/data/events';
import { eventTypes } from '../events/index.ts';
import type { Post } from '../posts/index.ts';
import { Backpressure } from './backpressure.ts';
import { classifyPosts, inParts, type SentimentParts, storeSentiments } from './sentiments.ts';
import { type StoredSentiment, unclassified } from './store.ts';

interface EnrichmentParts extends SentimentParts {
  readonly events: EventStream;
  readonly log: Log;
  readonly tracer?: Tracer | undefined;
}

const batchMax = 512;
const partMax = 128;

/** Classifies every new, changed or restored post soon after, also those from while no worker ran. */
export function startEnrichment(parts: EnrichmentParts): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const backpressure = new Backpressure(parts);
  // One consumer for each type, so that a broker sends nothing else here. Their order makes no difference.
  for (const type of [eventTypes.created, eventTypes.updated, eventTypes.restored]) {
    const name = `sentiment-${type.split('.')[1]}`;
    const consumer = parts.events.consume({ name, types: [type], batchMax }, (events, signal) =>
      inSpans(parts.tracer, events, async (traced) => {
        await backpressure.wait(Math.min(...events.map(({ timeMs }) => timeMs)), signal);
        await enrich(parts, traced, signal);
      }),
    );
    stack.use(consumer);
  }
  return stack;
}

/** Classifies one part while storing the previous one. */
async function enrich(
  parts: EnrichmentParts,
  events: readonly StreamEvent[],
  signal: AbortSignal,
): Promise<void> {
  const traceparents = new Map(events.map(({ subject, traceparent }) => [Number(subject), traceparent]));
  const ids = JSON.stringify([...traceparents.keys()]);
  const posts = await unclassified(parts.database, { ids, model: parts.classifier.model });
  let storing: Promise<void> = Promise.resolve();
  try {
    for (const part of inParts(posts, partMax)) {
      const sentiments = await classifyAll(parts, part, signal);
      await storing;
      storing = storeSentiments(parts, sentiments, { traceparents });
      // It is awaited with the next part, or below.
      storing.catch(() => {});
    }
  } finally {
    await storing;
  }
}

/** A text that the model refuses must not prevent the others from being classified. */
async function classifyAll(
  parts: EnrichmentParts,
  posts: readonly Post[],
  signal: AbortSignal,
): Promise<StoredSentiment[]> {
  try {
    return await classifyPosts(parts, posts, signal);
  } catch (error) {
    if (signal.aborted || isTransient(error)) throw error;
    if (posts.length > 1) {
      const middle = Math.ceil(posts.length / 2);
      const before = await classifyAll(parts, posts.slice(0, middle), signal);
      return [...before, ...(await classifyAll(parts, posts.slice(middle), signal))];
    }
    parts.log.error({ err: error, postId: posts[0]?.id }, 'a post cannot be classified');
    return [];
  }
}

/** Events of many traces are handled together. Each trace gets a span, and what its events cause belongs to it. */
async function inSpans(
  tracer: Tracer | undefined,
  events: readonly StreamEvent[],
  work: (events: readonly StreamEvent[]) => Promise<void>,
): Promise<void> {
  if (!tracer) return work(events);
  const spans = new Map<string | undefined, OpenSpan>();
  const traced = events.map((event) => {
    const { type, traceparent } = event;
    const span =
      spans.get(traceparent) ??
      beginSpan(tracer, { name: `event ${type}`, kind: 'consumer', traceparent, attributes: {} });
    spans.set(traceparent, span);
    return { ...event, traceparent: span.traceparent };
  });
  await withinSpans(spans.values(), () => work(traced));
}

/** Returns true if another attempt may succeed. */
function isTransient(error: unknown): boolean {
  return (
    error instanceof AppError && ['unavailable', 'timeout', 'rate_limited', 'canceled'].includes(error.code)
  );
}
