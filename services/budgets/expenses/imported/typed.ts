import { isoDay } from '@octavo/core';
import type { Session } from '@octavo/data';
import type { Tables } from '../../store/tables.ts';
import type { NewExpense } from './add.ts';
import { matchExpense, type TypedRow, typedRows } from './store.ts';

const daysApart = 3;
const dayMs = 86_400_000;

/** Typed expenses of an owner that rows of a file may be: with the same amount, at most three days apart. */
export class TypedExpenses {
  readonly #owner: number;
  readonly #budget: number | undefined;
  #free = new Map<number, TypedRow[]>();
  readonly #taken = new Set<number>();

  /** With a budget, expenses of others are no candidates. */
  constructor(owner: number, budget?: number) {
    this.#owner = owner;
    this.#budget = budget;
  }

  /** Reads what the next rows may be, in place of what was read before. */
  async load(session: Session<Tables>, rows: readonly NewExpense[]): Promise<void> {
    const owner = this.#owner;
    const ranges = rows.map(
      ({ spentOn, minor, currency }) =>
        [dayAfter(spentOn, -daysApart), dayAfter(spentOn, daysApart), minor, currency] as const,
    );
    const different = [...new Map(ranges.map((range) => [range.join(), range])).values()];
    const found = await typedRows(session, { owner, budget: this.#budget, ranges: different });
    this.#free = Map.groupBy(
      found.filter(({ number }) => !this.#taken.has(number)),
      ({ minor }) => minor,
    );
  }

  /** The expense that a row is, each once: the one of the nearest day, with the same text if there are several. */
  take({ spentOn, minor, text }: NewExpense): TypedRow | undefined {
    const free = this.#free.get(minor) ?? [];
    const apart = ({ day }: TypedRow) => Math.abs(Date.parse(day) - Date.parse(spentOn)) / dayMs;
    const isOther = ({ description }: TypedRow) => Number(description !== text);
    const [nearest] = free
      .filter((row) => apart(row) <= daysApart)
      .sort((one, other) => apart(one) - apart(other) || isOther(one) - isOther(other));
    if (nearest) {
      free.splice(free.indexOf(nearest), 1);
      this.#taken.add(nearest.number);
    }
    return nearest;
  }

  /** Forgets the expenses that were taken: those that rows were linked to are no longer read. */
  forget(): void {
    this.#taken.clear();
  }
}

/** Keeps with a typed expense what a file says of it, so that the file again finds it. */
export async function link(
  session: Session<Tables>,
  { owner, number, row, task }: { owner: number; number: number; row: NewExpense; task: string },
): Promise<void> {
  const { externalId: id, account, spentOn: day, minor, text } = row;
  await matchExpense(session, { owner, number, task, id, account, day, minor, text });
}

function dayAfter(day: string, days: number): string {
  return isoDay(Date.parse(day) + days * dayMs);
}
