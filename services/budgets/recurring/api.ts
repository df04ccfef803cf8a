import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, IfMatch, isKnown, listed, NotModified, tagged, versionsIn } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Deleted, IdParams, listQuery } from '../schemas.ts';
import {
  createRecurring,
  deleteRecurring,
  getRecurring,
  listRecurring,
  updateRecurring,
} from './commands.ts';
import { Recurring, RecurringInput, RecurringPatch } from './recurring.ts';

const tags = ['Recurring expenses'];

export function addRecurringApi(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.recurring,
    {
      access,
      schema: {
        operationId: 'listRecurring',
        summary: 'Your recurring expenses, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Recurring) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listRecurring(core, callerOf(request), request.query)),
  );
  app.post(
    routes.recurring,
    {
      access,
      schema: {
        operationId: 'createRecurring',
        summary: 'Add a recurring expense',
        tags,
        headers: IdempotencyHeader,
        body: RecurringInput,
        response: { 201: Recurring },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) => {
      const caller = commanderOf(request, reply);
      return created(reply, routes.recurringItem, await createRecurring(core, caller, request.body));
    },
  );
  addOne(app, core, access);
}

function addOne(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.recurringItem,
    {
      access,
      schema: {
        operationId: 'getRecurring',
        summary: 'A recurring expense',
        tags,
        params: IdParams,
        response: { 200: Recurring, 304: NotModified },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const recurring = tagged(reply, await getRecurring(core, callerOf(request), request.params.id));
      return isKnown(request, recurring) ? reply.code(304).send(null) : recurring;
    },
  );
  app.put(
    routes.recurringItem,
    {
      access,
      schema: {
        operationId: 'updateRecurring',
        summary: 'Change a recurring expense from now on',
        tags,
        params: IdParams,
        headers: IfMatch,
        body: RecurringPatch,
        response: { 200: Recurring },
      },
      config: { errors: ['not_found', 'precondition_failed', 'rate_limited'] },
    },
    async (request, reply) => {
      const change = { ...request.body, versions: versionsIn(request.headers['if-match']) };
      return tagged(reply, await updateRecurring(core, callerOf(request), request.params.id, change));
    },
  );
  app.delete(
    routes.recurringItem,
    {
      access,
      schema: {
        operationId: 'deleteRecurring',
        summary: 'End a recurring expense',
        tags,
        params: IdParams,
        headers: IfMatch,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    (request) => {
      const versions = versionsIn(request.headers['if-match']);
      return deleteRecurring(core, callerOf(request), request.params.id, versions);
    },
  );
}
