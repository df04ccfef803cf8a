import { IdempotencyHeader } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { callerWithIdempotencyKey } from '../../edges/api-access.ts';
import { accepted } from '../../edges/api-responses.ts';
import { routes } from '../../routes.ts';
import { takeBackSorting } from '../../rules/index.ts';
import { Task, type Tasks } from '../../tasks/index.ts';
import { BulkRequest, BulkResult, changeMany } from './bulk.ts';
import { BulkUndo, BulkUndoResult, undoMany } from './undo.ts';

export function addBulkApi(app: HttpApp, tasks: Tasks, access: AccessRule): void {
  const errors = ['validation_failed', 'forbidden', 'not_found', 'conflict', 'rate_limited'] as const;
  app.post(
    routes.expensesBulk,
    {
      access,
      schema: {
        operationId: 'changeExpenses',
        summary: 'Change or delete many expenses',
        description:
          'Changes up to 1,000 expenses, by their ids or by a filter, all in one transaction. Those that cannot be changed stay, and are listed with the reason. If the filter fits more than 1,000, the response is 202 with a task, which can be undone.',
        tags: ['Expenses'],
        headers: IdempotencyHeader,
        body: BulkRequest,
        response: { 200: BulkResult, 202: Task },
      },
      config: { errors: [...errors] },
    },
    async (request, reply) => {
      const result = await changeMany(tasks, callerWithIdempotencyKey(request, reply), request.body);
      return 'changed' in result ? result : accepted(reply, result);
    },
  );
  app.post(
    routes.expensesBulkUndo,
    {
      access,
      schema: {
        operationId: 'undoExpenses',
        summary: 'Take back a change of many expenses',
        description:
          'Makes the expenses of a bulk change as they were before, once within 24 hours. Those that were changed since stay, and are listed with the reason. Budgets and rules that sorting made are deleted with it, unless they are in use or were changed since.',
        tags: ['Expenses'],
        headers: IdempotencyHeader,
        body: BulkUndo,
        response: { 200: BulkUndoResult },
      },
      config: { errors: [...errors] },
    },
    async (request, reply) =>
      undoMany(tasks.context, callerWithIdempotencyKey(request, reply), request.body.undo, takeBackSorting),
  );
}
