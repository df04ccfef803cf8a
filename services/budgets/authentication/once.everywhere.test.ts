import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { assertError, password, personOf, startBudgets } from '../testing.ts';
import { linkTokenOf, mailsTo, nextMail } from '../testing-mails.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const send = (action: string, body: unknown, key: string) =>
  app.send(`/api/auth/${action}`, { body, headers: { 'idempotency-key': key } });
const assertReplayed = ({ status, text, headers }: TestResponse, first: TestResponse) => {
  assert.deepEqual([status, text], [first.status, first.text]);
  assert.equal(headers.get('idempotent-replayed'), 'true');
};

test('a registration happens once, and its response comes again with the same token', async () => {
  const body = { email: 'ada@example.com', password, username: 'Ada' };
  const register = () => send('register', body, 'register-ada');
  const [first, atOnce] = await Promise.all([register(), register()]);
  assert.equal(first.status, 201, first.text);
  assert.equal(atOnce.text, first.text);
  app.clock.advance(90_000);
  assertReplayed(await register(), first);
  const ada = personOf(app.send, { id: '', email: body.email, token: first.json.token });
  assert.equal((await ada.get('/api/users/profile')).status, 200);
  await nextMail(app, body.email);
  assert.equal((await mailsTo(app, body.email)).length, 1);
  for (const other of [
    { ...body, password: 'another password' },
    { ...body, email: 'eve@example.com' },
  ])
    assertError(await send('register', other, 'register-ada'), {
      status: 409,
      code: 'CONFLICT',
      field: 'Idempotency-Key',
    });
  assertError(await send('login', body, 'register-ada'), { status: 409, code: 'CONFLICT' });
  assertError(await send('register', body, 'another-key'), { status: 409, code: 'CONFLICT', field: 'email' });
});

test('a login with a key makes one session, and needs the password each time', async () => {
  const bob = await app.person('bob');
  const body = { email: bob.email, password };
  const first = await send('login', body, 'login-bob');
  assert.equal(first.status, 200, first.text);
  assertReplayed(await send('login', body, 'login-bob'), first);
  const wrong = await send('login', { ...body, password: 'wrong password' }, 'login-bob');
  assertError(wrong, { status: 401, code: 'UNAUTHORIZED' });
  const next = await send('login', body, 'login-bob-2');
  assert.notEqual(next.json.token, first.json.token);
  // What it started stays ended.
  const session = personOf(app.send, { ...bob, token: first.json.token });
  assert.equal((await session.post('/api/auth/logout')).status, 200);
  assertReplayed(await send('login', body, 'login-bob'), first);
  assertError(await session.get('/api/users/profile'), { status: 401, code: 'UNAUTHORIZED' });
  app.clock.advance(24 * 3_600_000 + 1);
  const later = await send('login', body, 'login-bob');
  assert.notEqual(later.json.token, first.json.token);
});

test('an account that was erased can be registered again with the same key', async () => {
  const body = { email: 'carol@example.com', password };
  const { json } = await send('register', body, 'register-carol');
  const carol = personOf(app.send, { id: json.user.id, email: body.email, token: json.token });
  assert.equal((await carol.delete('/api/users/profile', { password })).status, 200);
  const again = await send('register', body, 'register-carol');
  assert.equal(again.status, 201);
  assert.notEqual(again.json.user.id, json.user.id);
});

test('a mail is sent once, and its link used once, for any address', async () => {
  const dora = await app.person('dora');
  await nextMail(app, dora.email);
  for (const email of [dora.email, 'nobody@example.com']) {
    const first = await send('reset-password', { email }, `reset-${email}`);
    assert.equal(first.status, 200);
    assertReplayed(await send('reset-password', { email }, `reset-${email}`), first);
    const other = await send('reset-password', { email: `x${email}` }, `reset-${email}`);
    assertError(other, { status: 409, code: 'CONFLICT', field: 'Idempotency-Key' });
  }
  const token = linkTokenOf(await nextMail(app, dora.email, 2));
  const body = { token, newPassword: 'gulls follow the ferry' };
  const reset = await send('reset-password', body, 'new-password');
  assert.equal(reset.status, 200, reset.text);
  assertReplayed(await send('reset-password', body, 'new-password'), reset);
  assertError(await send('reset-password', body, 'other-key'), { status: 400, code: 'VALIDATION_FAILED' });
  assert.equal((await mailsTo(app, dora.email)).length, 2);
});

test('a key that is malformed, or was used by the account for something else, is refused', async () => {
  const body = { email: 'erin@example.com', password };
  assertError(await send('register', body, 'a b'), {
    status: 400,
    code: 'INVALID_INPUT',
    field: 'Idempotency-Key',
  });
  const erin = await app.person('erin');
  const headers = { 'idempotency-key': 'one' };
  assert.equal((await erin.post('/api/customers', { name: 'Ada' }, headers)).status, 201);
  assertError(await erin.post('/api/auth/logout', undefined, headers), { status: 409, code: 'CONFLICT' });
  assert.equal((await erin.post('/api/auth/logout', undefined, { 'idempotency-key': 'two' })).status, 200);
});
