import { randomUUID } from 'node:crypto';

/** One span of a trace, as in W3C Trace Context (https://www.w3.org/TR/trace-context/). */
export interface Traceparent {
  /** 32 hexadecimal digits, the same for everything that one request causes. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the id of this span, which its children call their parent. */
  readonly spanId: string;
  /** True if the caller may have recorded the trace. */
  readonly sampled: boolean;
}

/** Parses a `traceparent` header; `undefined` if it is absent or invalid, and a new trace must be started. */
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

/** A new span in the trace of `parent`. */
export function childTraceparent(parent: Traceparent): Traceparent {
  return { traceId: parent.traceId, spanId: newSpanId(), sampled: parent.sampled };
}

/** The header to send with calls that this span makes. */
export function formatTraceparent({ traceId, spanId, sampled }: Traceparent): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

const pattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The fully random parts of a UUID: without its version digit, and with its variant digits last. */
function newSpanId(): string {
  const uuid = randomUUID();
  return `${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(24, 28)}`;
}
