import { isoTime } from '@octavo/core';
import { listPlans } from '../../../services/budgets/budgets/index.ts';
import type { Caller } from '../../../services/budgets/commands.ts';
import { loadPeer } from '../lib/peer-packages.ts';
import { openCore } from './core.ts';

/**
 * Apollo Server or mercurius with JIT on a copy of the service's folder. A request does the work of the service's: the bearer token, its
 * session, and the rows of the database, by the same functions. It tells its address.
 */
const [which = '', dataFolder = ''] = process.argv.slice(2);
const { context, callerOf } = await openCore(dataFolder);
const typeDefs =
  'type Budget { id: ID! name: String! limit: Float! createdAt: String! } type Query { budgets: [Budget!]! }';
const resolvers = {
  Query: {
    budgets: (_: unknown, __: unknown, { caller }: { caller: Caller }) =>
      listPlans(context, caller, { limit: 100 }),
  },
  Budget: { createdAt: ({ createdAt }: { createdAt: number }) => isoTime(createdAt) },
};

process.send?.(which === 'apollo' ? await startApollo() : await startMercurius());

async function startApollo(): Promise<string> {
  const { ApolloServer } = loadPeer('@apollo/server');
  const { startStandaloneServer } = loadPeer('@apollo/server/standalone');
  const { url } = await startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }: Asked<'req'>) => ({ caller: await callerOf(req.headers.authorization) }),
  });
  return url;
}

async function startMercurius(): Promise<string> {
  const app = loadPeer('fastify')();
  const context = async (request: Asked<'req'>['req']) => ({
    caller: await callerOf(request.headers.authorization),
  });
  app.register(loadPeer('mercurius'), { schema: typeDefs, resolvers, context, jit: 1 });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
}

type Asked<K extends string> = Record<K, { readonly headers: { readonly authorization?: string } }>;
