import { Counter, type Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Span, Tracer } from './tracer.ts';

export interface OtlpOptions {
  /** Address of a collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** Sent along, such as a key of the collector's owner. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `service.name` of all spans. */
  readonly service: string;
  /** The share of traces that is sent, 0 to 1; decided by their ids, so that every service decides alike. */
  readonly ratio: number;
  readonly log: Log;
  readonly metrics: Registry;
}

const everyMs = 1_000;
const spansAtOnce = 512;
const spansMax = 4_096;
const timeoutMs = 5_000;

/**
 * Sends spans to a collector by OTLP over HTTP in JSON (https://opentelemetry.io/docs/specs/otlp/), once a second. What it
 * does not take is dropped and counted; requests never wait for it. Disposing it sends what is left.
 */
export class OtlpTracer implements Tracer, AsyncDisposable {
  readonly #options: OtlpOptions;
  readonly #outcomes: Counter<'outcome'>;
  readonly #timer: NodeJS.Timeout;
  #waiting: Span[] = [];
  #sending: Promise<void> | undefined;
  #problem: Error | undefined;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#outcomes = outcomesIn(options.metrics);
    this.#timer = setInterval(() => void this.#flush(), everyMs).unref();
  }

  record(span: Span): void {
    if (Number.parseInt(span.traceId.slice(-8), 16) >= this.#options.ratio * 2 ** 32) return;
    if (this.#waiting.length >= spansMax) this.#outcomes.inc({ outcome: 'dropped' });
    else this.#waiting.push(span);
  }

  async ping(): Promise<void> {
    if (this.#problem) {
      throw new AppError('unavailable', 'The collector of traces does not answer.', { cause: this.#problem });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, spansAtOnce);
      const problem = await this.#send(spans);
      this.#outcomes.inc({ outcome: problem ? 'dropped' : 'sent' }, spans.length);
      this.#tell(problem);
      if (problem) return;
    }
  }

  async #send(spans: readonly Span[]): Promise<Error | undefined> {
    const { endpoint, headers = {}, service } = this.#options;
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(toOtlp(service, spans)),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.arrayBuffer();
      return response.ok ? undefined : new Error(`status ${response.status}`);
    } catch (error) {
      return error as Error;
    }
  }

  #tell(problem: Error | undefined): void {
    const { log, endpoint } = this.#options;
    if (problem && !this.#problem) log.warn({ err: problem, endpoint }, 'spans do not reach the collector');
    if (!problem && this.#problem) log.info({ endpoint }, 'spans reach the collector again');
    this.#problem = problem;
  }
}

const kinds = { internal: 1, server: 2, consumer: 5 };

function toOtlp(service: string, spans: readonly Span[]) {
  const resource = { attributes: attributesOf({ 'service.name': service }) };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'octavo' }, spans: spans.map(toSpan) }] }],
  };
}

function toSpan({ traceId, spanId, parentSpanId, name, kind, ...rest }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanoseconds(rest.startMs),
    endTimeUnixNano: nanoseconds(rest.endMs),
    attributes: attributesOf(rest.attributes),
    status: rest.hasFailed ? { code: 2 } : {},
  };
}

function attributesOf(attributes: Span['attributes']) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(Math.round(value)) } : { stringValue: value },
  }));
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function outcomesIn(registry: Registry): Counter<'outcome'> {
  const name = 'trace_spans_total';
  const known = registry.getSingleMetric(name) as Counter<'outcome'> | undefined;
  if (known) return known;
  const outcomes = new Counter({
    name,
    help: 'Spans of traces, by whether the collector took them.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  for (const outcome of ['sent', 'dropped']) outcomes.inc({ outcome }, 0);
  return outcomes;
}
