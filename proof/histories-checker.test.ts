import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Operation } from './histories/history.ts';
import { checkLinearizability, type Model } from './histories/linearizability.ts';
import { type ListStep, type ListTransaction, listAnomalies } from './histories/list-append.ts';
import {
  familyModel,
  onceModel,
  type PollInput,
  pollModel,
  sumModel,
  voterModel,
} from './histories/models.ts';

/** A register, as in the papers: writes give true, reads give the value. */
const register: Model<number, { write: number } | 'read', number | true> = {
  initial: 0,
  fingerprint: String,
  next: (value, { input, output }) => (input === 'read' ? (output === value ? [value] : []) : [input.write]),
};

/** `[input, output, from, to]`; without an end the output is unknown. */
type Given<Input, Output> = readonly [Input, Output | undefined, number, number?];

function isLinearizable<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Given<Input, Output>[],
): boolean {
  const operations = history.map(([input, output, invokedAt, returnedAt = Number.POSITIVE_INFINITY]) => {
    return { input, output, invokedAt, returnedAt };
  });
  return checkLinearizability(operations, model).isLinearizable;
}

describe('the checker of linearizability', () => {
  test('accepts reads that overlap a write, in either order', () => {
    const write = [{ write: 1 }, true, 0, 10] as const;
    assert.ok(isLinearizable(register, [write, ['read', 0, 1, 2], ['read', 1, 3, 4]]));
    assert.ok(isLinearizable(register, [write, ['read', 1, 1, 2], ['read', 1, 3, 4]]));
    assert.ok(isLinearizable(register, []));
  });

  test('refuses a stale read, a value from nowhere, and a read that goes back', () => {
    const write = [{ write: 1 }, true, 0, 10] as const;
    assert.ok(!isLinearizable(register, [write, ['read', 0, 11, 12]]));
    assert.ok(!isLinearizable(register, [write, ['read', 2, 1, 2]]));
    assert.ok(!isLinearizable(register, [write, ['read', 1, 1, 2], ['read', 0, 3, 4]]));
  });

  test('lets a write of unknown outcome happen late or never, but not before its call nor twice', () => {
    const write = [{ write: 1 }, undefined, 5] as const;
    assert.ok(isLinearizable(register, [write, ['read', 0, 10, 11]]));
    assert.ok(isLinearizable(register, [write, ['read', 0, 10, 11], ['read', 1, 1_000, 1_001]]));
    assert.ok(!isLinearizable(register, [write, ['read', 1, 1, 2]]));
    const undone = [{ write: 2 }, true, 20, 21] as const;
    const seen = (value: number, from: number) => ['read', value, from, from + 1] as const;
    assert.ok(isLinearizable(register, [write, seen(1, 10), undone, seen(2, 30)]));
    assert.ok(!isLinearizable(register, [write, seen(1, 10), undone, seen(2, 30), seen(1, 40)]));
  });

  test('explains what does not fit', () => {
    const operations = [
      { input: { write: 1 }, output: true, invokedAt: 0, returnedAt: 1 },
      { input: 'read', output: 7, invokedAt: 2, returnedAt: 3 },
    ] as const;
    const verdict = checkLinearizability(operations, register);
    assert.ok(!verdict.isLinearizable);
    assert.match(
      verdict.explanation,
      /^1 of 2 operations fit[\s\S]+which leaves 1; then none of\n {2}"read" gave 7/,
    );
  });

  test('decides a history of a thousand concurrent operations within seconds', () => {
    const operations = sequential(Array.from({ length: 1_000 }, (_, index) => index % 3)).map(widen);
    assert.ok(checkLinearizability(operations, pollModel(3)).isLinearizable);
  });

  test('accepts every sequential execution that clients see with delays', () => {
    fc.assert(
      fc.property(votesAndReads, delays, (steps, early) => {
        const operations = sequential(steps).map((operation, index) => ({
          ...operation,
          invokedAt: operation.invokedAt - (early[index % early.length] ?? 0),
        }));
        assert.ok(checkLinearizability(operations, pollModel(3)).isLinearizable);
      }),
    );
  });

  test('refuses an execution in which one acknowledged vote is lost or doubled, however wide', () => {
    fc.assert(
      fc.property(votesAndReads, fc.nat(), fc.boolean(), (steps, which, isDoubled) => {
        const operations = sequential([...steps, 0, 3]);
        const votes = operations.filter(({ input }) => 'vote' in input);
        const chosen = votes[which % votes.length] as (typeof operations)[number];
        const last = operations.at(-1) as (typeof operations)[number];
        const wrong = operations.map(widen).filter((_, index) => isDoubled || operations[index] !== chosen);
        if (isDoubled && 'vote' in chosen.input) {
          const counts = [...(last.output as number[])];
          counts[chosen.input.vote] = (counts[chosen.input.vote] ?? 0) + 1;
          wrong[wrong.length - 1] = { ...last, output: counts };
        }
        assert.ok(!checkLinearizability(wrong, pollModel(3)).isLinearizable);
      }),
    );
  });
});

