import { sql } from 'kysely';
import { shownName } from '../store/shown-name.ts';
import type { InvitationRow, MemberRow, Store } from '../store/tables.ts';
import type { MemberEntry } from './sharing.ts';

interface OfBudget {
  readonly owner: number;
  readonly budget: number;
}

/** The members of a budget, the newest first. */
export function membersOf({ kysely }: Store, { owner, budget }: OfBudget): Promise<MemberEntry[]> {
  return kysely
    .selectFrom('budget_member as m')
    .innerJoin('account as a', 'a.number', 'm.account')
    .select(['m.id', 'm.email', 'm.role', 'm.created_at_ms', sql<null>`NULL`.as('expires_at_ms')])
    .select(['m.account', 'a.id as user_id', shownName('a').as('username')])
    .where('m.owner', '=', owner)
    .where('m.budget', '=', budget)
    .orderBy('m.created_at_ms', 'desc')
    .orderBy('m.id', 'desc')
    .execute();
}

interface OfBudgetId {
  readonly owner: number;
  readonly budgetId: string;
  readonly nowMs: number;
}

/** The invitations to a budget that can be accepted, the newest first. */
export function pendingOf({ kysely }: Store, { owner, budgetId, nowMs }: OfBudgetId): Promise<MemberEntry[]> {
  return kysely
    .selectFrom('budget_invitation')
    .select(['id', 'email', 'role', 'created_at_ms', 'expires_at_ms'])
    .select([sql<null>`NULL`.as('account'), sql<null>`NULL`.as('user_id'), sql<null>`NULL`.as('username')])
    .where('owner', '=', owner)
    .where('budget_id', '=', budgetId)
    .where('state', '=', 'pending')
    .where('expires_at_ms', '>', nowMs)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .execute();
}

/** Counts the invitations of an account since a time, whatever became of them. */
export async function countInvitations(
  { kysely }: Store,
  { owner, sinceMs }: { owner: number; sinceMs: number },
): Promise<number> {
  const { total } = await kysely
    .selectFrom('budget_invitation')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .where('created_at_ms', '>', sinceMs)
    .executeTakeFirstOrThrow();
  return total;
}

export function insertInvitation(
  { kysely }: Store,
  row: Omit<InvitationRow, 'state' | 'sent_at_ms'>,
): Promise<unknown> {
  return kysely
    .insertInto('budget_invitation')
    .values({ ...row, state: 'pending', sent_at_ms: null })
    .execute();
}

/** Withdraws the invitation of an address to a budget, if there is one. */
export function withdrawInvitationOf(
  { kysely }: Store,
  { owner, budgetId, email }: { owner: number; budgetId: string; email: string },
): Promise<unknown> {
  return kysely
    .updateTable('budget_invitation')
    .set({ state: 'withdrawn' })
    .where('owner', '=', owner)
    .where('budget_id', '=', budgetId)
    .where('email', '=', email)
    .where('state', '=', 'pending')
    .execute();
}

/** The invitations that an account with a verified address may answer or has answered, with their budgets and owners. */
function invitationsFor({ kysely }: Store, { account, nowMs }: { account: number; nowMs: number }) {
  return kysely
    .selectFrom('account as me')
    .innerJoin('budget_invitation as i', 'i.email', 'me.email')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'i.owner').onRef('b.id', '=', 'i.budget_id'),
    )
    .innerJoin('account as a', 'a.number', 'i.owner')
    .select(['i.id', 'i.owner', 'i.budget_id', 'i.email', 'i.role', 'i.state'])
    .select(['i.created_at_ms', 'i.expires_at_ms', 'b.number as budget', 'b.name as budget_name'])
    .select(['a.id as owner_id', shownName('a').as('owner_username')])
    .where('me.number', '=', account)
    .where('me.email_verified', '=', 1)
    .where('a.erased_at_ms', 'is', null)
    .where('i.owner', '!=', account)
    .where('i.expires_at_ms', '>', nowMs)
    .orderBy('i.created_at_ms', 'desc')
    .orderBy('i.id', 'desc');
}

/** The invitations that wait for an account, the newest first. */
export function waitingFor(store: Store, given: { account: number; nowMs: number }) {
  return invitationsFor(store, given).where('i.state', '=', 'pending').execute();
}

