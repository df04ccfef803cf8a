import { AppError, newOrderedId, notFound } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { Page, PageRequest } from '@octavo/web/rest';
import { type AccessedBudget, accessTo, readableBudget } from '../budgets/index.ts';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { pageOf } from '../edges/paging.ts';
import { invalid } from '../edges/schema-parser.ts';
import { forgetShared, notify } from '../notifications/index.ts';
import type { Store } from '../store/tables.ts';
import { type Member, type MemberEntry, type MemberInput, type MemberPatch, toMember } from './sharing.ts';
import {
  addressOf,
  countInvitations,
  deleteMember,
  insertInvitation,
  membersOf,
  pendingOf,
  setInvitationRole,
  setMemberRole,
  withdrawInvitationOf,
} from './store.ts';

const dayMs = 24 * 3_600_000;
export const invitationMs = 7 * dayMs;
/** Members and pending invitations of one budget. */
const membersMax = 20;
/** Invitations of one account within a day, since each is a mail to an address that it chooses. */
const perDayMax = 20;

/** Dependencies of the commands that send mails. */
export interface Sharing {
  readonly context: Context;
  /** Mails an invitation. */
  mail(id: string): Promise<void>;
}

/**
 * Invites the account with an address, now or later, to a budget of the caller. The result is the same whether or not there is such an
 * account. An invitation of the same address that waits is replaced.
 */
export async function inviteMember(
  { context, mail }: Sharing,
  caller: Caller,
  budgetId: string,
  given: MemberInput,
): Promise<Member> {
  const email = normalizeEmail(given.email);
  if (email === undefined) throw invalid({ email: 'must be an e-mail address' });
  const member = await runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const budget = await accessTo(transaction, budgetId, 'own');
    if ((await addressOf(session, owner)) === email) throw invalid({ email: 'is your own address' });
    const entries = await entriesOf(session, budget, nowMs);
    if (entries.some((entry) => entry.account !== null && entry.email === email))
      throw new AppError('conflict', 'The budget is shared with this address already.', {
        fields: { email: 'is a member already' },
      });
    if (entries.filter((entry) => entry.email !== email).length >= membersMax)
      throw new AppError('conflict', `A budget can have at most ${membersMax} members and invitations.`);
    await refuseTooMany(transaction);
    await withdrawInvitationOf(session, { owner, budgetId, email });
    const entry = {
      id: newOrderedId(),
      email,
      role: given.role,
      created_at_ms: nowMs,
      expires_at_ms: nowMs + invitationMs,
    };
    await insertInvitation(session, { ...entry, owner, budget_id: budgetId });
    return toMember({ ...entry, account: null, user_id: null, username: null });
  });
  await mail(member.id);
  return member;
}

async function refuseTooMany({ session, owner, nowMs }: AccountTransaction): Promise<void> {
  if ((await countInvitations(session, { owner, sinceMs: nowMs - dayMs })) < perDayMax) return;
  throw new AppError('rate_limited', `You can invite at most ${perDayMax} people within a day.`, {
    retryAfterSeconds: 3_600,
  });
}

/** The members of a budget and its pending invitations, the newest first. Others than the owner see their own membership only. */
export async function listMembers(
  { db, clock }: Context,
  { owner }: Caller,
  budgetId: string,
  page: PageRequest,
): Promise<Page<Member>> {
  const entries = await visibleEntries(db, { account: owner, budgetId, nowMs: clock.now() });
  return pageOf(entries, page, toMember);
}

/** One member or pending invitation. Throws `not_found`. */
export async function getMember(
  { db, clock }: Context,
  { owner }: Caller,
  { budgetId, id }: MemberPlace,
): Promise<Member> {
  return toMember(
    requireEntry(await visibleEntries(db, { account: owner, budgetId, nowMs: clock.now() }), id),
  );
}

interface MemberPlace {
  readonly budgetId: string;
  readonly id: string;
}

/** Changes the role of a member or an invitation. Only the owner may. */
export function updateMember(
  context: Context,
  caller: Caller,
  { budgetId, id }: MemberPlace,
  { role }: MemberPatch,
): Promise<Member> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const budget = await accessTo(transaction, budgetId, 'own');
    const entry = requireEntry(await entriesOf(session, budget, nowMs), id);
    const { account } = entry;
    if (account === null) await setInvitationRole(session, { id, role });
    else await setMemberRole(session, { owner, budget: budget.number, account, role });
    return toMember({ ...entry, role });
  });
}

/** Ends a membership or withdraws an invitation: the owner any, a member their own. */
export function removeMember(
  context: Context,
  caller: Caller,
  { budgetId, id }: MemberPlace,
): Promise<{ id: string; message: string }> {
  return runCommand(context, caller, async (transaction) => {
    const { session, owner, actor, nowMs } = transaction;
    const budget = await accessTo(transaction, budgetId, 'read');
    const entries = await entriesOf(session, budget, nowMs);
    const { account, email, username } = requireEntry(visibleTo(actor, budget, entries), id);
    if (account === null) {
      await withdrawInvitationOf(session, { owner, budgetId, email });
      return { message: 'Invitation withdrawn', id };
    }
    await deleteMember(session, { owner, budget: budget.number, account });
    await forgetShared(session, { owner: account, budget: budget.number });
    if (actor !== owner) await tellOwner(transaction, { budget, username, deed: 'left' });
    return { message: 'Member removed', id };
  });
}

interface Membership {
  readonly budget: Pick<AccessedBudget, 'number' | 'owner' | 'name'>;
  readonly username: string | null;
  readonly deed: 'joined' | 'left';
}

/** Sends the owner of a budget a message about a member. */
export function tellOwner(
  transaction: AccountTransaction,
  { budget: { number, owner, name }, username, deed }: Membership,
): Promise<void> {
  const title = `Member ${deed}`;
  const message = `${username ?? 'A member'} ${deed} ${name}.`;
  const news = { type: 'message', title, message, data: { title, message } } as const;
  return notify(transaction, news, { number, owner, shared: 0 });
}

async function visibleEntries(
  session: Store,
  { account, budgetId, nowMs }: { account: number; budgetId: string; nowMs: number },
): Promise<MemberEntry[]> {
  const budget = await readableBudget(session, account, budgetId);
  return visibleTo(account, budget, await entriesOf(session, budget, nowMs));
}

function visibleTo(account: number, budget: AccessedBudget, entries: readonly MemberEntry[]): MemberEntry[] {
  return entries.filter((entry) => budget.owner === account || entry.account === account);
}

async function entriesOf(session: Store, budget: AccessedBudget, nowMs: number): Promise<MemberEntry[]> {
  const { owner, number, id: budgetId } = budget;
  return [
    ...(await pendingOf(session, { owner, budgetId, nowMs })),
    ...(await membersOf(session, { owner, budget: number })),
  ];
}

function requireEntry(entries: readonly MemberEntry[], id: string): MemberEntry {
  const entry = entries.find((each) => each.id === id);
  if (!entry) throw notFound('member', id);
  return entry;
}
