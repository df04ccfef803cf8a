/** Spans of traces. OpenTelemetry is loaded only where there is a collector. */
export { checkTracing, openTracer, tracingSettings } from './tracing/open.ts';
export { beginSpan, type OpenSpan, type Tracer, withinSpans } from './tracing/tracer.ts';
