import { AppError } from '@octavo/core';
import { type Content, html, linkButton, notice } from '@octavo/web/html';
import { getBudget } from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { requireExpense } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import { hrefWith } from '../site/views.ts';
import { payeeOf } from './matching.ts';
import { RuleSet } from './rule-set.ts';
import { rulesToApply } from './rules.ts';

/**
 * The offer to make a rule of the budget or the category just given to an expense. Empty if the rules give them already, or there is
 * no such expense.
 */
export async function ruleOffer(context: Context, { caller }: Visitor, expenseId: string): Promise<Content> {
  if (expenseId === '') return undefined;
  const { db } = context;
  const expense = await requireExpense(db, caller.owner, expenseId).catch(ignoreMissing);
  if (!expense) return undefined;
  const { description, category, budget_id: budgetId } = expense;
  const given = await (await RuleSet.of(await rulesToApply(db, caller.owner))).effectOn(expense);
  const isGiven = (given.budgetId ?? null) === budgetId && (given.category ?? null) === category;
  if (isGiven || (given.budgetId === undefined && given.category === category)) return undefined;
  const budget = budgetId === null ? undefined : await getBudget(context, caller, budgetId);
  const places = [budget?.name, category].filter((name) => name !== undefined && name !== null);
  if (places.length === 0) return undefined;
  const contains = payeeOf(description);
  const form = hrefWith(pageRoutes.newRule, { contains, category: category ?? '', budget: budgetId ?? '' });
  return notice(
    'info',
    html`Always put “${contains}” into ${places.join(' and ')}, also in imports? ${linkButton(form, 'Make a rule')}`,
  );
}

/** The address may be older than the deletion of the expense. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
