import fastify from 'fastify';
import { type BudgetInput, createBudget, listBudgets } from '../../../services/budgets/budgets/index.ts';
import { openCore } from './core.ts';

/** Plain Fastify with the same calls of the database, in the folder of a service that has ended. It tells its address. */
const [dataFolder = ''] = process.argv.slice(2);
const { context, callerOf } = await openCore(dataFolder);
const app = fastify();
app.get('/api/budgets', async (request) => {
  const { items } = await listBudgets(context, await callerOf(request.headers.authorization), { limit: 100 });
  return items;
});
app.post<{ Body: BudgetInput }>('/api/budgets', async (request, reply) => {
  reply.code(201);
  return createBudget(context, await callerOf(request.headers.authorization), request.body);
});
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }));
