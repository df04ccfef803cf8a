import type { Content } from '@octavo/web/html';
import { html, linkButton } from '@octavo/web/html';
import { accountAddress, addressOf } from '../authentication/index.ts';
import type { Budget } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import { dialogLink } from '../site/views.ts';
import { listInvitations } from './invitations.ts';
import { listMembers } from './members.ts';
import type { Member } from './sharing.ts';
import { invitationsCard, sharedLead, verifyNotice } from './views.ts';

/** More than a budget can have. */
const all = 100;

/** The members of a budget that the caller may see. */
export async function allMembers(context: Context, caller: Caller, budgetId: string): Promise<Member[]> {
  return [...(await listMembers(context, caller, budgetId, { limit: all })).items];
}

interface SharingOfBudget {
  /** True if others see the budget too. */
  readonly isShared: boolean;
  /** Words about the owner and the rights of the reader; undefined for the owner. */
  readonly lead: string | undefined;
  /** The link to the members, or the one to leave. */
  readonly action: Content;
}

/** Parts of the head of the page of a budget. */
export async function sharingOfBudget(
  context: Context,
  visitor: Visitor,
  budget: Budget,
): Promise<SharingOfBudget> {
  const members = await allMembers(context, visitor.caller, budget.id);
  if (budget.role === 'owner') {
    const accepted = members.filter(({ state }) => state === 'accepted').length;
    const invited = members.length - accepted;
    const label = accepted > 0 ? `Shared with ${accepted}` : invited > 0 ? `${invited} invited` : 'Share';
    const action = linkButton(pathOf(pageRoutes.members, budget.id), label);
    return { isShared: accepted > 0, lead: undefined, action };
  }
  const [own] = members;
  const leave = pathOf(pageRoutes.removeMember, budget.id).replace(':member', own?.id ?? '');
  return { isShared: true, lead: sharedLead(budget), action: dialogLink(leave, 'Leave') };
}

/** Asks an account whose address is not verified to verify it, with the same words whether or not an invitation waits. */
export async function verifyToSeeInvitations(
  context: Context,
  visitor: Visitor,
  back: string,
): Promise<Content> {
  const account = await accountAddress(context, visitor.caller);
  const email = addressOf(account);
  return !account.isVerified && email !== undefined && verifyNotice(visitor, { email, back });
}

/** The invitations that wait for the reader, or the notice that the address has to be verified first. */
export async function invitationsOf(context: Context, visitor: Visitor): Promise<Content> {
  const notice = await verifyToSeeInvitations(context, visitor, pageRoutes.budgets);
  if (notice) return notice;
  const { items } = await listInvitations(context, visitor.caller, { limit: all });
  return items.length > 0 && html`<div class="sharing">${invitationsCard(visitor, items)}</div>`;
}
