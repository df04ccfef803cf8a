import type { Account, Role } from './account.ts';

export const resourceTypes = ['post', 'export', 'ml', 'admin'] as const;
export type ResourceType = (typeof resourceTypes)[number];

export const actions = ['read', 'write', 'delete'] as const;
export type Action = (typeof actions)[number];

export const defaultDeny = 'default-deny';

export interface AccessRequest {
  readonly uid: number;
  readonly username: string;
  readonly mfaVerified: boolean;
  readonly resourceType: string;
  readonly action: string;
}

/** Everything that a policy may look at. */
export interface AccessQuery {
  readonly uid: number;
  readonly username: string;
  readonly role: Role;
  readonly mfaVerified: boolean;
  readonly resourceType: ResourceType;
  readonly action: Action;
}

/** Whether the policies allow it, and the id of the policy that decided. */
export interface PolicyDecision {
  readonly allowed: boolean;
  readonly policy: string;
}

export interface Verdict extends PolicyDecision {
  readonly reason: '' | 'MFA_REQUIRED' | 'ROLE';
}

const denial: Verdict = { allowed: false, reason: 'ROLE', policy: defaultDeny };

/**
 * Decides by the stored account, not by the claim: a missing or disabled account, or one with another name, is denied
 * before any policy is evaluated.
 */
export function decide(
  evaluate: (query: AccessQuery) => PolicyDecision,
  account: Account | undefined,
  request: AccessRequest,
): Verdict {
  const query = queryOf(account, request);
  if (!query) return denial;
  const decision = evaluate(query);
  if (decision.allowed) return { ...decision, reason: '' };
  const confirmed = query.mfaVerified ? decision : evaluate({ ...query, mfaVerified: true });
  if (confirmed.allowed) return { allowed: false, reason: 'MFA_REQUIRED', policy: confirmed.policy };
  return { allowed: false, reason: 'ROLE', policy: decision.policy };
}

function queryOf(account: Account | undefined, request: AccessRequest): AccessQuery | undefined {
  if (!account || account.disabled) return undefined;
  if (account.uid !== request.uid || account.username !== request.username) return undefined;
  const resourceType = resourceTypes.find((known) => known === request.resourceType);
  const action = actions.find((known) => known === request.action);
  if (!resourceType || !action) return undefined;
  const { uid, username, role } = account;
  return { uid, username, role, mfaVerified: request.mfaVerified, resourceType, action };
}
