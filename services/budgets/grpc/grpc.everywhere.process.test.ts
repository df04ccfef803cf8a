import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BudgetServiceDefinition as ShortFormDefinition } from '@octavo/protocols/budget/budget_service';
import { type Budget, BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createChannel, createClientFactory, Metadata, Status } from 'nice-grpc';
import { errorDetailsClientMiddleware, type RichClientError } from 'nice-grpc-error-details';
import { HealthDefinition } from 'nice-grpc-server-health';
import { type Person, startBudgets } from '../testing.ts';

const service = await startBudgets();
const channel = createChannel(`127.0.0.1:${service.grpcPort}`);
after(async () => {
  channel.close();
  await service[Symbol.asyncDispose]();
});
const factory = createClientFactory().use(errorDetailsClientMiddleware);
const clientOf = ({ token }: Pick<Person, 'token'>) =>
  factory.create(BudgetServiceDefinition, channel, {
    '*': { metadata: Metadata({ authorization: `Bearer ${token}` }) },
  });
const alice = await service.person('alice');
const charlie = await service.person('charlie');
const own = clientOf(alice);
const foreign = clientOf(charlie);

/** Debian's Python, for which python3-grpcio is packaged. */
const pythonPath = '/usr/bin/python3';

const usd = (units: number, nanos = 0) => ({ currencyCode: 'USD', units, nanos });

async function create(name = 'Groceries'): Promise<Budget> {
  const { budget } = await own.createBudget({ budget: { name, limit: usd(600, 500_000_000) } });
  return budget as Budget;
}

const fails = (work: Promise<unknown>, code: Status, field?: string) =>
  assert.rejects(work, (error: RichClientError) => {
    assert.equal(Status[error.code], Status[code], error.message);
    if (field !== undefined) assert.match(JSON.stringify(error.extra), new RegExp(`"field":"${field}"`));
    return true;
  });

