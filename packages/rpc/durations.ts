import { Histogram, type Registry } from 'prom-client';

/** A histogram of durations for one set of labels. */
export interface Durations {
  observe(seconds: number): void;
}

/**
 * A Prometheus histogram for what happens at every request. It counts in plain arrays and creates labels only when it is read.
 * prom-client's own histogram hashes the labels at each observation, which costs almost a microsecond. Parts of a process that
 * use the same name share the histogram.
 */
export class DurationHistogram<Label extends string> extends Histogram<Label> {
  readonly #options: DurationHistogramOptions<Label>;
  readonly #rows: { readonly labels: Readonly<Record<Label, string>>; readonly cell: Cell }[] = [];

  constructor(options: DurationHistogramOptions<Label>) {
    const { name, help, labelNames, registry } = options;
    super({ name, help, labelNames, registers: [registry] });
    this.#options = options;
  }

  /** The histogram of this name in the registry; created if missing. */
  static in<Label extends string>(options: DurationHistogramOptions<Label>): DurationHistogram<Label> {
    const known = options.registry.getSingleMetric(options.name);
    return known instanceof DurationHistogram ? known : new DurationHistogram(options);
  }

  /** The durations with these labels. Keep it where you observe often. */
  at(labels: Readonly<Record<Label, string>>): Durations {
    const known = this.#rows.find((row) => sameLabels(row.labels, labels));
    if (known) return known.cell;
    const cell = new Cell(this.#options.buckets);
    this.#rows.push({ labels, cell });
    return cell;
  }

  /** Called by prom-client's registry. */
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
  /** Upper bounds in seconds, ascending. */
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
