import {
  type Context,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { Counter, type Registry } from 'prom-client';
import { AppError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { formatTraceparent, parseTraceparent } from '../base/trace.ts';
import type { OpenSpan, SpanStart, Tracer } from './tracer.ts';

export interface OtlpOptions {
  /** Address of a collector, without `/v1/traces`. */
  readonly endpoint: string;
  /** Headers to send, such as an API key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `service.name` of all spans. */
  readonly service: string;
  /** The share of traces that is sent, 0 to 1. The trace id decides, so all services decide alike. */
  readonly ratio: number;
  readonly log: Log;
  readonly metrics: Registry;
}

const spansMax = 4_096;
const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, consumer: SpanKind.CONSUMER };

/**
 * Records spans with OpenTelemetry's SDK, and sends them once a second with OTLP over HTTP in JSON. Import this module only if
 * there is a collector. Spans that the collector does not accept are dropped and counted in `trace_spans_total`.
 */
export class OtlpTracer implements Tracer, AsyncDisposable {
  readonly #exporter: CountingExporter;
  readonly #provider: TracerProvider;
  readonly #tracer: OtelTracer;

  constructor(options: OtlpOptions) {
    const exporter = new CountingExporter(options);
    const processor = new BatchSpanProcessor({
      exporter,
      maxQueueSize: spansMax,
      scheduledDelayMillis: 1_000,
    });
    // The share also applies to traces that a caller started: a caller does not decide how much is sent.
    const sampler = new TraceIdRatioBasedSampler(options.ratio);
    this.#exporter = exporter;
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': options.service }),
      sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
      spanProcessors: [processor],
    });
    this.#tracer = this.#provider.getTracer('octavo');
  }

  begin({ name, kind, attributes, traceparent, startMs }: SpanStart): OpenSpan {
    const about = { kind: kinds[kind], attributes, ...(startMs !== undefined && { startTime: startMs }) };
    const span = this.#tracer.startSpan(name, about, contextOf(traceparent));
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceparent: formatTraceparent({ traceId, spanId, sampled: (traceFlags & TraceFlags.SAMPLED) !== 0 }),
      end: (hasFailed, known) => {
        if (!span.isRecording() || !this.#exporter.takesOneMore()) return;
        if (known) span.updateName(known.name).setAttributes(known.attributes);
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  async ping(): Promise<void> {
    const { problem: cause } = this.#exporter;
    if (cause) throw new AppError('unavailable', 'The trace collector does not respond.', { cause });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A failure of the last batches is already counted and logged.
    await this.#provider.shutdown().catch(() => undefined);
  }
}

function contextOf(traceparent: string | undefined): Context {
  const parent = parseTraceparent(traceparent);
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, sampled } = parent;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** The SDK's exporter with a limit on waiting spans, counts of sent and dropped spans, and whether the collector answers. */
class CountingExporter implements SpanExporter {
  /** Reason why the last batch did not arrive. */
  problem: Error | undefined;
  readonly #exporter: OTLPTraceExporter;
  readonly #outcomes: Counter<'outcome'>;
  readonly #log: Log;
  #waiting = 0;

  constructor({ endpoint, headers = {}, log, metrics }: OtlpOptions) {
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
    this.#exporter = new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: 3_000 });
    this.#outcomes = outcomesIn(metrics);
    this.#log = log.child({ endpoint });
  }

  /** Counts one more waiting span. Returns false if too many wait already; then the span is dropped. */
  takesOneMore(): boolean {
    const hasRoom = this.#waiting < spansMax;
    if (hasRoom) this.#waiting++;
    else this.#outcomes.inc({ outcome: 'dropped' });
    return hasRoom;
  }

  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans, (result) => {
      const problem = result.code === 0 ? undefined : (result.error ?? new Error('the export failed'));
      this.#waiting -= spans.length;
      this.#outcomes.inc({ outcome: problem ? 'dropped' : 'sent' }, spans.length);
      if (problem && !this.problem) this.#log.warn({ err: problem }, 'spans do not reach the collector');
      if (!problem && this.problem) this.#log.info('spans reach the collector again');
      this.problem = problem;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

function outcomesIn(registry: Registry): Counter<'outcome'> {
  const name = 'trace_spans_total';
  const known = registry.getSingleMetric(name) as Counter<'outcome'> | undefined;
  if (known) return known;
  const outcomes = new Counter({
    name,
    help: 'Spans of traces by outcome.',
    labelNames: ['outcome'] as const,
    registers: [registry],
  });
  for (const outcome of ['sent', 'dropped']) outcomes.inc({ outcome }, 0);
  return outcomes;
}