type PollOperation = Operation<PollInput, 'counted' | readonly number[]>;

/** 0 to 2 are votes on these choices, 3 is a read. */
const votesAndReads = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 40 });
const delays = fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 });

/** Carries the steps out one after another, 10 ms each. */
function sequential(steps: readonly number[]): PollOperation[] {
  const votes = [0, 0, 0];
  return steps.map((step, index) => {
    const times = { invokedAt: index * 10, returnedAt: index * 10 + 5 };
    if (step === 3) return { input: { read: true }, output: [...votes], ...times };
    votes[step] = (votes[step] ?? 0) + 1;
    return { input: { vote: step }, output: 'counted', ...times };
  });
}

/** Overlaps its neighbors, except for the last. */
function widen(operation: PollOperation, index: number, all: readonly PollOperation[]): PollOperation {
  const isLast = index === all.length - 1;
  return { ...operation, returnedAt: operation.returnedAt + (isLast ? 0 : 12) };
}

describe('the model', () => {
  test('of a voter refuses two counted votes, and a refusal before any', () => {
    const vote = (output: 'counted' | 'duplicate' | undefined, at: number) =>
      ['vote', output, at, output && at + 5] as const;
    assert.ok(isLinearizable(voterModel, [vote('counted', 0), vote('duplicate', 1), vote('duplicate', 2)]));
    assert.ok(isLinearizable(voterModel, [vote(undefined, 0), vote('duplicate', 1)]));
    assert.ok(isLinearizable(voterModel, [vote(undefined, 0), vote('counted', 1)]));
    assert.ok(!isLinearizable(voterModel, [vote('counted', 0), vote('counted', 1)]));
    assert.ok(!isLinearizable(voterModel, [vote('duplicate', 0)]));
    assert.ok(!isLinearizable(voterModel, [vote('duplicate', 0), vote('counted', 10)]));
  });

  test('of a poll refuses a vote that counts twice, also one of unknown outcome', () => {
    const read = (votes: number[], at: number) => [{ read: true }, votes, at, at + 1] as const;
    const unknown = [{ vote: 1 }, undefined, 0] as const;
    assert.ok(isLinearizable(pollModel(2), [unknown, read([0, 0], 5), read([0, 1], 7)]));
    assert.ok(!isLinearizable(pollModel(2), [unknown, read([0, 2], 5)]));
    assert.ok(!isLinearizable(pollModel(2), [unknown, read([0, 1], 5), read([0, 0], 7)]));
    assert.ok(!isLinearizable(pollModel(2), [unknown, read([1, 0], 5)]));
  });

  test('of refresh tokens has one winner, a leeway, and an end after a replay', () => {
    const model = familyModel('a', { leewayMs: 10_000, retryMs: 0 });
    const won = [{ refresh: 'a' }, { token: 'b' }, 0, 5] as const;
    const lost = [{ refresh: 'a' }, 'refused', 1, 6] as const;
    const use = (output: 'accepted' | 'refused', at: number) => [{ use: true }, output, at, at + 1] as const;
    assert.ok(isLinearizable(model, [won, lost, use('accepted', 10)]));
    assert.ok(!isLinearizable(model, [won, [{ refresh: 'a' }, { token: 'c' }, 1, 6]]));
    assert.ok(!isLinearizable(model, [lost]));
    assert.ok(!isLinearizable(model, [won, lost, use('refused', 10)]));
    const late = [{ refresh: 'a' }, 'refused', 20_000, 20_005] as const;
    assert.ok(isLinearizable(model, [won, late, use('refused', 20_010)]));
    assert.ok(!isLinearizable(model, [won, late, use('accepted', 20_010)]));
    const next = [{ refresh: 'b' }, { token: 'c' }, 10, 15] as const;
    const old = [{ refresh: 'a' }, 'refused', 20, 25] as const;
    assert.ok(
      isLinearizable(model, [won, next, old, use('refused', 30), [{ refresh: 'c' }, 'refused', 40, 41]]),
    );
    assert.ok(!isLinearizable(model, [won, next, old, use('accepted', 30)]));
    assert.ok(!isLinearizable(model, [won, next, old, [{ refresh: 'c' }, { token: 'd' }, 40, 41]]));
    const unheard = [{ refresh: 'a' }, undefined, 0] as const;
    assert.ok(isLinearizable(model, [unheard, [{ refresh: 'a' }, 'refused', 10, 15], use('accepted', 30)]));
    const retrying = familyModel('a', { leewayMs: 10_000, retryMs: 5_000 });
    const again = (token: string, at: number) => [{ refresh: 'a' }, { token }, at, at + 5] as const;
    assert.ok(isLinearizable(retrying, [won, again('b', 1), next]));
    assert.ok(
      isLinearizable(retrying, [
        unheard,
        again('b', 10),
        again('b', 20),
        [{ refresh: 'b' }, { token: 'c' }, 30, 35],
      ]),
    );
    assert.ok(!isLinearizable(retrying, [won, again('c', 1)]));
    assert.ok(!isLinearizable(retrying, [unheard, again('b', 10), again('c', 20)]));
    assert.ok(!isLinearizable(retrying, [won, [{ refresh: 'a' }, 'refused', 10, 15]]));
    assert.ok(!isLinearizable(retrying, [won, again('b', 5_010)]));
    assert.ok(!isLinearizable(retrying, [won, next, again('b', 20)]));
    assert.ok(
      isLinearizable(retrying, [
        won,
        [{ refresh: 'a' }, 'refused', 6_000, 6_005],
        [{ refresh: 'b' }, { token: 'c' }, 6_010, 6_015],
      ]),
    );
  });

  test('of an Idempotency-Key creates once, also if no client heard of it', () => {
    const sent = (id: string, at: number) => [{ send: 'x' }, { id }, at, at + 5] as const;
    const found = (ids: readonly string[], at: number) => [{ find: true }, ids, at, at + 1] as const;
    assert.ok(
      isLinearizable(onceModel, [
        [{ send: 'x' }, undefined, 0],
        sent('1', 3),
        sent('1', 10),
        found(['1'], 20),
      ]),
    );
    assert.ok(isLinearizable(onceModel, [sent('1', 0), [{ send: 'y' }, 'conflict', 10, 11]]));
    assert.ok(!isLinearizable(onceModel, [sent('1', 0), sent('2', 10)]));
    assert.ok(!isLinearizable(onceModel, [sent('1', 0), found([], 10)]));
    assert.ok(!isLinearizable(onceModel, [sent('1', 0), found(['1', '2'], 10)]));
    assert.ok(!isLinearizable(onceModel, [[{ send: 'y' }, 'conflict', 10, 11]]));
  });

  test('of a sum counts each amount once', () => {
    const add = (amount: number, id: string, at: number) => [{ add: amount }, { id }, at, at + 5] as const;
    const read = (sum: number, at: number) => [{ read: true }, { sum }, at, at + 1] as const;
    assert.ok(
      isLinearizable(sumModel, [
        add(5, 'a', 0),
        add(7, 'b', 1),
        read(12, 10),
        [{ add: 3 }, undefined, 0],
        read(15, 20),
      ]),
    );
    const remove = [{ remove: 'a', amount: 5 }, 'removed', 10, 15] as const;
    assert.ok(isLinearizable(sumModel, [add(5, 'a', 0), remove, read(0, 20)]));
    assert.ok(!isLinearizable(sumModel, [add(5, 'a', 0), remove, read(5, 20)]));
    assert.ok(
      !isLinearizable(sumModel, [add(5, 'a', 0), remove, [{ remove: 'a', amount: 5 }, 'removed', 16, 17]]),
    );
    assert.ok(!isLinearizable(sumModel, [[{ add: 3 }, undefined, 0], read(6, 20)]));
  });
});

