import type { NewExpense } from '../expenses/index.ts';
import { comparable, payeeOf } from '../rules/index.ts';
import type { Store } from '../store/tables.ts';
import { paidDescriptions } from './store.ts';
import type { ImportScope } from './targets.ts';

/** Tells refunds from incomes: those that the file marks, and money from a payee that was paid before, or on the same day. */
export class PaidPayees {
  /** The first day on which each was paid. */
  #firstDays = new Map<string, string>();

  /** Reads who was paid, in expenses of the scope and in these rows. */
  async load(session: Store, scope: ImportScope, rows: readonly NewExpense[]): Promise<void> {
    this.#firstDays.clear();
    if (rows.every(({ minor }) => minor > 0)) return;
    for (const { description, day } of await paidDescriptions(session, scope)) this.#add(description, day);
    for (const { text, minor, spentOn } of rows) if (minor > 0) this.#add(text, spentOn);
  }

  isRefund({ text, spentOn, isRefund = false }: NewExpense): boolean {
    if (isRefund) return true;
    const first = this.#firstDays.get(keyOf(text));
    return first !== undefined && first <= spentOn;
  }

  #add(description: string, day: string): void {
    const key = keyOf(description);
    const known = this.#firstDays.get(key);
    if (key !== '' && (known === undefined || day < known)) this.#firstDays.set(key, day);
  }
}

function keyOf(description: string): string {
  return comparable(payeeOf(description));
}
