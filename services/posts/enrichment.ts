import { AppError } from '#kit/errors.ts';
import type { EventStream, StreamEvent } from '#kit/events/index.ts';
import type { Log } from '#kit/log.ts';
import { beginSpan, type OpenSpan, type Tracer, withinSpans } from '#kit/tracing/tracer.ts';
import { eventTypes } from './events.ts';
import { Intake } from './intake.ts';
import type { Post } from './post.ts';
import { classifyPosts, inParts, keepSentiments, type SentimentParts } from './sentiments.ts';
import { type StoredSentiment, unclassified } from './store-sentiments.ts';

interface EnrichmentParts extends SentimentParts {
  readonly events: EventStream;
  readonly log: Log;
  readonly tracer?: Tracer | undefined;
}

const batchMax = 512;
const partMax = 128;

/** Has every new or changed post classified soon after, also those from while nobody did. */
export function startEnrichment(parts: EnrichmentParts): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const intake = new Intake(parts);
  // One consumer a type: a broker can then keep all else from coming here. Which of a post comes first makes no difference.
  for (const type of [eventTypes.created, eventTypes.updated]) {
    const name = `sentiment-${type.split('.')[1]}`;
    const consumer = parts.events.consume({ name, types: [type], batchMax }, (events, signal) =>
      inSpans(parts.tracer, events, async (traced) => {
        await intake.ebb(Math.min(...events.map(({ timeMs }) => timeMs)), signal);
        await enrich(parts, traced, signal);
      }),
    );
    stack.use(consumer);
  }
  return stack;
}

/** While some posts are classified, those before are stored. */
async function enrich(
  parts: EnrichmentParts,
  events: readonly StreamEvent[],
  signal: AbortSignal,
): Promise<void> {
  const traceparents = new Map(events.map(({ subject, traceparent }) => [Number(subject), traceparent]));
  const ids = JSON.stringify([...traceparents.keys()]);
  const posts = await unclassified.all(parts.database, { ids, model: parts.classifier.model });
  let keeping: Promise<void> = Promise.resolve();
  try {
    for (const part of inParts(posts, partMax)) {
      const sentiments = await classifyAll(parts, part, signal);
      await keeping;
      keeping = keepSentiments(parts, sentiments, { traceparents });
      // It is awaited in the next turn, or below.
      keeping.catch(() => {});
    }
  } finally {
    await keeping;
  }
}

/** A text that the model refuses must not keep the others from being classified. */
async function classifyAll(
  parts: EnrichmentParts,
  posts: readonly Post[],
  signal: AbortSignal,
): Promise<StoredSentiment[]> {
  try {
    return await classifyPosts(parts, posts, signal);
  } catch (error) {
    if (signal.aborted || isPassing(error)) throw error;
    if (posts.length > 1) {
      const middle = Math.ceil(posts.length / 2);
      const before = await classifyAll(parts, posts.slice(0, middle), signal);
      return [...before, ...(await classifyAll(parts, posts.slice(middle), signal))];
    }
    parts.log.error({ err: error, postId: posts[0]?.id }, 'a post cannot be classified');
    return [];
  }
}

/** Events of many traces are seen to together: each trace gets a span, which causes what comes of its events. */
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

/** Whether it is worth another attempt. */
function isPassing(error: unknown): boolean {
  return (
    error instanceof AppError && ['unavailable', 'timeout', 'rate_limited', 'canceled'].includes(error.code)
  );
}
