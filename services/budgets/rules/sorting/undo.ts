import { deleteEmptyBudget, findBudgetRow } from '../../budgets/index.ts';
import type { AccountTransaction } from '../../commands.ts';
import type { Made } from '../../expenses/index.ts';
import { ownedRow } from '../../store/owned.ts';
import type { BudgetRow } from '../../store/tables.ts';
import type { MadeResult } from '../../tasks/index.ts';
import { type Rule, toRule } from '../rule.ts';
import { nameOf } from '../rule-words.ts';
import { removeRule } from '../rules.ts';
import { budgetUses, rulesAfter } from '../store.ts';

/** Deletes the rules and budgets that sorting made: rules that are as they were made, and then budgets that nothing else uses. */
export async function takeBackSorting(transaction: AccountTransaction, made: Made): Promise<MadeResult> {
  const { session, owner } = transaction;
  const result: MadeResult = [];
  for (const before of made.rules as readonly Rule[]) {
    const row = await ownedRow(session, 'import_rule', { owner, id: before.id });
    if (!row) continue;
    const isSame = definitionText(toRule(row)) === definitionText(before);
    if (isSame) await removeRule(transaction, row);
    const kept = isSame ? null : 'it was changed since';
    result.push({ kind: 'rule', id: row.id, name: nameOf(toRule(row)), kept });
  }
  for (const { id, version } of made.budgets) {
    const row = await findBudgetRow(session, owner, id);
    if (!row) continue;
    const kept = row.version === version ? await useOf(transaction, row) : 'it was changed since';
    if (kept === null) await deleteEmptyBudget(transaction, row);
    result.push({ kind: 'budget', id, name: row.name, kept });
  }
  return result;
}

/** Why a budget cannot go; null if nothing uses it. */
async function useOf({ session, owner }: AccountTransaction, budget: BudgetRow): Promise<string | null> {
  if (budget.expenses > 0) return 'it has other expenses';
  if (budget.shared !== 0) return 'it was shared';
  const { recurring, orders } = await budgetUses(session, budget);
  if (recurring) return 'it has recurring expenses';
  if (orders) return 'an order belongs to it';
  const rules = await rulesAfter(session, { owner, position: 0, limit: Number.MAX_SAFE_INTEGER });
  return rules.some((rule) => toRule(rule).set.budgetId === budget.id) ? 'another rule uses it' : null;
}

/** Everything that people change in a rule but its place, which moves with those of others. */
function definitionText({ conditions, match, set, transfer, enabled }: Rule): string {
  return JSON.stringify([conditions, match, set, transfer, enabled]);
}
