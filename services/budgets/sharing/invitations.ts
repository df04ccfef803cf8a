import { AppError, notFound } from '@octavo/core';
import type { Page, PageRequest } from '@octavo/web/rest';
import { type Budget, enter, readableBudget, viewOf } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { pageOf } from '../edges/paging.ts';
import { tellOwner } from './members.ts';
import { type Invitation, toInvitation } from './sharing.ts';
import { answerInvitation, insertMember, invitationFor, shownNameOf, waitingFor } from './store.ts';

/** The invitations that wait for the caller, whose address must be verified; the newest first. */
export async function listInvitations(
  { db, clock }: Context,
  { owner: account }: Caller,
  page: PageRequest,
): Promise<Page<Invitation>> {
  return pageOf(await waitingFor(db, { account, nowMs: clock.now() }), page, toInvitation);
}

/** Accepts an invitation, and returns the budget. Throws `not_found`, or `conflict` if it was answered before. */
export function acceptInvitation(context: Context, caller: Caller, id: string): Promise<Budget> {
  return runCommand(context, caller, async (transaction) => {
    const { session, actor, nowMs } = transaction;
    const invitation = await requireInvitation(transaction, id);
    const { owner, budget, budget_id, email, role } = invitation;
    // The budget is written, so its account is locked.
    enter(transaction, { owner }, 'read');
    if (!(await answerInvitation(session, { id, state: 'accepted' }))) throw answered();
    await insertMember(session, { account: actor, owner, budget, id, email, role, created_at_ms: nowMs });
    const username = await shownNameOf(session, actor);
    const accepted = await readableBudget(session, actor, budget_id);
    await tellOwner(transaction, { budget: accepted, username, deed: 'joined' });
    return viewOf(session, accepted, nowMs);
  });
}

/** Declines an invitation. Throws `not_found`, or `conflict` if it was answered before. */
export function declineInvitation(
  context: Context,
  caller: Caller,
  id: string,
): Promise<{ id: string; message: string }> {
  return runCommand(context, caller, async (transaction) => {
    await requireInvitation(transaction, id);
    if (!(await answerInvitation(transaction.session, { id, state: 'declined' }))) throw answered();
    return { message: 'Invitation declined', id };
  });
}

async function requireInvitation({ session, actor, nowMs }: AccountTransaction, id: string) {
  const invitation = await invitationFor(session, { account: actor, nowMs, id });
  if (!invitation) throw notFound('invitation', id);
  if (invitation.state !== 'pending') throw answered();
  return invitation;
}

function answered(): AppError {
  return new AppError('conflict', 'This invitation was answered already.');
}
