import type { NewExpense } from '../expenses/index.ts';
import { type EarlierIncome, earlierIncomes } from '../ledger/index.ts';
import type { Store } from '../store/tables.ts';

/**
 * The incomes of earlier imports, by what the files said. A row is the same as one of its account with its id, day and amount; or, if one of
 * both has no id, with its day and amount, each once; without account and id in both also with its text.
 */
export class KnownIncomes {
  readonly #owner: number;
  readonly #task: string;
  readonly #candidates = new Map<string, EarlierIncome[]>();
  readonly #taken = new Set<string>();
  /** Ids of the file's own rows, with account, day and amount. */
  readonly #ownIds = new Set<string>();
  #undo: (() => void)[] = [];

  constructor({ owner, task }: { readonly owner: number; readonly task: string }) {
    this.#owner = owner;
    this.#task = task;
  }

  /** Reads what the next rows may be the same as. */
  async load(session: Store, rows: readonly NewExpense[]): Promise<void> {
    this.#candidates.clear();
    const given = new Map(
      rows.flatMap(({ spentOn, minor }) =>
        minor < 0 ? [[pairKey(spentOn, -minor), [spentOn, -minor] as const]] : [],
      ),
    );
    if (given.size === 0) return;
    const pairs = [...given.values()];
    for (const each of await earlierIncomes(session, { owner: this.#owner, task: this.#task, pairs }))
      this.#candidates.getOrInsertComputed(pairKey(each.day, each.minor), () => []).push(each);
  }

  /** True if a row is one of them, or one of the file that was taken before. */
  has(row: NewExpense): boolean {
    const { externalId: id, account } = row;
    const pair = pairKey(row.spentOn, -row.minor);
    const own = `${account ?? ''}\n${id}\n${pair}`;
    if (id !== null && this.#ownIds.has(own)) return true;
    const candidates = (this.#candidates.get(pair) ?? []).filter(
      (each) => each.account === null || account === null || each.account === account,
    );
    const same = id === null ? undefined : candidates.find(({ externalId }) => externalId === id);
    return same !== undefined || candidates.some((each) => this.#isFree(row, each) && this.#take(each));
  }

  /** Remembers a new row, which another one of the file with its id is the same as. */
  add({ externalId: id, account, spentOn, minor }: NewExpense): void {
    if (id === null) return;
    const own = `${account ?? ''}\n${id}\n${pairKey(spentOn, -minor)}`;
    this.#ownIds.add(own);
    this.#undo.push(() => this.#ownIds.delete(own));
  }

  #isFree(row: NewExpense, { id, externalId, account, text }: EarlierIncome): boolean {
    if (this.#taken.has(id) || (row.externalId !== null && externalId !== null)) return false;
    const isBare = row.externalId === null && externalId === null && row.account === null && account === null;
    return !isBare || text === row.text;
  }

  #take({ id }: EarlierIncome): true {
    this.#taken.add(id);
    this.#undo.push(() => this.#taken.delete(id));
    return true;
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

function pairKey(day: string, minor: number): string {
  return `${day} ${minor}`;
}
