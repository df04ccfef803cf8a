import { AppError } from '@octavo/core';
import { type Content, html, linkButton, notice } from '@octavo/web/html';
import type { Context } from '../commands.ts';
import { getExpense } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import { hrefWith } from '../site/views.ts';
import { payeeOf, ruleFinder } from './matching.ts';
import { rulesToApply } from './rules.ts';

/**
 * The offer to make a rule of the category just given to an expense. Empty if the rules give it already, or there is
 * no such expense.
 */
export async function ruleOffer(core: Context, { caller }: Visitor, expenseId: string): Promise<Content> {
  if (expenseId === '') return undefined;
  const expense = await getExpense(core, caller, expenseId).catch(ignoreMissing);
  if (!expense?.category) return undefined;
  const { description, category } = expense;
  const rule = ruleFinder(await rulesToApply(core.db, caller.owner))(description);
  if (rule?.category === category) return undefined;
  const contains = payeeOf(description);
  const form = hrefWith(pageRoutes.newRule, { contains, category });
  return notice(
    'info',
    html`Give every “${contains}” the category ${category}, also in imports? ${linkButton(form, 'Make a rule')}`,
  );
}

/** The address may be older than the deletion of the expense. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
