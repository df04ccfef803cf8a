import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { assertError, claimsOf, password, startTokens, type TestTokens } from '../testing.ts';

const email = 'alice@example.com';
const newPassword = 'gulls over the quay';

const protectedRoutes: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/auth/me'],
  ['GET', '/auth/sessions'],
  ['DELETE', '/auth/sessions/5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b'],
  ['POST', '/auth/logout-all'],
  ['POST', '/auth/change-password', { currentPassword: password, newPassword }],
  ['PUT', '/auth/email', { newEmail: 'new@example.com', password }],
  ['DELETE', '/auth/account', { password }],
  ['POST', '/auth/account/deletion', { password }],
];

function assertMessage(response: TestResponse, message: string): void {
  assert.deepEqual([response.status, response.json], [200, { message }]);
}

function changePassword(service: TestTokens, token: string, body: object = {}) {
  return service.post('/auth/change-password', { currentPassword: password, newPassword, ...body }, token);
}

function changeEmail(service: TestTokens, token: string, body: object = {}) {
  return service.call('PUT', '/auth/email', {
    body: { newEmail: 'new@example.com', password, ...body },
    token,
  });
}

test('the profile is what was registered', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const { status, json } = await service.get('/auth/me', accessToken);
  assert.equal(status, 200);
  assert.deepEqual(json, { id: claimsOf(accessToken).sub, email, createdAt: '2026-01-01T00:00:00.000Z' });
  assert.match(json.id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('a missing or malformed token is MISSING_TOKEN', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  for (const [method, path, body] of protectedRoutes) {
    assertError(await service.call(method, path, { body }), 401, 'MISSING_TOKEN');
    for (const authorization of [
      'Bearer',
      'Basic YTpi',
      `Bearer  ${accessToken}`,
      `Bearer ${accessToken} x`,
      `bearer${accessToken}`,
      accessToken,
      `Token ${accessToken}`,
    ]) {
      assertError(
        await service.call(method, path, { body, headers: { authorization } }),
        401,
        'MISSING_TOKEN',
      );
    }
    assertError(await service.call(method, path, { body, token: 'x' }), 401, 'INVALID_TOKEN');
  }
  const lower = { headers: { authorization: `bEARER ${accessToken}` } };
  assert.equal((await service.call('GET', '/auth/me', lower)).status, 200);
});

test('logout-all ends every session immediately', async () => {
  await using service = await startTokens();
  const pairs = [await service.register(email), await service.login(email), await service.login(email)];
  const bob = await service.register('bob@example.com');
  assertMessage(
    await service.post('/auth/logout-all', undefined, pairs[0]?.accessToken),
    'All sessions revoked successfully',
  );
  for (const { accessToken, refreshToken } of pairs) {
    assertError(await service.get('/auth/me', accessToken), 401, 'INVALID_TOKEN');
    assertError(await service.post('/auth/refresh', { refreshToken }), 401, 'INVALID_TOKEN');
  }
  assert.equal((await service.get('/auth/me', bob.accessToken)).status, 200);
  await service.login(email);
});

test('sessions are listed and ended one by one', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  service.clock.advance(60_000);
  const second = await service.login(email);
  const { sessions } = (await service.get('/auth/sessions', second.accessToken)).json;
  assert.deepEqual(
    sessions.map(({ id, current }: { id: string; current: boolean }) => [id, current]),
    [
      [claimsOf(second.accessToken).sid, true],
      [claimsOf(first.accessToken).sid, false],
    ],
  );
  assert.deepEqual(Object.keys(sessions[0]), [
    'id',
    'current',
    'createdAt',
    'lastUsedAt',
    'expiresAt',
    'address',
    'userAgent',
  ]);
  assert.equal(sessions[0].createdAt, '2026-01-01T00:01:00.000Z');
  assert.equal(sessions[0].expiresAt, '2026-01-08T00:01:00.000Z');
  assert.equal(sessions[0].address, '127.0.0.1');
  const path = `/auth/sessions/${claimsOf(first.accessToken).sid}`;
  const bob = await service.register('bob@example.com');
  assertError(await service.call('DELETE', path, { token: bob.accessToken }), 404, 'NOT_FOUND');
  assertMessage(
    await service.call('DELETE', path, { token: second.accessToken }),
    'Session revoked successfully',
  );
  assertError(await service.call('DELETE', path, { token: second.accessToken }), 404, 'NOT_FOUND');
  assertError(await service.get('/auth/me', first.accessToken), 401, 'INVALID_TOKEN');
});

test('changing the password ends all sessions, including the current one', async () => {
  await using service = await startTokens();
  const { accessToken, refreshToken } = await service.register(email);
  const other = await service.login(email);
  assertMessage(await changePassword(service, accessToken), 'Password changed successfully');
  for (const token of [accessToken, other.accessToken]) {
    assertError(await service.get('/auth/me', token), 401, 'INVALID_TOKEN');
  }
  assertError(await service.post('/auth/refresh', { refreshToken }), 401, 'INVALID_TOKEN');
  assertError(await service.post('/auth/login', { email, password }), 401, 'INVALID_CREDENTIALS');
  await service.login(email, newPassword);
});

