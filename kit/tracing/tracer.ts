import { childTraceparent, createTraceparent, formatTraceparent, parseTraceparent } from '../trace.ts';

/** One step of a trace that is over. */
export interface Span {
  /** 32 and 16 hexadecimal digits, as in W3C Trace Context. */
  readonly traceId: string;
  readonly spanId: string;
  /** Absent where the trace begins here. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** Whether it answered a request, saw to a message, or neither. */
  readonly kind: 'server' | 'consumer' | 'internal';
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
  /** By the names of the OpenTelemetry semantic conventions. */
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** Where spans go. */
export interface Tracer {
  /** Takes a span in no time; what becomes of it is not told. */
  record(span: Span): void;
  /** Throws where spans do not arrive at present. */
  ping(): Promise<void>;
}

/** A step that has begun. */
export interface OpenSpan {
  /** For what it causes: its own where it is traced, else the one that was given. */
  readonly traceparent: string | undefined;
  end(hasFailed: boolean): void;
}

type SpanStart = Pick<Span, 'name' | 'kind' | 'attributes'> & { readonly traceparent: string | undefined };

/** Begins a span of the trace that `traceparent` is of, or of a new one. Without a tracer, or where the trace is not sampled, it is none. */
export function beginSpan(
  tracer: Tracer | undefined,
  { traceparent, name, kind, attributes }: SpanStart,
): OpenSpan {
  const parent = parseTraceparent(traceparent);
  if (!tracer || parent?.sampled === false) return { traceparent, end: () => undefined };
  const { traceId, spanId, ...own } = parent ? childTraceparent(parent) : createTraceparent();
  const startMs = Date.now();
  const startedMs = performance.now();
  return {
    traceparent: formatTraceparent({ traceId, spanId, ...own }),
    end(hasFailed) {
      const endMs = startMs + performance.now() - startedMs;
      const ids = { traceId, spanId, parentSpanId: parent?.spanId };
      tracer.record({ ...ids, name, kind, attributes, startMs, endMs, hasFailed });
    },
  };
}

/** Does work within spans, one or several that it is a step of; they have failed where it throws. */
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
