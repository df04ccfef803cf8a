import type { Log, SuiteSite } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';

/** A metric of a service that tells visitors how much is going on. */
export interface ActivityMetric {
  /** The name of the metric, with the labels that count: `polls_votes_total{outcome="counted"`. */
  readonly metric: string;
  /** A gauge tells how much there is now, a counter how much was added within the last hour. */
  readonly kind: 'gauge' | 'counter';
  /** The noun for one, and for more. */
  readonly nouns: readonly [string, string];
}

/** A gauge that tells how much of a kind waits for the administrators of a service. */
export interface WaitingMetric {
  readonly metric: string;
  /** The noun for one, and for more. */
  readonly nouns: readonly [string, string];
  /** Path of the list that has them. */
  readonly path: string;
}

/** A gauge of servers that a service uses: 1, or 0 if the last request failed, with the labels `kind`, `model`, `context`, `source` and `state`. */
export interface ServersMetric {
  readonly metric: string;
  /** Nouns of the values of `kind`. */
  readonly nouns: Readonly<Record<string, string>>;
  /** Path of the page where servers are connected. */
  readonly path: string;
}

/** A server that a service uses. */
export interface UsedServer {
  readonly text: string;
  readonly isFailing: boolean;
  readonly path: string;
}

/** Metrics of a service that the portal shows. */
export interface ServiceMetrics {
  readonly activity?: readonly ActivityMetric[] | undefined;
  readonly waiting?: readonly WaitingMetric[] | undefined;
  readonly servers?: ServersMetric | undefined;
}

/** Metrics by service. */
export type PortalMetrics = Readonly<Record<string, ServiceMetrics>>;

/** Numbers of a service at one time. Counters begin at 0 when its process starts. */
interface Sample {
  readonly version: string | undefined;
  readonly requests: number;
  readonly errors: number;
  readonly activity: readonly number[];
  readonly waiting: readonly number[];
  readonly servers: readonly UsedServer[];
}

/** Activity of a service as far as it is known. */
export interface Activity {
  readonly version: string | undefined;
  /** Requests of each of the last 60 minutes, the oldest first; shorter if the portal has not run for an hour. */
  readonly requests: readonly number[];
  /** Responses with a status from 500 on, likewise. */
  readonly errors: readonly number[];
  /** A phrase for each metric that is not 0, such as `12 votes in the last hour`. */
  readonly phrases: readonly string[];
  /** Phrases such as `4 open reports`, each with the path of their list. */
  readonly waiting: readonly { readonly text: string; readonly path: string }[];
  /** Servers that it uses, in words for administrators. */
  readonly servers: readonly UsedServer[];
}

const everyMs = 60_000;
const minutesMax = 60;
const timeoutMs = 800;

/** Reads the metrics of all services once a minute and keeps those of the last hour in memory. */
export class ActivityMonitor {
  readonly #sites: () => readonly SuiteSite[];
  readonly #metrics: PortalMetrics;
  readonly #samples = new Map<string, (Sample | undefined)[]>();

  constructor(sites: () => readonly SuiteSite[], metrics: PortalMetrics) {
    this.#sites = sites;
    this.#metrics = metrics;
  }

  /** Goes on until it is disposed of. */
  start(log: Log): AsyncDisposable {
    return runEvery(everyMs, () => this.read(), { log, failure: 'metrics of the services were not read' });
  }

