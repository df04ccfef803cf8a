import { parseTraceparent } from '../trace.ts';

/** What a span tells about its step, by the names of the OpenTelemetry semantic conventions. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A step of a trace that begins. */
export interface SpanStart {
  readonly name: string;
  /** Whether the step answers a request, handles a message, or neither. */
  readonly kind: 'server' | 'consumer' | 'internal';
  readonly attributes: SpanAttributes;
  /** The W3C `traceparent` of what caused the step; without a valid one, a trace begins here. */
  readonly traceparent: string | undefined;
  /** Milliseconds since the Unix epoch; now, if absent. */
  readonly startMs?: number;
}

/** A step that has begun. */
export interface OpenSpan {
  /** For what the step causes: its own `traceparent` where it is traced, else the one that was given. */
  readonly traceparent: string | undefined;
  /** Ends the step, once. `known` is what is known only now: its final name and further attributes. */
  end(hasFailed: boolean, known?: { readonly name: string; readonly attributes: SpanAttributes }): void;
}

/** Records the steps of traces, without waiting for whoever collects them. */
export interface Tracer {
  begin(start: SpanStart): OpenSpan;
  /** Throws `unavailable` where spans do not reach the collector at present. */
  ping(): Promise<void>;
}

/** Begins a span. Without a tracer, or where the trace is not sampled, nothing is recorded and the caller's trace goes on. */
export function beginSpan(tracer: Tracer | undefined, start: SpanStart): OpenSpan {
  const { traceparent } = start;
  if (tracer && parseTraceparent(traceparent)?.sampled !== false) return tracer.begin(start);
  return { traceparent, end: () => undefined };
}

/** Does work within spans, one or several that it is a step of. They have failed if it throws. */
export async function withinSpans<T>(spans: Iterable<OpenSpan>, work: () => Promise<T>): Promise<T> {
  let hasFailed = true;
  try {
    const result = await work();
    hasFailed = false;
    return result;
  } finally {
    for (const span of spans) span.end(hasFailed);
  }
}
