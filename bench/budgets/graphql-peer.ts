import { createRequire } from 'node:module';
import { join } from 'node:path';

/** A GraphQL server whose packages are in a folder, with 20 budgets in memory. It tells its address. */
const [folder = '', which = ''] = process.argv.slice(2);
const load = createRequire(join(folder, 'index.js'));
const typeDefs =
  'type Budget { id: ID! name: String! limit: Float! createdAt: String! } type Query { budgets: [Budget!]! }';
const budgets = Array.from({ length: 20 }, (_, index) => ({
  id: `01932c07-8a3b-7c55-9d0e-0c1a4c1d2f${10 + index}`,
  name: `Budget ${index}`,
  limit: 100 + index,
  createdAt: '2026-01-31T12:00:00.000Z',
}));

process.send?.(which === 'apollo' ? await startApollo() : await startMercurius());

async function startApollo(): Promise<string> {
  const { ApolloServer } = load('@apollo/server');
  const { startStandaloneServer } = load('@apollo/server/standalone');
  const server = new ApolloServer({ typeDefs, resolvers: { Query: { budgets: () => budgets } } });
  const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
  return url;
}

async function startMercurius(): Promise<string> {
  const app = load('fastify')();
  app.register(load('mercurius'), {
    schema: typeDefs,
    resolvers: { Query: { budgets: async () => budgets } },
    jit: 1,
  });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/graphql`;
}
