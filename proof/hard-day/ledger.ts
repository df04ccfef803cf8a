/**
 * End of a write for its client: done (2xx), not done (503, 429, or no server listened), or not known (504, a connection that was cut, no
 * response in time).
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** Responses that clients got to each of their writes, by kind and key, and findings besides. */
export class Ledger {
  readonly #entries = new Map<string, Map<string, Outcome>>();
  readonly #findings = new Map<string, number>();

  /** A write that was unknown once stays so until it is acknowledged, because it may still be carried out. */
  record(kind: string, key: string, outcome: Outcome): void {
    const entries = this.#entries.get(kind) ?? new Map<string, Outcome>();
    this.#entries.set(kind, entries);
    const before = entries.get(key);
    if (before === 'acknowledged' || (before === 'unknown' && outcome === 'refused')) return;
    entries.set(key, outcome);
  }

  /** Notes something that must not happen, such as a 500. */
  report(finding: string): void {
    this.#findings.set(finding, (this.#findings.get(finding) ?? 0) + 1);
  }

  /** Findings so far, with how often each was made. */
  findings(): string[] {
    return [...this.#findings].map(([finding, count]) =>
      count > 1 ? `${finding} (${count} times)` : finding,
    );
  }

  keys(kind: string, outcome: Outcome): string[] {
    return [...(this.#entries.get(kind) ?? [])].flatMap(([key, each]) => (each === outcome ? [key] : []));
  }

  /** Number of writes by kind and outcome. */
  totals(): Record<string, Record<Outcome, number>> {
    return Object.fromEntries(
      [...this.#entries].map(([kind, entries]) => {
        const totals = { acknowledged: 0, refused: 0, unknown: 0 };
        for (const outcome of entries.values()) totals[outcome]++;
        return [kind, totals];
      }),
    );
  }

  /**
   * Compares the writes of a kind with those that are there: each key once for each time it was found. Acknowledged writes must be
   * there once, refused ones never, unknown ones once at most, and no others.
   */
  compare(kind: string, found: Iterable<string>): void {
    const times = new Map<string, number>();
    for (const key of found) times.set(key, (times.get(key) ?? 0) + 1);
    for (const [key, outcome] of this.#entries.get(kind) ?? []) {
      const count = times.get(key) ?? 0;
      times.delete(key);
      if (outcome === 'acknowledged' && count === 0)
        this.report(`${kind}: an acknowledged write is lost: ${key}`);
      if (outcome === 'refused' && count > 0) this.report(`${kind}: a refused write is there: ${key}`);
      if (count > 1) this.report(`${kind}: a write is there ${count} times: ${key} (${outcome})`);
    }
    for (const key of times.keys()) this.report(`${kind}: no client wrote ${key}`);
  }
}
