import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Pair, startTokens, type TestTokens } from './testing.ts';

/**
 * Runs random sequences of what users and thieves do, and compares the service with a small model: every response must match, and
 * at the end every token that was ever issued is tried.
 */

const emails = ['alice@example.com', 'bob@example.com', 'charlie@example.com'];
const passwords = ['ferries wait in fog', 'gulls over the quay', 'ropes dry in the sun'];

interface ModelUser {
  email: string;
  password: string;
  isDeleted: boolean;
}

interface ModelSession {
  readonly user: ModelUser;
  readonly startMs: number;
  generation: number;
  rotatedMs: number;
  endMs: number;
  isRevoked: boolean;
}

interface Held {
  readonly pair: Pair;
  readonly session: ModelSession;
  readonly generation: number;
  readonly issuedMs: number;
}

class Model {
  readonly users: ModelUser[] = [];
  readonly held: Held[] = [];
  readonly failures = new Map<string, { count: number; lockedUntilMs: number; lastMs: number }>();
  readonly confirmations = new Map<ModelUser, { count: number; lockedUntilMs: number; lastMs: number }>();

  find(email: string): ModelUser | undefined {
    return this.users.find((user) => !user.isDeleted && user.email === email);
  }

  /** The status that the access token of a pair gets. */
  access({ session, issuedMs }: Held, nowMs: number): number {
    if (nowMs >= issuedMs + 900_000) return 401;
    if (session.user.isDeleted) return 404;
    return session.isRevoked || nowMs >= session.endMs ? 401 : 200;
  }

  refresh({ session, generation, issuedMs }: Held, nowMs: number): number {
    if (nowMs >= issuedMs + 604_800_000 || nowMs >= session.startMs + 2_592_000_000) return 401;
    if (session.user.isDeleted) return 404;
    if (session.isRevoked || nowMs >= session.endMs) return 401;
    if (generation === session.generation) return 200;
    const isRace = generation === session.generation - 1 && nowMs - session.rotatedMs <= 10_000;
    if (!isRace) session.isRevoked = true;
    return 401;
  }

  revokeAll(user: ModelUser): void {
    for (const { session } of this.held) if (session.user === user) session.isRevoked = true;
  }

  /** A password attempt under a key: the status, with the failure counted. */
  attempt<K>(
    locks: Map<K, { count: number; lockedUntilMs: number; lastMs: number }>,
    key: K,
    { isRight, nowMs }: { isRight: boolean; nowMs: number },
  ): 200 | 401 | 423 {
    const lock = locks.get(key) ?? { count: 0, lockedUntilMs: 0, lastMs: 0 };
    if (nowMs < lock.lockedUntilMs) return 423;
    if (nowMs - lock.lastMs >= 900_000) Object.assign(lock, { count: 0, lockedUntilMs: 0 });
    if (isRight) {
      locks.delete(key);
      return 200;
    }
    lock.count++;
    lock.lastMs = nowMs;
    if (lock.count === 5) lock.lockedUntilMs = nowMs + 900_000;
    locks.set(key, lock);
    return 401;
  }
}

type Command = fc.AsyncCommand<Model, TestTokens>;

