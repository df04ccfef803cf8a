import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type JsMsg, jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { UserEvent } from '@octavo/protocols/budget/v1/events';
import { bearer, sendRequest, testFolder, testMode, until } from '@octavo/testing';
import { natsIsMissing, startTestNats } from '@octavo/testing/engines';
import { password } from './testing.ts';

const { databaseUrl: DATABASE_URL = '' } = await testMode();

interface Published {
  readonly subject: string;
  readonly messageId: string;
  readonly header: (attribute: string) => string;
  readonly event: UserEvent;
}

const skip = natsIsMissing();
const nats = skip === false ? await startTestNats() : undefined;

// In turn: each test goes on with the replicas and the stream that the one before left.
describe('events in NATS', { skip, concurrency: 1 }, () => {
  let environment: Record<string, string>;
  let replicas: Awaited<ReturnType<typeof startProcess>>[];
  let alice: { id: string; token: string };
  const start = () => startProcess('budgets', environment);
  const send = (replica: number, path: string, body?: unknown, method?: string) =>
    sendRequest(`${replicas[replica]?.url}${path}`, { body, method, headers: bearer(alice.token) });

  /** Adds a budget at a replica, changes it at the other, and returns its id once both are acknowledged. */
  async function addBudget(name: string, [first, second] = [0, 1]): Promise<string> {
    const { status, json, text } = await send(first ?? 0, '/api/budgets', { name, limit: 100 });
    assert.equal(status, 201, text);
    const changed = await send(second ?? 0, `/api/budgets/${json.id}`, { limit: 200 }, 'PUT');
    assert.equal(changed.status, 200, changed.text);
    return json.id;
  }

  before(async () => {
    environment = {
      NODE_ENV: 'test',
      LOG_LEVEL: 'fatal',
      OCTAVO_DATA: testFolder('broker'),
      DATABASE_URL,
      NATS_URL: nats?.url ?? '',
      JOB_LEASE_MS: '1000',
      JWT_SECRET: 'the key of the tests, which is long enough',
      GRPC_PORT: '0',
      ARGON2_MEMORY_KIB: '8',
      ARGON2_PASSES: '1',
    };
    replicas = [await start(), await start()];
    const body = { email: 'alice@example.com', password };
    const { json, text } = await sendRequest(`${replicas[0]?.url}/api/auth/register`, { body });
    assert.ok(json?.token, text);
    alice = { id: json.user.id, token: json.token };
  });

  after(() => Promise.all(replicas.map(({ child }) => stopProcess(child))));

  test('have the subject, the id and the headers of the contract', async () => {
    const startedMs = Date.now();
    const { json: budget } = await send(0, '/api/budgets', { name: 'First', limit: 10 });
    const spent = { budgetId: budget.id, description: 'Ferry', amount: 4 };
    const { json: expense, text } = await send(1, '/api/expenses', spent);
    assert.ok(expense?.id, text);
    const [created, added] = await published(2);
    assert.deepEqual(
      [created?.subject, added?.subject],
      ['budgets.budget.created.v1', 'budgets.expense.created.v1'],
    );
    for (const { messageId, header, event } of [created, added] as Published[]) {
      assert.deepEqual([messageId, header('id')], [event.eventId, event.eventId]);
      assert.equal(event.userId, alice.id);
      assert.equal(header('time'), event.occurredAt.replace(/(?<=:\d\d)Z$/, '.000Z'));
      assert.ok(Date.parse(event.occurredAt) >= startedMs - 1_000);
      assert.equal(header('source'), '/octavo/budgets');
      assert.equal(header('datacontenttype'), 'application/protobuf');
    }
    assert.deepEqual([created?.header('type'), created?.header('subject')], ['budget.created.v1', budget.id]);
    assert.equal(added?.header('subject'), expense.id);
    assert.equal(JSON.parse(added?.event.data ?? '').amount, 4);
  });

  test('come once and in order from two replicas that write and publish at the same time', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, index) => addBudget(`Both ${index}`, [index % 2, (index + 1) % 2])),
    );
    assertOnceAndInOrder(await published(42), ids);
  });

  test('committed while NATS is down come once it is back, though their process was killed', async () => {
    await nats?.kill();
    const ids = await Promise.all(Array.from({ length: 10 }, (_, index) => addBudget(`Down ${index}`)));
    await until(async () => {
      const { status, json } = await send(0, '/readiness');
      assert.equal(status, 200);
      return json.integrations?.eventStream !== undefined;
    });
    await Promise.all(replicas.map(({ child }) => stopProcess(child, 'SIGKILL')));
    await nats?.revive();
    replicas = [await start(), await start()];
    assertOnceAndInOrder(await published(62), ids);
    await until(async () => !(await send(0, '/readiness')).json.integrations);
  });

  test('come again, once and in order, when NATS is back empty', async () => {
    await nats?.replace();
    const ids = [await addBudget('After')];
    assertOnceAndInOrder(await published(64), ids);
    const figures = async () => {
      const responses = await Promise.all(replicas.map(({ url }) => sendRequest(`${url}/metrics`)));
      return responses.map(({ text }) => text).join('\n');
    };
    await until(async () => !/outbox_rows_waiting\{reader="publisher"\} [1-9]/.test(await figures()));
    assert.match(await figures(), /events_published_total\{type="budget\.created\.v1"\} \d/);
  });
});

/** Asserts that each event is there once, those of an account in the order of their numbers, and for each budget first its creation. */
function assertOnceAndInOrder(all: readonly Published[], ids: readonly string[]): void {
  assert.deepEqual(
    all.map(({ event }) => event.seq),
    all.map((_, index) => index + 1),
  );
  assert.equal(new Set(all.map(({ messageId }) => messageId)).size, all.length);
  for (const id of ids) {
    const own = all.filter(({ header }) => header('subject') === id).map(({ header }) => header('type'));
    assert.deepEqual(own, ['budget.created.v1', 'budget.updated.v1']);
  }
}

/** Everything in the stream, once it has `count` messages. */
async function published(count: number): Promise<Published[]> {
  const connection = await connect({ servers: nats?.url ?? '' });
  await using _closing = { [Symbol.asyncDispose]: () => connection.close() };
  const { streams } = await jetstream(connection).jetstreamManager();
  await until(async () => {
    const info = await streams.info('BUDGETS').catch(() => undefined);
    return info !== undefined && info.state.messages >= count;
  });
  const consumer = await jetstream(connection).consumers.get('BUDGETS');
  const all: Published[] = [];
  let left = (await consumer.info()).num_pending;
  for await (const message of await consumer.consume()) {
    all.push(read(message));
    if (--left === 0) break;
  }
  return all;
}

function read({ subject, headers, data }: JsMsg): Published {
  return {
    subject,
    messageId: headers?.get('Nats-Msg-Id') ?? '',
    header: (attribute) => headers?.get(`ce-${attribute}`) ?? '',
    event: UserEvent.decode(data),
  };
}
