import {
  type Action,
  actions,
  type ResourceType,
  type Role,
  resourceTypes,
  roles,
} from '@octavo/protocols/authz/v1/permissions';
import type { Account } from '../accounts/account.ts';

export const defaultDeny = 'default-deny';

export interface AccessRequest {
  readonly uid: number;
  readonly username: string;
  readonly mfaVerified: boolean;
  /** Time of the token's issue, in seconds since 1970. */
  readonly issuedAt?: number | undefined;
  /** The account's `passwordChangedAtMs` when the token was issued. */
  readonly passwordChangedAtMs?: number | undefined;
  /** The session that the token belongs to, if it began at the OpenID provider. */
  readonly sessionKey?: string | undefined;
  /** The role that an access token of the provider names. */
  readonly providerRole?: string | undefined;
  readonly resourceType: string;
  readonly action: string;
}

/** Stored fields of the account. */
export type AccessAccount = Pick<Account, 'uid' | 'username' | 'role' | 'disabled' | 'passwordChangedAtMs'>;

/** Everything that a policy can look at. */
export interface AccessQuery {
  readonly uid: number;
  readonly username: string;
  readonly role: Role;
  readonly mfaVerified: boolean;
  readonly resourceType: ResourceType;
  readonly action: Action;
}

/** The decision of the policies, and the id of the policy that decided. */
export interface PolicyDecision {
  readonly allowed: boolean;
  readonly policy: string;
}

export interface Verdict extends PolicyDecision {
  readonly reason: '' | 'MFA_REQUIRED' | 'ROLE' | 'TOKEN_STALE';
}

/** Maximum lag of a token issuer's clock behind ours. */
const leewaySeconds = 5;

const denial: Verdict = { allowed: false, reason: 'ROLE', policy: defaultDeny };

/**
 * Decides by the stored account, not by the claim: a missing or disabled account, or one with another name, is denied
 * before any policy is evaluated, and so is a token from before the last change of the password.
 */
export function decide(
  evaluate: (query: AccessQuery) => PolicyDecision,
  account: AccessAccount | undefined,
  request: AccessRequest,
): Verdict {
  if (!isSubject(account, request)) return denial;
  if (isStale(account, request)) return { ...denial, reason: 'TOKEN_STALE' };
  const query = queryOf(account, request);
  if (!query) return denial;
  const decision = evaluate(query);
  if (decision.allowed) return { ...decision, reason: '' };
  const confirmed = query.mfaVerified ? decision : evaluate({ ...query, mfaVerified: true });
  if (confirmed.allowed) return { allowed: false, reason: 'MFA_REQUIRED', policy: confirmed.policy };
  return { allowed: false, reason: 'ROLE', policy: decision.policy };
}

function isSubject(account: AccessAccount | undefined, request: AccessRequest): account is AccessAccount {
  if (!account || account.disabled) return false;
  return account.uid === request.uid && account.username === request.username;
}

/**
 * Times in tokens are in seconds and from another clock, so they cannot tell a token from just before the change from one
 * just after it. The change that the token was issued after can; the time is for tokens that do not have it.
 */
function isStale({ passwordChangedAtMs }: AccessAccount, request: AccessRequest): boolean {
  if (request.passwordChangedAtMs !== undefined) return request.passwordChangedAtMs !== passwordChangedAtMs;
  if (request.issuedAt === undefined) return false;
  return request.issuedAt < Math.floor(passwordChangedAtMs / 1_000) - leewaySeconds;
}

function queryOf(account: AccessAccount, request: AccessRequest): AccessQuery | undefined {
  const resourceType = resourceTypes.find((known) => known === request.resourceType);
  const action = actions.find((known) => known === request.action);
  if (!resourceType || !action) return undefined;
  const { uid, username } = account;
  const role = roles.find((known) => known === request.providerRole) ?? account.role;
  return { uid, username, role, mfaVerified: request.mfaVerified, resourceType, action };
}
