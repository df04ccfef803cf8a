import { sql } from 'kysely';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Session } from './session.ts';

/** Metrics reported by the writer. */
export interface WriteMetrics {
  queued(writes: number): void;
  committed(writes: number, durationMs: number): void;
}

/** Metrics of one database's writer in `registry`, labeled with its name; several databases may share the registry. */
export function writeMetrics(registry: Registry | undefined, database: string): WriteMetrics {
  if (registry === undefined) return { queued: () => {}, committed: () => {} };
  const labelNames = ['database'];
  const registers = [registry];
  const depth = once(registry, 'db_write_queue_depth', (name) => {
    return new Gauge({ name, help: 'Writes that wait for the writer', labelNames, registers });
  }).labels(database);
  const size = once(registry, 'db_write_group_size', (name) => {
    const buckets = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    return new Histogram({ name, help: 'Writes that shared a commit', labelNames, buckets, registers });
  }).labels(database);
  const duration = once(registry, 'db_commit_duration_seconds', (name) => {
    const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
    return new Histogram({ name, help: 'Time of a commit', labelNames, buckets, registers });
  }).labels(database);
  return {
    queued: (writes) => depth.set(writes),
    committed(writes, durationMs) {
      size.observe(writes);
      duration.observe(durationMs / 1000);
    },
  };
}

/**
 * Gauges that one query fills whenever metrics are read, with their help by name. They are NaN while the database cannot be used. Gauges are
 * read at the same time, so that they share the query.
 */
export function queriedGauges<Name extends string>(
  registry: Registry,
  helps: Readonly<Record<Name, string>>,
  read: () => Promise<Readonly<Record<Name, number>>>,
): void {
  let reading: Promise<Readonly<Record<Name, number>> | undefined> | undefined;
  const readOnce = () => {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  for (const name of Object.keys(helps) as Name[])
    new Gauge({
      name,
      help: helps[name],
      registers: [registry],
      async collect() {
        this.set((await readOnce())?.[name] ?? Number.NaN);
      },
    });
}

/** A gauge of the rows of a table, for tables in which a count takes milliseconds. */
export function rowGauge<DB>(
  registry: Registry,
  database: Session<DB>,
  { name, help, table }: { readonly name: string; readonly help: string; readonly table: keyof DB & string },
): void {
  const count = sql<{ total: number }>`SELECT count(*) AS total FROM ${sql.table(table)}`;
  queriedGauges(registry, { [name]: help }, async () => {
    const { rows } = await count.execute(database.kysely);
    return { [name]: rows[0]?.total ?? 0 };
  });
}

function once<M>(registry: Registry, name: string, create: (name: string) => M): M {
  return (registry.getSingleMetric(name) as M | undefined) ?? create(name);
}
