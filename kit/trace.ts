import { randomUUID } from 'node:crypto';

/** One span of a trace, as W3C Trace Context passes it on (https://www.w3.org/TR/trace-context/). */
export interface Traceparent {
  /** 32 hexadecimal digits, the same for all that one request causes. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the span itself, which its children call their parent. */
  readonly spanId: string;
  /** Whether the caller may have recorded the trace. */
  readonly sampled: boolean;
}

/** Reads a `traceparent` header; `undefined` where it is absent or not valid, and a new trace is to be started. */
export function parseTraceparent(header: string | undefined): Traceparent | undefined {
  const [, version, traceId, spanId, flags, rest] = header?.match(pattern) ?? [];
  if (!version || !traceId || !spanId || !flags || version === 'ff') return undefined;
  if (version === '00' && rest) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Starts a trace. */
export function createTraceparent(): Traceparent {
  return { traceId: randomUUID().replaceAll('-', ''), spanId: newSpanId(), sampled: true };
}

/** A new span within the trace of `parent`. */
export function childTraceparent(parent: Traceparent): Traceparent {
  return { traceId: parent.traceId, spanId: newSpanId(), sampled: parent.sampled };
}

/** The header for what this span causes elsewhere. */
export function formatTraceparent({ traceId, spanId, sampled }: Traceparent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The parts of a UUID that are random throughout: its version digit is left out, and its variant digits are last. */
function newSpanId(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(24, 28)}`;
}
