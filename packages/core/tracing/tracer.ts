import { parseTraceparent } from '../base/trace.ts';

/** Attributes of a span, with the names of the OpenTelemetry semantic conventions. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** A step of a trace that begins. */
export interface SpanStart {
  readonly name: string;
  /** `server` if the step serves a request, `consumer` if it handles a message, else `internal`. */
  readonly kind: 'server' | 'consumer' | 'internal';
  readonly attributes: SpanAttributes;
  /** The W3C `traceparent` of what caused the step. If it is absent or invalid, a new trace begins here. */
  readonly traceparent: string | undefined;
  /** Milliseconds since the Unix epoch; now by default. */
  readonly startMs?: number;
}

/** A step that has begun. */
export interface OpenSpan {
  /** Context for calls that the step makes: its own `traceparent` if it is traced, else the given one. */
  readonly traceparent: string | undefined;
  /** Ends the step, once. `known` holds its final name and attributes that are known only now. */
  end(hasFailed: boolean, known?: { readonly name: string; readonly attributes: SpanAttributes }): void;
}

/** Records the steps of traces, without waiting for the collector. */
export interface Tracer {
  begin(start: SpanStart): OpenSpan;
  /** Throws `unavailable` if spans do not reach the collector at present. */
  ping(): Promise<void>;
}

/** Begins a span. Without a tracer, or if the trace is not sampled, nothing is recorded and the caller's trace is passed on. */
export function beginSpan(tracer: Tracer | undefined, start: SpanStart): OpenSpan {
  const { traceparent } = start;
  if (tracer && parseTraceparent(traceparent)?.sampled !== false) return tracer.begin(start);
  return { traceparent, end: () => undefined };
}

/** Runs work within one or several spans. If it throws, they are marked as failed. */
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
