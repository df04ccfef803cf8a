import type { Registry } from 'prom-client';
import { type Config, refuse, type Settings, text } from '../config.ts';
import type { Log } from '../log.ts';
import type { Tracer } from './tracer.ts';

/** The settings for sending traces, with the names of the OpenTelemetry specification. All services of a process share them. */
export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: text({
    help: 'Collector of traces by OTLP over HTTP, without /v1/traces, such as http://127.0.0.1:4318',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: text({
    secret: true,
    help: 'What is sent along to it: name=value, several with commas between, values percent-encoded',
  }),
  OTEL_TRACES_SAMPLER_ARG: text({ default: '1', help: 'Share of the traces that are sent, 0 to 1' }),
} satisfies Settings;

/**
 * The tracer of a service, with `service` as its name in spans. Undefined without an endpoint; then nothing of OpenTelemetry is
 * loaded. Disposing it sends the remaining spans. Throws like `readConfig` for invalid settings.
 */
export async function openTracer(
  config: Config<typeof tracingSettings>,
  context: { readonly service: string; readonly log: Log; readonly metrics: Registry },
): Promise<(Tracer & AsyncDisposable) | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = config;
  const ratio = Number(config.OTEL_TRACES_SAMPLER_ARG);
  if (!(ratio >= 0 && ratio <= 1)) refuse({ OTEL_TRACES_SAMPLER_ARG: 'must be a number from 0 to 1' });
  if (endpoint === undefined) return undefined;
  if (!/^https?:/.test(URL.parse(endpoint)?.protocol ?? '')) {
    refuse({ OTEL_EXPORTER_OTLP_ENDPOINT: 'must be an address with http or https' });
  }
  const { OtlpTracer } = await import('./otlp.ts');
  return new OtlpTracer({ endpoint, headers: readHeaders(headers), ratio, ...context });
}

function readHeaders(list: string): Record<string, string> {
  const pairs = list.split(',').filter((pair) => pair.trim() !== '');
  const entries = pairs.map((pair) => /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair)?.slice(1) ?? []);
  try {
    return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value ?? '')]));
  } catch {
    return refuse({ OTEL_EXPORTER_OTLP_HEADERS: 'must be name=value, several with commas between' }) as never;
  }
}
