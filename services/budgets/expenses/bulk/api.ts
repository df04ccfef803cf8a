import { IdempotencyHeader } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../../commands.ts';
import { callerWithIdempotencyKey } from '../../edges/api-access.ts';
import { routes } from '../../routes.ts';
import { BulkRequest, BulkResult, changeMany } from './bulk.ts';
import { BulkUndo, BulkUndoResult, undoMany } from './undo.ts';

export function addBulkApi(app: HttpApp, context: Context, access: AccessRule): void {
  const errors = ['validation_failed', 'not_found', 'conflict', 'rate_limited'] as const;
  app.post(
    routes.expensesBulk,
    {
      access,
      schema: {
        operationId: 'changeExpenses',
        summary: 'Change or delete many expenses',
        description:
          'Changes up to 1,000 expenses, by their ids or by a filter, all in one transaction. Those that cannot be changed stay, and are listed with the reason.',
        tags: ['Expenses'],
        headers: IdempotencyHeader,
        body: BulkRequest,
        response: { 200: BulkResult },
      },
      config: { errors: [...errors] },
    },
    async (request, reply) => changeMany(context, callerWithIdempotencyKey(request, reply), request.body),
  );
  app.post(
    routes.expensesBulkUndo,
    {
      access,
      schema: {
        operationId: 'undoExpenses',
        summary: 'Take back a change of many expenses',
        description:
          'Makes the expenses of a bulk change as they were before, once within 24 hours. Those that were changed since stay, and are listed with the reason.',
        tags: ['Expenses'],
        headers: IdempotencyHeader,
        body: BulkUndo,
        response: { 200: BulkUndoResult },
      },
      config: { errors: [...errors] },
    },
    async (request, reply) => undoMany(context, callerWithIdempotencyKey(request, reply), request.body.undo),
  );
}
