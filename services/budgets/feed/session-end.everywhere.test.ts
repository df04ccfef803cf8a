import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createChannel, createClient, Metadata, Status } from 'nice-grpc';
import { type Person, password, startBudgets } from '../testing.ts';
import { linkTokenOf, nextMail } from '../testing-mails.ts';
import { signedInClient } from '../testing-pages.ts';
import { SocketClient } from '../testing-sockets.ts';

// Each test waits until the service has looked at the sessions, at most every two seconds.
const service = await startBudgets();
const channel = createChannel(`127.0.0.1:${service.grpcPort}`);
after(async () => {
  channel.close();
  await service[Symbol.asyncDispose]();
});

/** End of each kind of idle connection: the code of its protocol, or the last event of a stream. */
interface Endings {
  readonly webSocket: Promise<number>;
  readonly graphqlSocket: Promise<number>;
  readonly graphqlStream: Promise<string>;
  readonly grpc: Promise<Status>;
}

/** Opens every kind of connection that stays open, and resolves when each of them listens. */
async function connect(person: Person): Promise<Endings> {
  const { id } = await person.create('/api/budgets', { name: 'Idle', limit: 1 });
  const authorization = `Bearer ${person.token}`;
  const live = new SocketClient(`${service.url}/ws`, { headers: { authorization } });
  assert.equal((await live.next()).type, 'ready');
  const protocols = ['graphql-transport-ws'];
  const socket = new SocketClient(`${service.url}/api/graphql`, { protocols });
  await socket.opened();
  socket.send({ type: 'connection_init', payload: { authorization } });
  assert.equal((await socket.next()).type, 'connection_ack');
  const query = 'subscription { notificationAdded { seq } }';
  const stream = await fetch(`${service.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const grpc = createClient(BudgetServiceDefinition, channel);
  const watch = grpc.watchBudget({ id }, { metadata: Metadata({ authorization }) })[Symbol.asyncIterator]();
  await watch.next();
  return {
    webSocket: live.closed,
    graphqlSocket: socket.closed,
    graphqlStream: stream.text().then((text) => /event: (\w+\s+data: [^\n]*)\s*$/.exec(text)?.[1] ?? text),
    grpc: watch.next().then(
      () => Status.OK,
      (error: { code: Status }) => error.code,
    ),
  };
}

const sessionEnded =
  'error\ndata: [{"message":"The session has ended. Log in again.","extensions":{"code":"UNAUTHENTICATED"}}]';

async function assertEnded(
  { webSocket, graphqlSocket, graphqlStream, grpc }: Endings,
  code = 4401,
): Promise<void> {
  assert.deepEqual(
    [await webSocket, await graphqlSocket, await graphqlStream, await grpc],
    [code, 4403, sessionEnded, Status.UNAUTHENTICATED],
  );
}

describe('idle connections end with their session', { concurrency: true }, () => {
  let people: Person[] = [];
  before(async () => {
    people = await Promise.all(['alice', 'bob', 'charlie', 'dora'].map((name) => service.person(name)));
  });

  test('by a sign-out, and those of another session stay', async () => {
    const [alice] = people as [Person];
    const other = await service.signIn(alice);
    const [idle, kept] = [await connect(alice), await connect(other)];
    assert.equal((await alice.post('/api/auth/logout')).status, 200);
    await assertEnded(idle);
    const isOpen = await Promise.race([kept.webSocket, kept.grpc, Promise.resolve('open')]);
    assert.equal(isOpen, 'open');
    await other.delete('/api/users/profile', { password });
    await assertEnded(kept);
  });

  test('by a new password', async () => {
    const [, bob] = people as [Person, Person];
    const idle = await connect(bob);
    await nextMail(service, bob.email);
    await service.send('/api/auth/reset-password', { body: { email: bob.email } });
    const token = linkTokenOf(await nextMail(service, bob.email, 2));
    const body = { token, newPassword: 'gulls follow the ferry' };
    assert.equal((await service.send('/api/auth/reset-password', { body })).status, 200);
    await assertEnded(idle);
  });

  test('with their account', async () => {
    const [, , charlie] = people as [Person, Person, Person];
    const idle = await connect(charlie);
    assert.equal((await charlie.delete('/api/users/profile', { password })).status, 200);
    await assertEnded(idle);
  });

  test('the stream of a page, too', async () => {
    const browser = await signedInClient(service, people[3] as Person);
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const stream = await fetch(`${service.url}/notifications/stream`, { headers: { cookie } });
    assert.equal(stream.status, 200);
    await browser.send('/sign-out', {});
    await stream.text();
  });
});

test('idle connections end when their token expires', async () => {
  const alice = await service.person('alice');
  const idle = await connect(alice);
  service.clock.advance(3_600_000);
  await assertEnded(idle);
});
