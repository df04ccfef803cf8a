import { Gauge, type Registry } from 'prom-client';
import type { Database } from '#kit/db/index.ts';
import { countAll } from './store.ts';
import type { Tables } from './tables.ts';

/** Domain counters, read from the database when Prometheus asks, at most once in ten seconds. */
export function measure(database: Database<Tables>, metrics: Registry): void {
  let known: { atMs: number; counts: ReturnType<typeof countAll> } | undefined;
  const counts = () => {
    const nowMs = Date.now();
    if (!known || nowMs - known.atMs > freshMs) known = { atMs: nowMs, counts: countAll(database) };
    return known.counts;
  };
  const gauge = (name: string, help: string, pick: (found: Awaited<ReturnType<typeof counts>>) => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      async collect() {
        this.set(pick(await counts()));
      },
    });
  gauge('quotes_published', 'Published quotes.', ({ published }) => published);
  gauge('quotes_waiting', 'Quotes that wait for staff.', ({ waiting }) => waiting);
  gauge('quotes_open_reports', 'Reports that wait for an answer.', ({ reports }) => reports);
}

const freshMs = 10_000;