describe('budget.v1.BudgetService', () => {
  test('an id that is longer than a header may be is not found', async () => {
    await fails(own.getBudget({ id: 'a'.repeat(65_536) }), Status.NOT_FOUND);
  });

  test('a budget is created, read, changed, listed and deleted', async () => {
    const made = await create();
    assert.deepEqual(
      [made.name, made.limit, made.spent, made.etag],
      ['Groceries', usd(600, 500_000_000), usd(0), 'v1'],
    );
    const changed = await own.updateBudget({
      budget: { id: made.id, name: 'Food', limit: usd(1) },
      updateMask: ['name'],
    });
    assert.deepEqual([changed.budget?.name, changed.budget?.limit?.units], ['Food', 600]);
    await own.addExpense({ expense: { budgetId: made.id, description: 'Tea', amount: usd(4, 200_000_000) } });
    const { budget } = await own.getBudget({ id: made.id });
    assert.deepEqual(budget?.spent, usd(4, 200_000_000));
    await create('Second');
    const first = await own.listBudgets({ pageSize: 1 });
    const second = await own.listBudgets({ pageSize: 1, pageToken: first.nextPageToken });
    assert.deepEqual(
      [first.budgets[0]?.name, second.budgets[0]?.name, first.totalSize],
      ['Second', 'Food', 2],
    );
    assert.equal(second.nextPageToken, '');
    await fails(own.deleteBudget({ id: made.id }), Status.FAILED_PRECONDITION);
    await own.deleteBudget({ id: made.id, cascade: true });
    await fails(own.getBudget({ id: made.id }), Status.NOT_FOUND);
  });

  test('the short form of the specification answers the budget itself', async () => {
    const made = await create();
    const client = factory.create(ShortFormDefinition, channel);
    const metadata = Metadata({ authorization: `Bearer ${alice.token}` });
    assert.equal((await client.getBudget({ id: made.id }, { metadata })).name, 'Groceries');
    await fails(client.getBudget({ id: made.id }), Status.UNAUTHENTICATED);
  });

  test('without a token nothing is answered, and what is not yours does not exist', async () => {
    const { id } = await create();
    await fails(clientOf({ token: 'wrong' }).listBudgets({}), Status.UNAUTHENTICATED);
    await fails(foreign.getBudget({ id }), Status.NOT_FOUND);
    await fails(foreign.updateBudget({ budget: { id, name: 'Mine' } }), Status.NOT_FOUND);
    await fails(foreign.deleteBudget({ id, cascade: true }), Status.NOT_FOUND);
    await fails(
      foreign.addExpense({ expense: { budgetId: id, description: 'x', amount: usd(1) } }),
      Status.NOT_FOUND,
    );
    await fails(foreign.watchBudget({ id })[Symbol.asyncIterator]().next(), Status.NOT_FOUND);
  });

  test('bad input names the field', async () => {
    const { id } = await create();
    await fails(
      own.createBudget({ budget: { name: '', limit: usd(1) } }),
      Status.INVALID_ARGUMENT,
      'budget.name',
    );
    await fails(own.createBudget({ budget: { name: 'x' } }), Status.INVALID_ARGUMENT, 'budget.limit');
    await fails(
      own.createBudget({ budget: { name: 'x', limit: usd(1, -1) } }),
      Status.INVALID_ARGUMENT,
      'budget.limit',
    );
    const limit = { currencyCode: 'USDT', units: 1, nanos: 0 };
    const named = (name: string) => own.createBudget({ budget: { name, limit } });
    await fails(named('x'), Status.INVALID_ARGUMENT, 'budget.limit.currency_code');
    await fails(named('x\0'), Status.INVALID_ARGUMENT, 'budget.name');
    await fails(own.getBudget({ id: 'x\0' }), Status.INVALID_ARGUMENT, 'id');
    const euros = { budgetId: id, description: 'x', amount: { currencyCode: 'EUR', units: 1, nanos: 0 } };
    const currency = 'expense.amount.currency_code';
    await fails(own.addExpense({ expense: euros }), Status.INVALID_ARGUMENT, currency);
    const unknown = { ...euros, budgetId: 'x\0' };
    await fails(own.addExpense({ expense: unknown }), Status.INVALID_ARGUMENT, 'expense.budget_id');
    await fails(own.listBudgets({ pageSize: -1 }), Status.INVALID_ARGUMENT, 'page_size');
    await fails(own.listBudgets({ pageToken: 'x' }), Status.INVALID_ARGUMENT, 'page_token');
    await fails(
      own.updateBudget({ budget: { id }, updateMask: ['spent'] }),
      Status.INVALID_ARGUMENT,
      'update_mask',
    );
    const spentOn = { year: 2026, month: 2, day: 30 };
    const expense = { budgetId: id, description: 'x', amount: usd(1), spentOn };
    await fails(own.addExpense({ expense }), Status.INVALID_ARGUMENT, 'expense.spent_on');
  });

  test('an outdated etag is refused, and a request id counts once', async () => {
    const { id } = await create();
    await own.updateBudget({ budget: { id, name: 'Food', etag: 'v1' } });
    await fails(own.updateBudget({ budget: { id, name: 'Late', etag: 'v1' } }), Status.ABORTED);
    await fails(own.deleteBudget({ id, etag: 'v1' }), Status.ABORTED);
    const expense = { budgetId: id, description: 'Tea', amount: usd(1) };
    const [one, two] = await Promise.all([1, 2].map(() => own.addExpense({ expense, requestId: 'tea-1' })));
    assert.equal(one?.expense?.id, two?.expense?.id);
    await fails(
      own.addExpense({ expense: { ...expense, amount: usd(2) }, requestId: 'tea-1' }),
      Status.ALREADY_EXISTS,
    );
  });

  test('a watch tells the budget now and after each change, until it is deleted', async () => {
    const { id } = await create();
    const spent: (number | undefined)[] = [];
    await assert.rejects(async () => {
      for await (const { budget } of own.watchBudget({ id })) {
        spent.push(budget?.spent?.units);
        if (spent.length === 3) await own.deleteBudget({ id, cascade: true });
        else void own.addExpense({ expense: { budgetId: id, description: 'Tea', amount: usd(1) } });
      }
    });
    assert.deepEqual(spent.slice(0, 2), [0, 1]);
  });

  test('a watch tells nothing after its session has ended', async () => {
    const bob = await service.person('bob');
    const again = await service.signIn(bob);
    const { id } = await bob.create('/api/budgets', { name: 'Trips', limit: 1 });
    const watch = clientOf(bob).watchBudget({ id })[Symbol.asyncIterator]();
    assert.equal((await watch.next()).value?.budget?.name, 'Trips');
    const told = watch.next();
    assert.equal((await bob.post('/api/auth/logout')).status, 200);
    const adding = setInterval(() => {
      void again.post('/api/expenses', { budgetId: id, description: 'Ferry', amount: 1 }).catch(() => {});
    }, 100);
    try {
      await fails(told, Status.UNAUTHENTICATED);
    } finally {
      clearInterval(adding);
    }
  });

  test('a deadline ends a call', async () => {
    await assert.rejects(own.listBudgets({}, { signal: AbortSignal.timeout(0) }));
  });
});

test('health is told by service', async () => {
  const client = factory.create(HealthDefinition, channel);
  for (const name of ['', 'budget.v1.BudgetService', 'budget.BudgetService']) {
    // 1 is SERVING.
    const { status } = await client.check({ service: name });
    assert.equal(status, 1, name);
  }
});

const python = `
import sys, grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
files = descriptor_pb2.FileDescriptorSet.FromString(open(sys.argv[2], 'rb').read())
pool = descriptor_pool.DescriptorPool()
for file in files.file: pool.Add(file)
factory = message_factory.MessageFactory(pool)
make = lambda name: factory.GetPrototype(pool.FindMessageTypeByName(name))
channel = grpc.insecure_channel('127.0.0.1:' + sys.argv[1])
get = channel.unary_unary('/budget.BudgetService/GetBudget', make('budget.GetBudgetRequest').SerializeToString, make('budget.v1.Budget').FromString)
print(get(make('budget.GetBudgetRequest')(id=sys.argv[3]), timeout=5, metadata=[('authorization', 'Bearer ' + sys.argv[4])]).name)
`;

test('a client in Python reads a budget', { skip: pythonIsMissing() }, async () => {
  const { id } = await create('Rent');
  const descriptors = fileURLToPath(import.meta.resolve('@octavo/protocols/budget/descriptors.binpb'));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const args = ['-c', python, String(service.grpcPort), descriptors, id, alice.token];
  execFile(pythonPath, args, (error, stdout, stderr) =>
    error ? reject(new Error(stderr)) : resolve(stdout),
  );
  assert.equal((await promise).trim(), 'Rent');
});

function pythonIsMissing(): string | false {
  try {
    execFileSync(pythonPath, ['-c', 'import grpc, google.protobuf'], { stdio: 'ignore' });
    return false;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    return 'python3-grpcio is not installed';
  }
}
