import type { Registry } from 'prom-client';
import { type Config, refuse, type Settings, text } from '../base/config.ts';
import type { Log } from '../base/log.ts';
import type { Tracer } from './tracer.ts';

/** The settings for sending traces, with the names of the OpenTelemetry specification. All services of a process share them. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: text({
    help: 'OTLP collector for traces, over HTTP and without /v1/traces, such as http://127.0.0.1:4318',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: text({
    secret: true,
    help: 'Headers for it: name=value pairs separated by commas, with percent-encoded values',
  }),
  OTEL_TRACES_SAMPLER_ARG: text({ default: '1', help: 'Share of traces to send, 0 to 1' }),
} satisfies Settings;

/**
 * The tracer of a service, with `service` as its name in spans. Undefined without an endpoint; then nothing of OpenTelemetry is
 * loaded. Disposing it sends the remaining spans. Throws like {@link checkTracing}.
 */
export async function openTracer(
  config: Config<typeof tracingSettings>,
  context: { readonly service: string; readonly log: Log; readonly metrics: Registry },
): Promise<(Tracer & AsyncDisposable) | undefined> {
  checkTracing(config);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = config;
  if (endpoint === undefined) return undefined;
  const { OtlpTracer } = await import('./otlp.ts');
  const ratio = Number(config.OTEL_TRACES_SAMPLER_ARG);
  return new OtlpTracer({ endpoint, headers: readHeaders(headers) ?? {}, ratio, ...context });
}

/** Refuses settings with which no traces could be sent. */
export function checkTracing(config: Config<typeof tracingSettings>): void {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = config;
  const ratio = Number(config.OTEL_TRACES_SAMPLER_ARG);
  const isNoAddress = endpoint !== undefined && !/^https?:/.test(URL.parse(endpoint)?.protocol ?? '');
  const isNoList = endpoint !== undefined && readHeaders(headers) === undefined;
  refuse({
    ...(!(ratio >= 0 && ratio <= 1) && { OTEL_TRACES_SAMPLER_ARG: 'must be a number from 0 to 1' }),
    ...(isNoAddress && { OTEL_EXPORTER_OTLP_ENDPOINT: 'must be an http or https address' }),
    ...(isNoList && { OTEL_EXPORTER_OTLP_HEADERS: 'must be name=value pairs separated by commas' }),
  });
}

function readHeaders(list: string): Record<string, string> | undefined {
  const pairs = list.split(',').filter((pair) => pair.trim() !== '');
  const entries = pairs.map((pair) => /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair)?.slice(1));
  try {
    return Object.fromEntries(
      entries.map((entry) => {
        const [name = '', value = ''] = entry as string[];
        return [name, decodeURIComponent(value)];
      }),
    );
  } catch {
    return undefined;
  }
}
