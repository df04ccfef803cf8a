import assert from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import { after, mock, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { startPolls } from './testing.ts';

// The checks of roles run by an interval, which the tests move on.
mock.timers.enable({ apis: ['setInterval'] });
const provider = await TestProvider.start();
provider.person = 'ann';
provider.people.set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] });
const polls = await startPolls({ environment: provider.settingsFor('polls') });
provider.addClient('polls', polls.url);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  mock.timers.reset();
});

const list = '/admin/polls/question/';
/** Status codes with a name (RFC 9110 and the registry of IANA), some that proxies made up, and with `LONG_TESTS=1` all others. */
const known = [...Object.keys(STATUS_CODES).map(Number), 420, 440, 460, 499, 520, 521, 530, 561, 599];
const statuses = Array.from({ length: 200 }, (_, index) => 400 + index).filter(
  (status) => process.env.LONG_TESTS || known.includes(status),
);
const json = (error: string) => JSON.stringify({ error, error_description: 'for the tests' });
const page = '<html><title>No backend</title></html>';
/** Errors of RFC 6749, 7009, 8628, 8693, 8707, 9396, 9449 and OpenID Connect. */
const errors = [
  'invalid_request',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'temporarily_unavailable',
  'server_error',
  'access_denied',
  'unsupported_token_type',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'invalid_target',
  'invalid_authorization_details',
  'invalid_dpop_proof',
  'use_dpop_nonce',
  'login_required',
  'interaction_required',
  'consent_required',
  'invalid_token',
  'insufficient_scope',
  'INVALID_GRANT',
  'invalid_grants',
];

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly type?: string;
}

const silences: readonly Answer[] = [
  ...statuses.map((status) => (status % 2 ? { status, body: page } : oauth(status, 'slow_down'))),
  ...errors.map((error, index) => oauth(index % 2 ? 400 : 401, error)),
  { status: 429 },
  { status: 404 },
  { status: 200, body: page },
  { status: 200, body: '{', type: 'application/json' },
  { status: 200, body: '{}', type: 'application/json' },
  { status: 204 },
  { status: 400, body: json('invalid_grant'), type: 'text/html' },
  { status: 500, body: json('invalid_grant'), type: 'application/json' },
];

function oauth(status: number, error: string): Answer {
  return { status, body: json(error), type: 'application/json' };
}

async function signedIn(): Promise<Walker> {
  const walker = new Walker(new PageClient(polls.url));
  mock.timers.tick(1_000);
  assert.equal((await walker.signIn(list)).location, list);
  return walker;
}

async function isStaff({ client }: Walker): Promise<boolean> {
  for (;;) {
    const { status } = await client.open(list);
    if (status !== 503) return status === 200;
    // The interval by which the service measures its own delay stands still between ticks.
    mock.timers.tick(1_000);
  }
}

/** Lets the service ask for the roles again, with this answer. */
async function ask(answer: Answer | undefined): Promise<void> {
  const asked = Promise.withResolvers<true>();
  provider.faults.answer = (path) => {
    if (path !== '/token') return undefined;
    asked.resolve(true);
    return answer;
  };
  for (let tries = 0; ; tries++) {
    assert.ok(tries < 2_000, `the session is gone before ${JSON.stringify(answer)}`);
    // The round before may not have ended yet, which counts as one of the time at which it began.
    if (tries % 10 === 0) polls.clock.advance(31_000);
    mock.timers.tick(30_000);
    if (await Promise.race([asked.promise, wait(5)])) return;
  }
}

test('a session goes on whatever the token endpoint answers, and ends with invalid_grant', async () => {
  const ann = await signedIn();
  polls.clock.advance(4 * 60_000);
  for (const [index, answer] of silences.entries()) {
    await ask(answer);
    // Roles last an hour without a word of the provider.
    if (index % 20 === 19) {
      await ask(undefined);
      polls.clock.advance(4 * 60_000);
      assert.equal(await isStaff(ann), true, `after ${JSON.stringify(answer)}`);
    }
  }
  await ask(undefined);
  assert.equal(await isStaff(ann), true);
  for (const status of [400, 403]) {
    provider.faults = {};
    const again = await signedIn();
    polls.clock.advance(5 * 60_000);
    await ask(oauth(status, 'invalid_grant'));
    for (let tries = 0; await isStaff(again); tries++) assert.ok(tries < 500, String(status));
  }
});
