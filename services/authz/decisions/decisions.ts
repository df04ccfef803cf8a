import type { Log } from '@octavo/core';
import { newId } from '@octavo/core';
import { Counter, type Registry } from 'prom-client';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { type AccessRequest, decide, defaultDeny, type Verdict } from './access.ts';
import type { Policies } from './policies.ts';

export interface Decision extends Verdict {
  readonly decisionId: string;
}

export interface DecisionsOptions {
  readonly accounts: Accounts;
  readonly policies: Policies;
  readonly log: Log;
  readonly metrics: Registry;
  /** Returns true while a session that began at the OpenID provider lasts; undefined without a provider. */
  readonly hasSession?: ((key: string) => Promise<boolean>) | undefined;
}

const ended: Verdict = { allowed: false, reason: 'TOKEN_STALE', policy: defaultDeny };

const outcomes = { '': 'denied', ROLE: 'denied', MFA_REQUIRED: 'mfa_required', TOKEN_STALE: 'token_stale' };

/** Decides, and records it: each decision has an id, a log line and a count in the metric. */
export class Decisions {
  readonly #options: DecisionsOptions;
  readonly #counter: Counter<'policy' | 'outcome'>;

  constructor(options: DecisionsOptions) {
    this.#options = options;
    this.#counter = new Counter({
      name: 'authz_decisions_total',
      help: 'Access decisions by the policy that made them and their outcome',
      labelNames: ['policy', 'outcome'],
      registers: [options.metrics],
    });
  }

  async decide(request: AccessRequest): Promise<Decision> {
    const { accounts, hasSession } = this.#options;
    const account = await accounts.byUid(request.uid);
    const { sessionKey } = request;
    const hasEnded = sessionKey !== undefined && !(await hasSession?.(sessionKey));
    const verdict = hasEnded ? ended : this.#verdict(account, request);
    const decision = { ...verdict, decisionId: newId() };
    this.#record(decision, account, request);
    return decision;
  }

  /** Decides a request; one that cannot be evaluated is denied. */
  #verdict(account: Account | undefined, request: AccessRequest): Verdict {
    try {
      return decide(this.#options.policies.evaluate, account, request);
    } catch (error) {
      this.#options.log.error({ err: error, request }, 'access policies could not be evaluated');
      return { allowed: false, reason: 'ROLE', policy: defaultDeny };
    }
  }

  #record(decision: Decision, account: Account | undefined, request: AccessRequest): void {
    const { decisionId, policy, allowed, reason } = decision;
    const outcome = allowed ? 'allowed' : outcomes[reason];
    const { uid, username, mfaVerified, resourceType: resource, action } = request;
    const subject = { uid, username, role: account?.role, mfaVerified };
    const { version } = this.#options.policies;
    this.#counter.inc({ policy, outcome });
    this.#options.log.info(
      { decisionId, subject, resource, action, outcome, policy, policies: version },
      'access decision',
    );
  }
}
