import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createChannel, createClient, Metadata, Status } from 'nice-grpc';
import { HealthDefinition } from 'nice-grpc-server-health';
import { startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';
import { SocketClient } from '../testing-sockets.ts';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const serving = 1;
const notServing = 2;

test('whatever is held open ends when the service stops, and says why', async () => {
  const service = await startBudgets();
  const alice = await service.person();
  const { id } = await alice.create('/api/budgets', { name: 'Open', limit: 1 });
  const authorization = `Bearer ${alice.token}`;
  const stream = await fetch(`${service.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'subscription { notificationAdded { seq } }' }),
  });
  const live = new SocketClient(`${service.url}/ws`, { headers: { authorization } });
  assert.equal((await live.next()).type, 'ready');
  const page = (await signedInClient(service, alice)).open('/notifications/stream');
  const channel = createChannel(`127.0.0.1:${service.grpcPort}`);
  const metadata = Metadata({ authorization });
  const budget = createClient(BudgetServiceDefinition, channel).watchBudget({ id }, { metadata });
  const watch = budget[Symbol.asyncIterator]();
  await watch.next();
  const health = createClient(HealthDefinition, channel).watch({ service: 'budget.v1.BudgetService' });
  const statuses = health[Symbol.asyncIterator]();
  assert.equal((await statuses.next()).value?.status, serving);
  const stopped = service[Symbol.asyncDispose]();
  assert.equal((await statuses.next()).value?.status, notServing);
  await assert.rejects(statuses.next(), { code: Status.UNAVAILABLE });
  await assert.rejects(watch.next(), { code: Status.UNAVAILABLE });
  assert.match(await stream.text(), /event: error\ndata: \[\{"message":"The service is stopping\./);
  assert.equal(await live.closed, 1001);
  assert.equal((await page).status, 200);
  channel.close();
  await stopped;
});