  /** Reads the metrics unless they were read before, so that the first visitor sees numbers too. */
  async readFirst(): Promise<void> {
    if (this.#samples.size === 0) await this.read();
  }

  /** Reads the metrics of every service once. One that does not respond has a gap. */
  async read(): Promise<void> {
    await Promise.all(
      this.#sites().map(async ({ name, url }) => {
        const sample = await this.#sampleOf(name, url);
        this.#samples.set(name, [...(this.#samples.get(name) ?? []), sample].slice(-minutesMax - 1));
      }),
    );
  }

  /** Reads the metrics in place of the last time, so that the numbers of this minute are those of now. */
  async readAgain(): Promise<void> {
    for (const [name, samples] of this.#samples) this.#samples.set(name, samples.slice(0, -1));
    await this.read();
  }

  /** The activity of a service; undefined if it was never read. */
  of(name: string): Activity | undefined {
    const samples = this.#samples.get(name)?.filter((sample) => sample !== undefined) ?? [];
    const last = samples.at(-1);
    if (!last) return undefined;
    const { activity: metrics = [], waiting = [] } = this.#metrics[name] ?? {};
    const amounts = metrics.map(({ kind }, index) =>
      kind === 'gauge'
        ? (last.activity[index] ?? 0)
        : sum(steps(samples.map((each) => each.activity[index] ?? 0))),
    );
    return {
      version: last.version,
      requests: steps(samples.map(({ requests }) => requests)),
      errors: steps(samples.map(({ errors }) => errors)),
      phrases: metrics.flatMap((metric, index) => phrase(metric, amounts[index] ?? 0)),
      waiting: waiting.flatMap(({ nouns, path }, index) =>
        phrase({ kind: 'gauge', nouns }, last.waiting[index] ?? 0).map((text) => ({ text, path })),
      ),
      servers: last.servers,
    };
  }

  async #sampleOf(name: string, url: string): Promise<Sample | undefined> {
    try {
      const response = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(timeoutMs) });
      if (!response.ok) return undefined;
      return parse(await response.text(), this.#metrics[name] ?? {});
    } catch {
      return undefined;
    }
  }
}

const requestCount = 'http_request_duration_seconds_count{';
/** Requests of probes and of the portal itself are not what visitors do. */
const ownRoute = /route="\/(metrics|health|readiness|livez|readyz|assets\/[^"]*)"/;

function parse(text: string, { activity = [], waiting = [], servers }: ServiceMetrics): Sample {
  const lines = text.split('\n').filter((line) => !line.startsWith('#'));
  const requests = lines.filter((line) => line.startsWith(requestCount) && !ownRoute.test(line));
  return {
    version: /^octavo_build_info\{version="([^"]+)"/m.exec(text)?.[1],
    requests: sum(requests.map(readValue)),
    errors: sum(requests.filter((line) => /status="5/.test(line)).map(readValue)),
    activity: activity.map(({ metric }) => readSum(lines, metric)),
    waiting: waiting.map(({ metric }) => readSum(lines, metric)),
    servers: servers ? readServers(lines, servers) : [],
  };
}

function readSum(lines: readonly string[], metric: string): number {
  return sum(lines.filter((line) => isOf(line, metric)).map(readValue));
}

function readServers(lines: readonly string[], { metric, nouns, path }: ServersMetric): UsedServer[] {
  return lines
    .filter((line) => isOf(line, metric))
    .map((line) => {
      const { kind = '', model, context, source, state = '' } = labelsOf(line);
      const from = source === 'environment' ? 'set by the environment' : `connected at ${path}`;
      const tokens = context && `, with a context of ${Number(context).toLocaleString('en')} tokens`;
      const text = `${nouns[kind] ?? kind} ${model}, ${from}${tokens}: ${state.replace(/\.$/, '')}`;
      return { text, isFailing: readValue(line) === 0, path };
    });
}

function labelsOf(line: string): Record<string, string | undefined> {
  const escapes: Readonly<Record<string, string>> = { n: '\n' };
  const found = line.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries(
    Array.from(found, ([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? character),
    ]),
  );
}

/** The text exposition format of Prometheus: name, labels in braces, value. */
function isOf(line: string, metric: string): boolean {
  return line.startsWith(metric) && (metric.includes('{') || ['{', ' '].includes(line.charAt(metric.length)));
}

function readValue(line: string): number {
  const value = Number(line.slice(line.lastIndexOf(' ') + 1));
  return Number.isFinite(value) ? value : 0;
}

/** Increases between samples; a counter that fell began again at 0. */
function steps(values: readonly number[]): number[] {
  return values.slice(1).map((value, index) => {
    const before = values[index] ?? 0;
    return value < before ? value : value - before;
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function phrase(
  { kind, nouns: [one, many] }: Pick<ActivityMetric, 'kind' | 'nouns'>,
  amount: number,
): string[] {
  if (amount === 0) return [];
  const words = `${amount.toLocaleString('en')} ${amount === 1 ? one : many}`;
  return [kind === 'gauge' ? words : `${words} in the last hour`];
}
