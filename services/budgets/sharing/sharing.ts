import { isoTime, type Static, Type } from '@octavo/core';
import { createParser } from '../edges/schema-parser.ts';
import { Id, Instant, nullable, Person } from '../edges/schemas.ts';
import type { MemberRow } from '../store/tables.ts';

export const memberRoles = ['viewer', 'editor'] as const;

const email = Type.String({ maxLength: 254, format: 'text', examples: ['bob@example.com'] });
const role = Type.Enum(memberRoles, {
  description:
    'A viewer reads the budget and its expenses; an editor also adds, changes and imports expenses',
});

export const MemberInput = Type.Object({ email, role }, { title: 'MemberInput' });
export type MemberInput = Static<typeof MemberInput>;

export const MemberPatch = Type.Object({ role }, { title: 'MemberPatch' });
export type MemberPatch = Static<typeof MemberPatch>;

/** Parse input that does not come through a route with the schema. They throw `validation_failed`. */
export const parseMemberInput = createParser(MemberInput);
export const parseMemberPatch = createParser(MemberPatch);

/** A person with whom a budget is shared, or an invitation that is not accepted yet. */
export const Member = Type.Object(
  {
    id: Id,
    email,
    role,
    state: Type.Enum(['pending', 'accepted']),
    user: Type.Union([Person, Type.Null()], { description: 'Null until the invitation is accepted' }),
    createdAt: Instant,
    expiresAt: nullable(Type.String({ ...Instant, description: 'End of an invitation, after 7 days' })),
  },
  { title: 'Member' },
);
export type Member = Static<typeof Member>;

/** An invitation as the invited person sees it. */
export const Invitation = Type.Object(
  {
    id: Id,
    budgetId: Id,
    budgetName: Type.String({ examples: ['Groceries'] }),
    role,
    invitedBy: Person,
    createdAt: Instant,
    expiresAt: Instant,
  },
  { title: 'Invitation' },
);
export type Invitation = Static<typeof Invitation>;

/** A member or a pending invitation in the database. */
export interface MemberEntry {
  readonly id: string;
  readonly email: string;
  readonly role: MemberRow['role'];
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  /** The number and id of the account; null for invitations. */
  readonly account: number | null;
  readonly user_id: string | null;
  readonly username: string | null;
}

export function toMember(row: MemberEntry): Member {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    state: row.account === null ? 'pending' : 'accepted',
    user: row.user_id === null ? null : { id: row.user_id, username: row.username },
    createdAt: isoTime(row.created_at_ms),
    expiresAt: row.expires_at_ms === null ? null : isoTime(row.expires_at_ms),
  };
}

export interface InvitationEntry {
  readonly id: string;
  readonly owner: number;
  readonly budget_id: string;
  readonly budget_name: string;
  readonly role: MemberRow['role'];
  readonly owner_id: string;
  readonly owner_username: string | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
}

export function toInvitation(row: InvitationEntry): Invitation {
  return {
    id: row.id,
    budgetId: row.budget_id,
    budgetName: row.budget_name,
    role: row.role,
    invitedBy: { id: row.owner_id, username: row.owner_username },
    createdAt: isoTime(row.created_at_ms),
    expiresAt: isoTime(row.expires_at_ms),
  };
}
