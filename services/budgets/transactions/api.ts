import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, listed } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { Transaction, TransactionInput, TransactionPatch } from '../ledger/index.ts';
import { routes } from '../routes.ts';
import { IdParams, listQuery, Reference } from '../schemas.ts';
import {
  correctTransaction,
  createTransaction,
  getTransaction,
  listTransactions,
  listTransactionsOf,
  reverseTransaction,
} from './transactions.ts';

const tags = ['Transactions'];

export function addTransactionApi(app: HttpApp, core: Core, access: AccessRule): void {
  addLists(app, core, access);
  addOne(app, core, access);
}

function addLists(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.transactions,
    {
      access,
      schema: {
        operationId: 'listTransactions',
        summary: 'Your ledger, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Transaction) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listTransactions(core, callerOf(request), request.query)),
  );
  app.get(
    routes.transactionsOfUser,
    {
      access,
      schema: {
        operationId: 'listTransactionsOfUser',
        summary: 'The ledger of a user, who must be yourself',
        tags,
        params: Type.Object({ userId: Reference }),
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Transaction) },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const { userId } = request.params;
      return listed(request, reply, await listTransactionsOf(core, callerOf(request), userId, request.query));
    },
  );
  app.post(
    routes.transactions,
    {
      access,
      schema: {
        operationId: 'createTransaction',
        summary: 'Add a transaction by hand',
        description: 'A debit moves cash to expenses, a credit the other way.',
        tags,
        headers: IdempotencyHeader,
        body: TransactionInput,
        response: { 201: Transaction },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = commanderOf(request, reply);
      return created(reply, routes.transaction, await createTransaction(core, caller, request.body));
    },
  );
}

function addOne(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.transaction,
    {
      access,
      schema: {
        operationId: 'getTransaction',
        summary: 'A transaction',
        tags,
        params: IdParams,
        response: { 200: Transaction },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getTransaction(core, callerOf(request), request.params.id),
  );
  app.put(
    routes.transaction,
    {
      access,
      schema: {
        operationId: 'correctTransaction',
        summary: 'Reverse a transaction and add the corrected one, which is the response',
        tags,
        params: IdParams,
        body: TransactionPatch,
        response: { 200: Transaction },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    (request) => correctTransaction(core, callerOf(request), request.params.id, request.body),
  );
  app.delete(
    routes.transaction,
    {
      access,
      schema: {
        operationId: 'reverseTransaction',
        summary: 'Reverse a transaction; the reversal is the response',
        tags,
        params: IdParams,
        response: { 200: Transaction },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    (request) => reverseTransaction(core, callerOf(request), request.params.id),
  );
}