function command(name: string, run: (model: Model, service: TestTokens) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

/** An item of the list, chosen by a number. */
function pick<T>(list: readonly T[], choice: number): T | undefined {
  return list.length === 0 ? undefined : list[choice % list.length];
}

function hold(model: Model, user: ModelUser, { pair, nowMs }: { pair: Pair; nowMs: number }): void {
  const session = {
    user,
    startMs: nowMs,
    generation: 1,
    rotatedMs: 0,
    endMs: nowMs + 604_800_000,
    isRevoked: false,
  };
  model.held.push({ pair, session, generation: 1, issuedMs: nowMs });
}

const email = fc.constantFrom(...emails);
const password = fc.constantFrom(...passwords);
const choice = fc.nat(1_000);

const register = fc.tuple(email, password).map(([email, password]) =>
  command(`register ${email}`, async (model, service) => {
    const response = await service.post('/auth/register', { email, password });
    assert.equal(response.status, model.find(email) ? 409 : 201);
    if (response.status !== 201) return;
    const user = { email, password, isDeleted: false };
    model.users.push(user);
    hold(model, user, { pair: response.json.tokens, nowMs: service.clock.now() });
  }),
);

const login = fc.tuple(email, password).map(([email, password]) =>
  command(`login ${email} ${password}`, async (model, service) => {
    const nowMs = service.clock.now();
    const user = model.find(email);
    const expected = model.attempt(model.failures, email, { isRight: user?.password === password, nowMs });
    const response = await service.post('/auth/login', { email, password });
    assert.equal(response.status, expected);
    if (user && expected === 200) hold(model, user, { pair: response.json.tokens, nowMs });
  }),
);

const refresh = choice.map((number) =>
  command(`refresh ${number}`, async (model, service) => {
    const held = pick(model.held, number);
    if (!held) return;
    const nowMs = service.clock.now();
    const response = await service.post('/auth/refresh', { refreshToken: held.pair.refreshToken });
    assert.equal(response.status, model.refresh(held, nowMs));
    if (response.status !== 200) return;
    const { session } = held;
    session.generation++;
    session.rotatedMs = nowMs;
    session.endMs = Math.min(nowMs + 604_800_000, session.startMs + 2_592_000_000);
    model.held.push({ pair: response.json.tokens, session, generation: session.generation, issuedMs: nowMs });
  }),
);

const logout = choice.map((number) =>
  command(`logout ${number}`, async (model, service) => {
    const held = pick(model.held, number);
    if (!held) return;
    const response = await service.post('/auth/logout', { refreshToken: held.pair.refreshToken });
    assert.equal(response.status, 200);
    if (service.clock.now() < held.issuedMs + 604_800_000) held.session.isRevoked = true;
  }),
);

const logoutAll = choice.map((number) =>
  command(`logout-all ${number}`, async (model, service) => {
    const held = pick(model.held, number);
    if (!held) return;
    const response = await service.post('/auth/logout-all', undefined, held.pair.accessToken);
    assert.equal(response.status, model.access(held, service.clock.now()));
    if (response.status === 200) model.revokeAll(held.session.user);
  }),
);

type Change = (
  model: Model,
  service: TestTokens,
  held: Held,
) => Promise<{ status: number; expected: number }>;

/** A command that needs a live token and the password once more. */
function confirmed(name: string, change: Change) {
  return command(name, async (model, service) => {
    const held = pick(model.held, Number(name.split(' ').at(-1)));
    if (!held) return;
    const { status, expected } = await change(model, service, held);
    assert.equal(status, expected);
  });
}

function confirmation(model: Model, held: Held, { given, nowMs }: { given: string; nowMs: number }): number {
  const access = model.access(held, nowMs);
  if (access !== 200) return access;
  const { user } = held.session;
  return model.attempt(model.confirmations, user, { isRight: user.password === given, nowMs });
}

const changePassword = fc.tuple(password, password, choice).map(([current, next, number]) =>
  confirmed(`change password ${current} to ${next} ${number}`, async (model, service, held) => {
    const nowMs = service.clock.now();
    const body = { currentPassword: current, newPassword: next };
    const { status } = await service.post('/auth/change-password', body, held.pair.accessToken);
    const access = model.access(held, nowMs);
    if (access === 200 && current === next) return { status, expected: 400 };
    const expected = confirmation(model, held, { given: current, nowMs });
    if (expected === 200) {
      held.session.user.password = next;
      model.revokeAll(held.session.user);
    }
    return { status, expected };
  }),
);

const changeEmail = fc.tuple(password, email, choice).map(([given, newEmail, number]) =>
  confirmed(`change e-mail to ${newEmail} with ${given} ${number}`, async (model, service, held) => {
    const nowMs = service.clock.now();
    const options = { body: { newEmail, password: given }, token: held.pair.accessToken };
    const { status } = await service.call('PUT', '/auth/email', options);
    const expected = confirmation(model, held, { given, nowMs });
    const { user } = held.session;
    const owner = model.find(newEmail);
    if (expected === 200 && owner && owner !== user) return { status, expected: 409 };
    if (expected === 200) user.email = newEmail;
    return { status, expected };
  }),
);

const remove = fc.tuple(password, choice).map(([given, number]) =>
  confirmed(`delete with ${given} ${number}`, async (model, service, held) => {
    const nowMs = service.clock.now();
    const options = { body: { password: given }, token: held.pair.accessToken };
    const { status } = await service.call('DELETE', '/auth/account', options);
    const expected = confirmation(model, held, { given, nowMs });
    if (expected === 200) held.session.user.isDeleted = true;
    return { status, expected };
  }),
);

const wait = fc
  .constantFrom(1, 5_000, 10_000, 10_001, 450_000, 900_000, 86_400_000, 604_800_000)
  .map((ms) => command(`wait ${ms}`, async (_model, service) => service.clock.advance(ms)));

const commands = [
  ...[register, login, login, refresh, refresh, refresh],
  ...[logout, logoutAll, changePassword, changeEmail, remove, wait],
];

test('random sequences of requests behave like the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async (sequence) => {
      await using service = await startTokens();
      const model = new Model();
      await fc.asyncModelRun(() => ({ model, real: service }), sequence);
      const nowMs = service.clock.now();
      for (const held of model.held) {
        const { status } = await service.get('/auth/me', held.pair.accessToken);
        assert.equal(status, model.access(held, nowMs));
      }
    }),
    { numRuns: 100 },
  );
});
