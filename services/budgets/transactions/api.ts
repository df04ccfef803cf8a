import { Type } from '@octavo/core';
import { addList, addResource, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf, owned } from '../edges/api-access.ts';
import { Reference } from '../edges/schemas.ts';
import { Transaction, TransactionInput, TransactionPatch } from '../ledger/index.ts';
import { routes } from '../routes.ts';
import {
  correctTransaction,
  createTransaction,
  getTransaction,
  listTransactions,
  listTransactionsOf,
  reverseTransaction,
} from './transactions.ts';

const tag = 'Transactions';

export function addTransactionApi(app: HttpApp, context: Context, access: AccessRule): void {
  const kind = {
    ...owned(access),
    name: 'Transaction',
    tag,
    paths: { list: routes.transactions, item: routes.transaction },
    schema: Transaction,
  };
  addResource(app, {
    ...kind,
    list: {
      summary: 'Your ledger, newest first',
      description: 'Lists your transactions, each with its entries.',
      run: (caller, query) => listTransactions(context, caller, query),
    },
    get: {
      summary: 'A transaction',
      description: 'Reads one of your transactions with its entries.',
      run: (caller, id) => getTransaction(context, caller, id),
    },
    create: {
      summary: 'Add a transaction by hand',
      description: 'A debit moves cash to expenses, a credit the other way.',
      body: TransactionInput,
      errors: ['not_found'],
      run: (caller, body) => createTransaction(context, caller, body),
    },
  });
  addList(app, kind, {
    path: routes.transactionsOfUser,
    operationId: 'listTransactionsOfUser',
    summary: 'Ledger of a user; only your own',
    description: 'Lists the same transactions. The id of anybody else gives 404.',
    params: Type.Object({ userId: Reference }),
    errors: ['not_found'],
    run: (caller, query, { userId }) => listTransactionsOf(context, caller, userId, query),
  });
  addCorrections(app, context, access);
}

/** Transactions are never changed or deleted: both are reversals. */
function addCorrections(app: HttpApp, context: Context, access: AccessRule): void {
  const common = { tags: [tag], params: IdParams, response: { 200: Transaction } };
  const config = { errors: ['not_found', 'conflict', 'rate_limited'] } as const;
  app.put(
    routes.transaction,
    {
      access,
      schema: {
        ...common,
        operationId: 'correctTransaction',
        summary: 'Reverse a transaction and add the corrected one, which is the response',
        description: 'A transaction that is reversed already gives 409.',
        body: TransactionPatch,
      },
      config,
    },
    (request) => correctTransaction(context, callerOf(request), request.params.id, request.body),
  );
  app.delete(
    routes.transaction,
    {
      access,
      schema: {
        ...common,
        operationId: 'reverseTransaction',
        summary: 'Reverse a transaction; the reversal is the response',
        description: 'A transaction that is reversed already gives 409.',
      },
      config,
    },
    (request) => reverseTransaction(context, callerOf(request), request.params.id),
  );
}
