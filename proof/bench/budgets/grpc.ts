import { setTimeout } from 'node:timers/promises';
import { Budget, BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createChannel, createClient, createServer, Metadata } from 'nice-grpc';

const inFlight = 64;

/** A bare nice-grpc server that answers one budget (`server`), or calls of GetBudget one after another (`client`). */
const [role, address = '', token = '', id = '', seconds = '3'] = process.argv.slice(2);
process.send?.(role === 'server' ? await serve() : await call());

async function serve(): Promise<string> {
  const budget = Budget.fromPartial({
    id: '01932c07-8a3b-7c55-9d0e-0c1a4c1d2f3b',
    name: 'Groceries',
    limit: { currencyCode: 'USD', units: 100 },
    spent: { currencyCode: 'USD', units: 0 },
    createdAt: new Date(),
    updatedAt: new Date(),
    etag: 'v1',
  });
  // With this method only, so that a new one of the service needs nothing here.
  const { getBudget } = BudgetServiceDefinition.methods;
  const server = createServer();
  server.add({ ...BudgetServiceDefinition, methods: { getBudget } }, { getBudget: async () => ({ budget }) });
  return `127.0.0.1:${await server.listen('127.0.0.1:0')}`;
}

async function call(): Promise<number> {
  const channel = createChannel(address);
  const client = createClient(BudgetServiceDefinition, channel, {
    '*': { metadata: Metadata({ authorization: token }) },
  });
  let calls = 0;
  let isOver = false;
  const drive = async () => {
    while (!isOver) {
      await client.getBudget({ id });
      calls++;
    }
  };
  const driven = Array.from({ length: inFlight }, drive);
  await setTimeout(1_000);
  calls = 0;
  const startedAtMs = performance.now();
  await setTimeout(Number(seconds) * 1_000);
  const perSecond = (calls * 1_000) / (performance.now() - startedAtMs);
  isOver = true;
  await Promise.all(driven);
  channel.close();
  return perSecond;
}
