import { Random } from '../random.ts';
import { ApiFuzz } from './api.ts';
import { openEdges } from './edges.ts';
import { PageFuzz } from './pages.ts';
import { Findings, startServices } from './services.ts';
import { WireFuzz } from './wire.ts';

interface FuzzOptions {
  readonly seed: number;
  /** Time after which no more requests are sent; no limit if it is absent. */
  readonly seconds?: number;
  /** Number of requests after which no more are sent; no limit if it is absent. */
  readonly steps?: number;
  /** PostgreSQL; SQLite if it is empty. */
  readonly databaseUrl?: string;
  /** All services if it is empty. */
  readonly names?: readonly string[];
  /** Requests at once. */
  readonly lanes?: number;
  /** A page that takes longer is a finding. */
  readonly slowMs?: number;
}

interface Fuzz {
  step(): Promise<void>;
}

/** Starts all services, sends them odd requests for some time, and returns what is wrong with their responses. */
export async function runFuzz(options: FuzzOptions) {
  const {
    seed,
    seconds = Infinity,
    steps: stepsMax = Infinity,
    databaseUrl = '',
    names = [],
    lanes = 4,
    slowMs = 10_000,
  } = options;
  const findings = new Findings();
  const summary = [`seed ${seed}`];
  await using services = await startServices(findings, databaseUrl);
  const random = new Random(seed);
  const chosen = [...services.sites.keys()].filter((name) => names.length === 0 || names.includes(name));
  const apis = new Map<string, ApiFuzz>();
  for (const name of chosen) apis.set(name, await ApiFuzz.open(name, { services, findings, random }));
  const pages: PageFuzz[] = [];
  for (const name of chosen)
    pages.push(...(await PageFuzz.open(name, { services, findings, random, slowMs })));
  const edges = await openEdges({ services, findings, random });
  const wire = new WireFuzz({ services, findings, random });
  const kinds: readonly (readonly Fuzz[])[] = [
    [...apis.values()],
    [...apis.values()],
    pages,
    pages,
    edges,
    [wire],
  ];
  const endMs = performance.now() + seconds * 1_000;
  let steps = 0;
  const lane = async () => {
    while (steps < stepsMax && performance.now() < endMs && services.isAlive()) {
      steps++;
      try {
        await random.pick(random.pick(kinds)).step();
      } catch (error) {
        // Without the process nothing can go on; its end is a finding.
        if (services.isAlive()) findings.add(`a step failed: ${error}`, (error as Error).stack ?? '');
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (const [name, { statuses }] of [...apis, ...pages.map((page) => [page.name, page] as const)])
    summary.push(
      `${name}: ${[...statuses]
        .toSorted()
        .map(([status, count]) => `${count} x ${status}`)
        .join(', ')}`,
    );
  const slowest = pages.map((page) => page.slowest).toSorted((one, other) => other.tookMs - one.tookMs);
  for (const { tookMs, what } of slowest.slice(0, 3)) summary.push(`slowest page: ${tookMs} ms ${what}`);
  for (const [name, url] of services.sites) {
    const response = await fetch(`${url}/${name === 'chat' ? 'livez' : 'health'}`).catch(() => undefined);
    if (response?.status !== 200) findings.add(`${name} is not alive at the end`, String(response?.status));
  }
  const { first, last, most } = services.memory;
  const inMib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  summary.push(
    `${steps} requests; memory ${inMib(first)} at first, ${inMib(last)} at last, ${inMib(most)} at most`,
  );
  return { findings: findings.list(), summary };
}
