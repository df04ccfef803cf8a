import type { Content } from '@octavo/web/html';
import { html } from '@octavo/web/html';
import type { Budget } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import { listInvitations } from './invitations.ts';
import { listMembers } from './members.ts';
import type { Member } from './sharing.ts';
import { invitationsCard, membersCard, sharedNotice } from './views.ts';

/** More than a budget can have. */
const all = 100;

/** The members of a budget that the caller may see. */
export async function allMembers(context: Context, caller: Caller, budgetId: string): Promise<Member[]> {
  return [...(await listMembers(context, caller, budgetId, { limit: all })).items];
}

interface SharingOfBudget {
  /** True if others see the budget too. */
  readonly isShared: boolean;
  /** Words above a budget of another person. */
  readonly above: Content;
  /** The members, for the owner. */
  readonly below: Content;
}

/** Parts of the page of a budget. */
export async function sharingOfBudget(
  context: Context,
  visitor: Visitor,
  budget: Budget,
): Promise<SharingOfBudget> {
  const members = await allMembers(context, visitor.caller, budget.id);
  if (budget.role === 'owner') {
    const isShared = members.some(({ state }) => state === 'accepted');
    const below = html`<div class="sharing">${membersCard(visitor, { budget, members })}</div>`;
    return { isShared, above: undefined, below };
  }
  const [own] = members;
  const leave = pathOf(pageRoutes.removeMember, budget.id).replace(':member', own?.id ?? '');
  return { isShared: true, above: html`${sharedNotice(budget, leave)}`, below: undefined };
}

/** The invitations that wait for the reader. */
export async function invitationsOf(context: Context, visitor: Visitor): Promise<Content> {
  const { items } = await listInvitations(context, visitor.caller, { limit: all });
  return items.length > 0 && html`<div class="sharing">${invitationsCard(visitor, items)}</div>`;
}