/** An invitation of an account, unless it was withdrawn. */
export function invitationFor(store: Store, given: { account: number; nowMs: number; id: string }) {
  return invitationsFor(store, given)
    .where('i.id', '=', given.id)
    .where('i.state', '!=', 'withdrawn')
    .executeTakeFirst();
}

/** Answers an invitation. Of several answers at once, one changes a row. */
export async function answerInvitation(
  { kysely }: Store,
  { id, state }: Pick<InvitationRow, 'id' | 'state'>,
): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('budget_invitation')
    .set({ state })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Adds a member; one that is there has the role of the later invitation. */
export async function insertMember({ kysely }: Store, row: MemberRow): Promise<void> {
  const { owner, budget, id, email, role } = row;
  await kysely
    .insertInto('budget_member')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['account', 'owner', 'budget']).doUpdateSet({ id, email, role }),
    )
    .execute();
  await kysely
    .updateTable('budget')
    .set({ shared: 1 })
    .where('owner', '=', owner)
    .where('number', '=', budget)
    .execute();
}

export function setMemberRole(
  { kysely }: Store,
  { owner, budget, account, role }: Pick<MemberRow, 'owner' | 'budget' | 'account' | 'role'>,
): Promise<unknown> {
  return kysely
    .updateTable('budget_member')
    .set({ role })
    .where('owner', '=', owner)
    .where('budget', '=', budget)
    .where('account', '=', account)
    .execute();
}

export function setInvitationRole(
  { kysely }: Store,
  { id, role }: Pick<InvitationRow, 'id' | 'role'>,
): Promise<unknown> {
  return kysely
    .updateTable('budget_invitation')
    .set({ role })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute();
}

export function deleteMember(
  { kysely }: Store,
  { owner, budget, account }: Pick<MemberRow, 'owner' | 'budget' | 'account'>,
): Promise<unknown> {
  return kysely
    .deleteFrom('budget_member')
    .where('owner', '=', owner)
    .where('budget', '=', budget)
    .where('account', '=', account)
    .execute();
}

/** The address of an account. */
export async function addressOf({ kysely }: Store, account: number): Promise<string | undefined> {
  const found = await kysely
    .selectFrom('account')
    .select('email')
    .where('number', '=', account)
    .executeTakeFirst();
  return found?.email;
}

/** The name of an account for those who share a budget with it. */
export async function shownNameOf({ kysely }: Store, account: number): Promise<string | null> {
  const found = await kysely
    .selectFrom('account')
    .select(shownName('account').as('username'))
    .where('number', '=', account)
    .executeTakeFirst();
  return found?.username ?? null;
}

// Mails

/** An invitation that can be accepted, with its budget and the name of who invites. */
export function invitationToMail({ kysely }: Store, { id, nowMs }: { id: string; nowMs: number }) {
  return kysely
    .selectFrom('budget_invitation as i')
    .innerJoin('budget as b', (join) =>
      join.onRef('b.owner', '=', 'i.owner').onRef('b.id', '=', 'i.budget_id'),
    )
    .innerJoin('account as a', 'a.number', 'i.owner')
    .select(['i.id', 'i.email', 'i.role', 'i.created_at_ms', 'b.name as budget_name'])
    .select(['a.username', 'a.email as owner_email'])
    .where('i.id', '=', id)
    .where('i.state', '=', 'pending')
    .where('i.sent_at_ms', 'is', null)
    .where('i.expires_at_ms', '>', nowMs)
    .executeTakeFirst();
}

export function markMailed({ kysely }: Store, id: string, nowMs: number): Promise<unknown> {
  return kysely.updateTable('budget_invitation').set({ sent_at_ms: nowMs }).where('id', '=', id).execute();
}

/** Invitations whose mail was not sent, although they were made some time ago. */
export function unsentInvitations({ kysely }: Store, beforeMs: number, nowMs: number) {
  return kysely
    .selectFrom('budget_invitation')
    .select('id')
    .where(sql<boolean>`sent_at_ms IS NULL AND state = 'pending'`)
    .where('created_at_ms', '<', beforeMs)
    .where('expires_at_ms', '>', nowMs)
    .limit(100)
    .execute();
}

export function deleteExpiredInvitations({ kysely }: Store, nowMs: number): Promise<unknown> {
  return kysely
    .deleteFrom('budget_invitation')
    .where('id', 'in', (eb) =>
      eb.selectFrom('budget_invitation').select('id').where('expires_at_ms', '<', nowMs).limit(1_000),
    )
    .execute();
}