/** A transaction of one or more steps: `x+1` appends 1 to x, `x=1,2` reads x. */
function transaction(
  name: string,
  steps: string,
  times: readonly [number, number] = [0, 100],
): ListTransaction {
  const parsed = steps.split(' ').map((step): ListStep => {
    const [, list = '', kind, rest = ''] = /^(\w)([+=])(.*)$/.exec(step) ?? [];
    if (kind === '+') return { list, append: rest };
    return { list, read: rest === '' ? [] : rest.split(',') };
  });
  return { name, outcome: 'ok', invokedAt: times[0], returnedAt: times[1], steps: parsed };
}

describe('the checker of lists', () => {
  test('accepts a list that grows, seen by several readers', () => {
    assert.deepEqual(
      listAnomalies([
        transaction('T1', 'x+1', [0, 10]),
        transaction('T2', 'x+2', [5, 20]),
        transaction('R1', 'x=', [1, 4]),
        transaction('R2', 'x=1', [6, 12]),
        transaction('R3', 'x=1,2', [21, 30]),
        { ...transaction('T3', 'x+3', [22, 25]), outcome: 'unknown' },
      ]),
      [],
    );
  });

  for (const [what, history, expected] of [
    ['an element from nowhere', [transaction('R', 'x=1')], /which no client appended/],
    ['an element twice', [transaction('T', 'x+1'), transaction('R', 'x=1,1')], /twice/],
    [
      'an element of a failed transaction',
      [{ ...transaction('T', 'x+1'), outcome: 'failed' as const }, transaction('R', 'x=1')],
      /G1a/,
    ],
    [
      'two orders',
      [
        transaction('T1', 'x+1'),
        transaction('T2', 'x+2'),
        transaction('R1', 'x=1,2'),
        transaction('R2', 'x=2,1'),
      ],
      /contradicts another read/,
    ],
    [
      'a read that misses what was acknowledged',
      [transaction('T', 'x+1', [0, 1]), transaction('R', 'x=', [2, 3])],
      /^G-single-realtime: T -rt-> R -rw-> T$/,
    ],
    [
      'a read that goes back',
      [transaction('T', 'x+1', [0, 9]), transaction('R1', 'x=1', [1, 2]), transaction('R2', 'x=', [3, 4])],
      /^G-single-realtime/,
    ],
    [
      'appends of one transaction in another order',
      [transaction('T', 'x+1 x+2'), transaction('R', 'x=2,1')],
      /another order/,
    ],
    [
      'appends against their order in time',
      [transaction('T1', 'x+1', [0, 1]), transaction('T2', 'x+2', [2, 3]), transaction('R', 'x=2,1', [4, 5])],
      /^G0-realtime/,
    ],
    [
      'writes that are half before and half after another (G0)',
      [transaction('T1', 'x+1 y+1'), transaction('T2', 'x+2 y+2'), transaction('R', 'x=1,2 y=2,1')],
      /^G0: T1 -ww-> T2 -ww-> T1$/,
    ],
    [
      'two transactions that read each other (G1c)',
      [transaction('T1', 'x+1 y=2'), transaction('T2', 'y+2 x=1')],
      /^G1c: T1 -wr-> T2 -wr-> T1$/,
    ],
    [
      'half of a transaction (G-single)',
      [transaction('T', 'x+1 y+1'), transaction('R', 'x=1 y=')],
      /^G-single: T -wr-> R -rw-> T$/,
    ],
    [
      'write skew (G2)',
      [transaction('T1', 'x= y+1'), transaction('T2', 'y= x+1'), transaction('R', 'x=1 y=1', [200, 300])],
      /^G2: T1 -rw-> T2 -rw-> T1$/,
    ],
  ] as const)
    test(`refuses ${what}`, () => assert.match(listAnomalies(history)[0] ?? 'none', expected));

  test('accepts generated executions, and refuses them if two elements of a read change places', () => {
    const step = fc.record({ list: fc.constantFrom('x', 'y'), isRead: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 30 }), (plan) => {
        const history = executed(plan);
        assert.deepEqual(listAnomalies(history), []);
        const swapped = history.map(({ steps, ...rest }) => ({ ...rest, steps: steps.map(swapLast) }));
        const reads = history.flatMap(({ steps }) =>
          steps.filter((each) => 'read' in each && each.read.length > 1),
        );
        if (reads.length > 0) assert.notDeepEqual(listAnomalies(swapped), []);
      }),
    );
  });
});

/** Carries transactions out one after another; clients see them overlap. */
function executed(plan: readonly (readonly { list: string; isRead: boolean }[])[]): ListTransaction[] {
  const lists: Record<string, string[]> = { x: [], y: [] };
  let element = 0;
  return plan.map((steps, index) => ({
    name: `T${index}`,
    outcome: 'ok',
    invokedAt: index * 10,
    returnedAt: index * 10 + 5,
    steps: steps.map(({ list, isRead }): ListStep => {
      if (isRead) return { list, read: [...(lists[list] ?? [])] };
      lists[list]?.push(String(++element));
      return { list, append: String(element) };
    }),
  }));
}

function swapLast(step: ListStep): ListStep {
  if (!('read' in step) || step.read.length < 2) return step;
  const [last = '', before = ''] = [step.read.at(-1), step.read.at(-2)];
  return { ...step, read: [...step.read.slice(0, -2), last, before] };
}
