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
export interface Question {
  readonly uid: number;
  readonly username: string;
  readonly role: Role;
  readonly mfaVerified: boolean;
  readonly resourceType: ResourceType;
  readonly action: Action;
}

/** What the policies say, and which one of them said it. */
export interface Answer {
  readonly allowed: boolean;
  readonly policy: string;
}

export interface Verdict extends Answer {
  readonly reason: '' | 'MFA_REQUIRED' | 'ROLE';
}

const denial: Verdict = { allowed: false, reason: 'ROLE', policy: defaultDeny };

/**
 * May this account do that? The account decides, not the claim: without one, with another name or disabled, no policy
 * is asked.
 */
export function decide(
  evaluate: (question: Question) => Answer,
  account: Account | undefined,
  request: AccessRequest,
): Verdict {
  const question = questionOf(account, request);
  if (!question) return denial;
  const answer = evaluate(question);
  if (answer.allowed) return { ...answer, reason: '' };
  const confirmed = question.mfaVerified ? answer : evaluate({ ...question, mfaVerified: true });
  if (confirmed.allowed) return { allowed: false, reason: 'MFA_REQUIRED', policy: confirmed.policy };
  return { allowed: false, reason: 'ROLE', policy: answer.policy };
}

function questionOf(account: Account | undefined, request: AccessRequest): Question | undefined {
  if (!account || account.disabled) return undefined;
  if (account.uid !== request.uid || account.username !== request.username) return undefined;
  const resourceType = resourceTypes.find((known) => known === request.resourceType);
  const action = actions.find((known) => known === request.action);
  if (!resourceType || !action) return undefined;
  const { uid, username, role } = account;
  return { uid, username, role, mfaVerified: request.mfaVerified, resourceType, action };
}
