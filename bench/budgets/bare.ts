import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastify from 'fastify';
import { Registry } from 'prom-client';
import { systemClock } from '#kit/base/clock.ts';
import { silentLog } from '#kit/base/log.ts';
import { configOf, openServiceDatabase, type ServiceContext } from '#kit/service.ts';
import { authenticateHeader, createTokens } from '../../services/budgets/authentication/index.ts';
import { type BudgetInput, createBudget, listBudgets } from '../../services/budgets/budgets/index.ts';
import type { Context } from '../../services/budgets/commands.ts';
import { budgets } from '../../services/budgets/service.ts';
import type { Tables } from '../../services/budgets/store/tables.ts';

/** Plain Fastify with the same calls of the database, in the folder of a service that has ended. It tells its address. */
const [dataFolder = ''] = process.argv.slice(2);
const secret = (await readFile(join(dataFolder, 'budgets.secret'), 'utf8')).trim();
const context: ServiceContext = {
  log: silentLog,
  clock: systemClock,
  dataFolder,
  metrics: new Registry(),
  environment: 'development',
  host: '127.0.0.1',
  port: 0,
};
const db = await openServiceDatabase<Tables>(budgets, configOf(budgets, {}), context);
const core: Context = { db, clock: systemClock, onCommitted: () => {} };
const tokens = createTokens(secret, systemClock);
const app = fastify();
const callerOf = (header: string | undefined) => authenticateHeader(core, tokens, header);
app.get('/api/budgets', async (request) => {
  const { items } = await listBudgets(core, await callerOf(request.headers.authorization), { limit: 100 });
  return items;
});
app.post<{ Body: BudgetInput }>('/api/budgets', async (request, reply) => {
  reply.code(201);
  return createBudget(core, await callerOf(request.headers.authorization), request.body);
});
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }));
