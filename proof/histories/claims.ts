/** A change of a row that workers claim, as a trigger of the database saw it; rows of one id in the order of commits. */
export interface ClaimChange {
  readonly id: string;
  /** Time of the change, in milliseconds since 1970, by the clock of the machine. */
  readonly atMs: number;
  readonly before: Claimable | undefined;
  readonly after: Claimable | undefined;
}

export interface Claimable {
  /** Number of claims so far. */
  readonly claims: number;
  /** Empty if unclaimed. */
  readonly holder: string;
  /** Time from which it may be claimed; while claimed, the end of the lease. */
  readonly dueMs: number;
  readonly isDone: boolean;
}

/** Clocks of processes and of the database on one machine are read within this time. */
const toleranceMs = 5;

/**
 * Finds what workers must not do: claim what another holds and whose lease runs, finish what they do not hold, or add again what is
 * finished, unless it `mayComeAgain`. A row that is deleted counts as finished.
 */
export function claimProblems(changes: readonly ClaimChange[], { mayComeAgain = false } = {}): string[] {
  const done = new Set<string>();
  return changes.flatMap((change) => {
    const { id, before, after, atMs } = change;
    const problems: string[] = [];
    const isAfterwards = done.has(id);
    const isFinished = !after || after.isDone;
    if (isFinished) done.add(id);
    if (isAfterwards && !isFinished && !mayComeAgain)
      problems.push(`${id} was taken up again after it was done`);
    if (!before) return problems;
    const isClaim = after !== undefined && after.claims > before.claims;
    if (isClaim && after.claims !== before.claims + 1) problems.push(`${id} was claimed twice at once`);
    if (isClaim && before.dueMs > atMs + toleranceMs)
      problems.push(`${id} was claimed ${Math.round(before.dueMs - atMs)} ms before it was due`);
    if (isFinished && !before.isDone && before.holder === '')
      problems.push(`${id} was done by a process that did not hold it`);
    if (!isClaim && after && !after.isDone && after.holder !== before.holder && after.holder !== '')
      problems.push(`${id} changed hands without a claim`);
    return problems;
  });
}

/** Ids that were added and are not done. */
export function unfinished(changes: readonly ClaimChange[]): string[] {
  const open = new Set<string>();
  for (const { id, after } of changes) {
    if (!after || after.isDone) open.delete(id);
    else open.add(id);
  }
  return [...open];
}