test('changing the password requires the current one and a different, acceptable new one', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  assertError(
    await changePassword(service, accessToken, { currentPassword: 'x' }),
    401,
    'INVALID_CREDENTIALS',
  );
  assertError(
    await changePassword(service, accessToken, { newPassword: 'password123' }),
    400,
    'WEAK_PASSWORD',
  );
  assertError(await changePassword(service, accessToken, { newPassword: password }), 400, 'WEAK_PASSWORD');
  assertError(await changePassword(service, accessToken, { newPassword: '' }), 400, 'INVALID_INPUT');
  assertError(await changePassword(service, accessToken, { currentPassword: 7 }), 400, 'INVALID_INPUT');
  assert.equal((await service.get('/auth/me', accessToken)).status, 200);
});

test('one of two simultaneous password changes wins', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const responses = await Promise.all(
    ['gulls over one quay', 'gulls over two quays'].map((each) =>
      changePassword(service, accessToken, { newPassword: each }),
    ),
  );
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 401]);
});

test('a sign-in with the old password during a change does not survive the change', async () => {
  await using service = await startTokens({ environment: { ARGON2_MEMORY_KIB: '4096' } });
  const { accessToken } = await service.register(email);
  const changing = changePassword(service, accessToken);
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => service.post('/auth/login', { email, password })),
  );
  assertMessage(await changing, 'Password changed successfully');
  for (const { json } of responses.filter(({ status }) => status === 200)) {
    assertError(await service.get('/auth/me', json.tokens.accessToken), 401, 'INVALID_TOKEN');
  }
});

test('changing the address moves the account and keeps the sessions', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  assertMessage(
    await changeEmail(service, accessToken, { newEmail: ' New@Example.com ' }),
    'Email updated successfully',
  );
  assert.equal((await service.get('/auth/me', accessToken)).json.email, 'new@example.com');
  assertError(await service.post('/auth/login', { email, password }), 401, 'INVALID_CREDENTIALS');
  await service.login('new@example.com');
  await service.register(email);
  assertMessage(await changeEmail(service, accessToken), 'Email updated successfully');
});

test('changing the address requires the password and an address that is free', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  await service.register('bob@example.com');
  assertError(await changeEmail(service, accessToken, { newEmail: 'bob' }), 400, 'INVALID_EMAIL');
  assertError(await changeEmail(service, accessToken, { newEmail: '' }), 400, 'INVALID_INPUT');
  assertError(await changeEmail(service, accessToken, { password: 'x' }), 401, 'INVALID_CREDENTIALS');
  assertError(
    await changeEmail(service, accessToken, { newEmail: 'BOB@example.com' }),
    409,
    'DUPLICATE_EMAIL',
  );
  await service.login(email);
});

test('one of several users who want the same address at once gets it', async () => {
  await using service = await startTokens();
  const emails = Array.from({ length: 8 }, (_, index) => `user${index}@example.com`);
  const pairs = await Promise.all(emails.map((each) => service.register(each)));
  const responses = await Promise.all([
    ...pairs.map(({ accessToken }) => changeEmail(service, accessToken)),
    service.post('/auth/register', { email: 'new@example.com', password }),
  ]);
  assert.equal(responses.filter(({ status }) => status === 200 || status === 201).length, 1);
  assert.equal(responses.filter(({ status }) => status === 409).length, 8);
});

test('deleting an account ends its tokens and frees its address', async () => {
  await using service = await startTokens();
  for (const [method, path] of [
    ['DELETE', '/auth/account'],
    ['POST', '/auth/account/deletion'],
  ] as const) {
    const { accessToken: token, refreshToken } = await service.register(email);
    assertError(
      await service.call(method, path, { body: { password: 'x' }, token }),
      401,
      'INVALID_CREDENTIALS',
    );
    assertError(await service.call(method, path, { token }), 400, 'INVALID_INPUT');
    assertError(await service.call(method, path, { body: {}, token }), 400, 'INVALID_INPUT');
    assertMessage(
      await service.call(method, path, { body: { password }, token }),
      'Account deleted successfully',
    );
    for (const [guardedMethod, guardedPath, body] of protectedRoutes) {
      assertError(await service.call(guardedMethod, guardedPath, { body, token }), 404, 'USER_NOT_FOUND');
    }
    assertError(await service.post('/auth/refresh', { refreshToken }), 404, 'USER_NOT_FOUND');
    assertError(await service.post('/auth/login', { email, password }), 401, 'INVALID_CREDENTIALS');
  }
  assert.equal(await service.metric('tokens_users'), 0);
  assert.equal(await service.metric('tokens_sessions'), 0);
});

test('one of several simultaneous deletions succeeds', async () => {
  await using service = await startTokens();
  const { accessToken: token } = await service.register(email);
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => service.call('DELETE', '/auth/account', { body: { password }, token })),
  );
  assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  for (const response of responses) if (response.status !== 200) assertError(response, 404, 'USER_NOT_FOUND');
});
