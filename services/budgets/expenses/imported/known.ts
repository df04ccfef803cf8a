import type { Session } from '@octavo/data';
import { numberedScope } from '../../budgets/index.ts';
import type { Tables } from '../../store/tables.ts';
import type { NewExpense } from './add.ts';
import { type EarlierRow, earlierRows, identifyExpense, knownIds, newestNumber } from './store.ts';

interface Candidate extends EarlierRow {
  /** A row of the file has turned out to be it. */
  isTaken: boolean;
}

interface Pair {
  readonly candidates: Candidate[];
  /** Number of the newest expense when the candidates were looked for. */
  since: number;
}

/** An existing row; `identified` if it had no id before. */
export interface Duplicate {
  readonly identified?: number;
}

interface KnownOptions {
  readonly owner: number;
  readonly task: string;
  readonly typed: boolean;
  readonly only: number | undefined;
}

/**
 * The rows of earlier imports, in all budgets of an owner, by what the files said. A row is the same as one of its account with its id,
 * day and amount; or, if one of both has no id, with its day and amount, each once; without account and id in both also with its text.
 * A typed expense is the same with its day, amount and text.
 */
export class KnownRows {
  readonly #budgetId: string | null;
  readonly #owner: number;
  readonly #task: string;
  readonly #countsTyped: boolean;
  readonly #only: number | undefined;
  readonly #pairs = new Map<string, Pair>();
  /** Ids of the file's own rows that are new, with account, day and amount. */
  readonly #ownIds = new Set<string>();
  #ids: ReadonlySet<string> = new Set();
  #undo: (() => void)[] = [];

  /**
   * With `typed`, typed expenses of the same day, amount and text are duplicates too. With `only`, rows of earlier imports are looked for
   * in the budget with that number alone.
   */
  constructor(budgetId: string | null, { owner, task, typed, only }: KnownOptions) {
    this.#budgetId = budgetId;
    this.#owner = owner;
    this.#task = task;
    this.#countsTyped = typed;
    this.#only = only;
  }

  /** Reads what the next rows may be the same as. */
  async load(session: Session<Tables>, rows: readonly NewExpense[]): Promise<void> {
    const owner = this.#owner;
    const only = this.#only;
    const { budgets } =
      only === undefined
        ? await numberedScope(session, owner, this.#budgetId ?? undefined)
        : { budgets: [only] };
    const ids = rows.flatMap(({ externalId }) => externalId ?? []);
    this.#ids = new Set(ids.length === 0 ? [] : await knownIds(session, { owner, budgets, ids }));
    const given = new Map(
      rows.map(({ spentOn, minor }) => {
        const key = pairKey(spentOn, minor);
        const pair = this.#pairs.getOrInsertComputed(key, () => ({ candidates: [], since: -1 }));
        return [key, [spentOn, minor, pair.since] as const];
      }),
    );
    const pairs = [...given.values()];
    for (const row of await earlierRows(session, { owner, budgets, only, task: this.#task, pairs }))
      if (this.#countsTyped || !row.isTyped)
        this.#pairs.get(pairKey(row.day, row.minor))?.candidates.push({ ...row, isTaken: false });
    const since = await newestNumber(session, owner);
    for (const key of given.keys()) {
      const pair = this.#pairs.get(key) as Pair;
      // Pairs without candidates are looked for again, since those of a large file would fill the memory.
      if (pair.candidates.length === 0) this.#pairs.delete(key);
      else pair.since = since;
    }
  }

  /** The row that is the same as this one; undefined if it is new. */
  take(row: NewExpense): Duplicate | undefined {
    const { externalId: id, account } = row;
    if (id !== null && this.#ids.has(id)) return {};
    const pair = pairKey(row.spentOn, row.minor);
    const own = `${account ?? ''}\n${id}\n${pair}`;
    const candidates = (this.#pairs.get(pair)?.candidates ?? []).filter(
      (each) => each.account === null || account === null || each.account === account,
    );
    if (id !== null && this.#ownIds.has(own)) return {};
    const same = id === null ? undefined : candidates.find(({ externalId }) => externalId === id);
    const equal = same ?? candidates.find((each) => !each.isTaken && isEqual(row, each));
    if (!equal) {
      if (id !== null) this.#remember(own);
      return undefined;
    }
    if (!equal.isTaken) this.#undo.push(() => (equal.isTaken = false));
    equal.isTaken = true;
    return same || id === null ? {} : { identified: equal.number };
  }

  #remember(own: string): void {
    this.#ownIds.add(own);
    this.#undo.push(() => this.#ownIds.delete(own));
  }

  /** Forgets the rows that were taken since the last {@link keep}: their transaction begins again. */
  forget(): void {
    for (const undo of this.#undo) undo();
    this.#undo = [];
  }

  keep(): void {
    this.#undo = [];
  }
}

/** Gives an expense of before the id that a row of a file has. */
export async function identify(
  session: Session<Tables>,
  { owner, number, row, task }: { owner: number; number: number; row: NewExpense; task: string },
): Promise<void> {
  const { externalId: id, account } = row;
  if (id !== null) await identifyExpense(session, { owner, number, id, account, task });
}

function isEqual(row: NewExpense, { externalId, account, text, isTyped }: Candidate): boolean {
  if (row.externalId !== null && externalId !== null) return false;
  const isBare = row.externalId === null && externalId === null && row.account === null && account === null;
  return (!isBare && !isTyped) || text === null || text === row.text;
}

function pairKey(day: string, minor: number): string {
  return `${day} ${minor}`;
}
