import { readFile } from 'node:fs/promises';
import type { ApiDocument } from '@octavo/web/server';

/**
 * Sections of `/docs` besides REST.
 * @param typeDefinitions the schema of GraphQL
 */
export const documentsOf = (typeDefinitions: string): readonly ApiDocument[] => [
  {
    name: 'graphql',
    label: 'GraphQL',
    file: 'schema.graphql',
    description:
      'The schema of /api/graphql. Subscriptions come over graphql-transport-ws, or as server-sent events.',
    read: () => `${typeDefinitions.trim()}\n`,
  },
  {
    name: 'grpc',
    label: 'gRPC',
    file: 'budget_service.proto',
    description:
      'The service on port 50053 (GRPC_PORT). The metadata "authorization" holds the bearer token. Reflection and health are there too.',
    read: () =>
      readFile(new URL(import.meta.resolve('@octavo/protocols/budget/v1/budget_service.proto')), 'utf8'),
  },
  {
    name: 'websocket',
    label: 'WebSocket',
    file: 'asyncapi.yaml',
    description: 'Live notifications at /api/ws, as an AsyncAPI document.',
    read: () => readFile(new URL('../live/asyncapi.yaml', import.meta.url), 'utf8'),
  },
];
