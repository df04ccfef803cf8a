import { Histogram, type Registry } from 'prom-client';

/** How often something took how long, under one set of labels. */
export interface Durations {
  observe(seconds: number): void;
}

/**
 * A Prometheus histogram for what happens with every request. It counts in plain arrays and makes labels only when it is
 * read: hashing them for each observation, as prom-client's own histogram does, costs most of a microsecond.
 * Several parts of a process that name the same histogram share it.
 */
export class DurationHistogram<Label extends string> extends Histogram<Label> {
  readonly #options: DurationHistogramOptions<Label>;
  readonly #rows: { readonly labels: Readonly<Record<Label, string>>; readonly cell: Cell }[] = [];

  constructor(options: DurationHistogramOptions<Label>) {
    const { name, help, labelNames, registry } = options;
    super({ name, help, labelNames, registers: [registry] });
    this.#options = options;
  }

  /** The one of this name in the registry, made when it is not there yet. */
  static in<Label extends string>(options: DurationHistogramOptions<Label>): DurationHistogram<Label> {
    const known = options.registry.getSingleMetric(options.name);
    return known instanceof DurationHistogram ? known : new DurationHistogram(options);
  }

  /** The durations under these labels; keep it where you observe often. */
  at(labels: Readonly<Record<Label, string>>): Durations {
    const known = this.#rows.find((row) => sameLabels(row.labels, labels));
    if (known) return known.cell;
    const cell = new Cell(this.#options.buckets);
    this.#rows.push({ labels, cell });
    return cell;
  }

  /** What prom-client's registry reads. */
  getForPromString(): object {
    const { name, help, buckets } = this.#options;
    const values = this.#rows.flatMap(({ labels, cell }) => valuesOf(name, buckets, { labels, cell }));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}

export interface DurationHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Upper bounds in seconds, rising. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

class Cell implements Durations {
  readonly #buckets: readonly number[];
  readonly counts: Float64Array;
  sumSeconds = 0;

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
    this.counts = new Float64Array(buckets.length + 1);
  }

  observe(seconds: number): void {
    const buckets = this.#buckets;
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSeconds += seconds;
  }
}

function sameLabels(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  return Object.entries(one).every(([name, value]) => other[name] === value);
}

function valuesOf(
  name: string,
  buckets: readonly number[],
  { labels: sharedLabels, cell }: { labels: Readonly<Record<string, string>>; cell: Cell },
): object[] {
  const values: object[] = [];
  let count = 0;
  cell.counts.forEach((observed, bucket) => {
    count += observed;
    const le = buckets[bucket] ?? '+Inf';
    values.push({ metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count });
  });
  values.push({ metricName: `${name}_sum`, labels: {}, sharedLabels, value: cell.sumSeconds });
  values.push({ metricName: `${name}_count`, labels: {}, sharedLabels, value: count });
  return values;
}
