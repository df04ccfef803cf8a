import type { Operation } from './history.ts';
import type { Model } from './linearizability.ts';

/** A poll: votes that count, and reads of the counters, in order of the choices. */
export type PollInput = { readonly vote: number } | { readonly read: true };
export type PollOutput = 'counted' | readonly number[];

export function pollModel(choices: number): Model<readonly number[], PollInput, PollOutput> {
  return {
    initial: Array.from({ length: choices }, () => 0),
    fingerprint: (votes) => `votes ${votes}`,
    next(votes, { input, output }) {
      if ('read' in input) return String(output) === String(votes) ? [votes] : [];
      return [votes.with(input.vote, (votes[input.vote] ?? 0) + 1)];
    },
  };
}

/** The votes of one voter, of which one counts. */
export const voterModel: Model<boolean, 'vote', 'counted' | 'duplicate'> = {
  initial: false,
  fingerprint: (hasVoted) => (hasVoted ? 'has voted' : 'has not voted'),
  next: (hasVoted, { output }) =>
    output === undefined || hasVoted === (output === 'duplicate') ? [true] : [],
};

/** A family of refresh tokens: exchanges, which give the next token, and uses of its access tokens. */
export type FamilyInput = { readonly refresh: string } | { readonly use: true };
/** The next token, or whether an access token was accepted. */
export type FamilyOutput = { readonly token: string } | 'refused' | 'accepted';

interface Family {
  /** Tokens in the order of generations. `?` is one whose client never learned it. */
  readonly tokens: readonly string[];
  /** Bounds of the time of the last rotation. */
  readonly rotatedAfter: number;
  readonly rotatedBefore: number;
  readonly isRevoked: boolean;
}

/**
 * The rules of rotation. Until the retry time is over, the predecessor of the active token gives the active token again;
 * after that and until the leeway is over, it is only refused.
 */
export function familyModel(
  firstToken: string,
  { leewayMs, retryMs }: { readonly leewayMs: number; readonly retryMs: number },
): Model<Family, FamilyInput, FamilyOutput> {
  const nowhere = Number.NEGATIVE_INFINITY;
  return {
    initial: { tokens: [firstToken], rotatedAfter: nowhere, rotatedBefore: nowhere, isRevoked: false },
    fingerprint: ({ tokens, isRevoked, rotatedAfter }) => `${tokens.join()} ${rotatedAfter} ${isRevoked}`,
    next(family, operation) {
      const { input, output } = operation;
      if ('use' in input) return (output === 'refused') === family.isRevoked ? [family] : [];
      if (family.isRevoked) return output === undefined || output === 'refused' ? [family] : [];
      const age = family.tokens.length - 1 - family.tokens.indexOf(input.refresh);
      if (age === 0) return output === 'refused' ? [] : [rotated(family, operation)];
      const isMaybeWithin = (ms: number) => operation.invokedAt - family.rotatedBefore <= ms;
      const isMaybeAfter = (ms: number) => operation.returnedAt - family.rotatedAfter > ms;
      if (typeof output === 'object')
        return age === 1 && isMaybeWithin(retryMs) ? toldAgain(family, output.token) : [];
      const revoked = { ...family, isRevoked: true };
      if (age > 1) return [revoked];
      const isSpared = isMaybeWithin(leewayMs) && (output === undefined || isMaybeAfter(retryMs));
      return [...(isSpared ? [family] : []), ...(isMaybeAfter(leewayMs) ? [revoked] : [])];
    },
  };
}

/** The active token is given again, maybe to the first client that hears of it. */
function toldAgain(family: Family, token: string): Family[] {
  const active = family.tokens.at(-1);
  return active === '?' || active === token ? [{ ...family, tokens: family.tokens.with(-1, token) }] : [];
}

function rotated(family: Family, operation: Operation<FamilyInput, FamilyOutput>): Family {
  const { output, invokedAt, returnedAt } = operation;
  const next = typeof output === 'object' ? output.token : '?';
  return { ...family, tokens: [...family.tokens, next], rotatedAfter: invokedAt, rotatedBefore: returnedAt };
}

/** A request that is sent with one Idempotency-Key, again and again, and reads of what it created. */
export type OnceInput = { readonly send: string } | { readonly find: true };
/** The id that was created, a refusal because the key belongs to another request, or the ids that were found. */
export type OnceOutput = { readonly id: string } | 'conflict' | readonly string[];

interface Once {
  /** The request that the key belongs to. */
  readonly request: string | undefined;
  /** Undefined while no client has learned it. */
  readonly id: string | undefined;
}

export const onceModel: Model<Once, OnceInput, OnceOutput> = {
  initial: { request: undefined, id: undefined },
  fingerprint: ({ request, id }) => `${request} ${id}`,
  next(once, { input, output }) {
    const isOther = (id: string | undefined) => once.id !== undefined && once.id !== id;
    if ('find' in input) {
      const [id, ...more] = output as readonly string[];
      if (more.length > 0 || (id === undefined) !== (once.request === undefined) || isOther(id)) return [];
      return [{ ...once, id }];
    }
    const belongs = once.request === undefined || once.request === input.send;
    if (output === undefined) return [belongs ? { ...once, request: input.send } : once];
    if (output === 'conflict') return belongs ? [] : [once];
    const { id } = output as { id: string };
    return belongs && !isOther(id) ? [{ request: input.send, id }] : [];
  },
};

/** A sum of amounts that are added and removed. */
export type SumInput =
  | { readonly add: number }
  | { readonly remove: string; readonly amount: number }
  | { readonly read: true };
/** The id of an amount, the sum, or whether there was something to remove. */
export type SumOutput = { readonly id: string } | { readonly sum: number } | 'removed' | 'missing';

interface Sum {
  readonly sum: number;
  readonly removed: readonly string[];
}

export const sumModel: Model<Sum, SumInput, SumOutput> = {
  initial: { sum: 0, removed: [] },
  fingerprint: ({ sum, removed }) => `${sum} without ${removed.join()}`,
  next(state, { input, output }) {
    if ('read' in input) return (output as { sum: number }).sum === state.sum ? [state] : [];
    if ('add' in input) return [{ ...state, sum: state.sum + input.add }];
    const isRemoved = state.removed.includes(input.remove);
    if (output === 'missing') return isRemoved ? [state] : [];
    if (isRemoved) return output === undefined ? [state] : [];
    return [{ sum: state.sum - input.amount, removed: [...state.removed, input.remove].sort() }];
  },
};
