import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, IfMatch, isKnown, listed, NotModified, tagged, versionsIn } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Deleted, IdParams, listQuery } from '../schemas.ts';
import { Budget, BudgetInput, BudgetPatch, BudgetSummary } from './budget.ts';
import {
  createBudget,
  deleteBudget,
  getBudget,
  getBudgetSummary,
  listBudgets,
  updateBudget,
} from './budgets.ts';

const tags = ['Budgets'];

export function addBudgetApi(app: HttpApp, core: Core, access: AccessRule): void {
  addLists(app, core, access);
  addOne(app, core, access);
  app.get(
    routes.budgetSummary,
    {
      access,
      schema: {
        operationId: 'getBudgetSummary',
        summary: 'What was available and spent in a period',
        tags,
        params: IdParams,
        querystring: Type.Object({
          period: Type.Optional(
            Type.String({
              description:
                'Such as 2026-02-14, 2026-W07, 2026-02, 2026-Q1, 2026 or all; the current one by default',
            }),
          ),
        }),
        response: { 200: BudgetSummary },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getBudgetSummary(core, callerOf(request), request.params.id, request.query.period),
  );
}

function addLists(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.budgets,
    {
      access,
      schema: {
        operationId: 'listBudgets',
        summary: 'Your budgets, newest first',
        tags,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Array(Budget) },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) =>
      listed(request, reply, await listBudgets(core, callerOf(request), request.query)),
  );
  app.post(
    routes.budgets,
    {
      access,
      schema: {
        operationId: 'createBudget',
        summary: 'Create a budget',
        tags,
        headers: IdempotencyHeader,
        body: BudgetInput,
        response: { 201: Budget },
      },
      config: { errors: ['conflict', 'rate_limited'] },
    },
    async (request, reply) =>
      created(reply, routes.budget, await createBudget(core, commanderOf(request, reply), request.body)),
  );
}

function addOne(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.budget,
    {
      access,
      schema: {
        operationId: 'getBudget',
        summary: 'A budget',
        tags,
        params: IdParams,
        response: { 200: Budget, 304: NotModified },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const budget = tagged(reply, await getBudget(core, callerOf(request), request.params.id));
      return isKnown(request, budget) ? reply.code(304).send(null) : budget;
    },
  );
  app.put(
    routes.budget,
    {
      access,
      schema: {
        operationId: 'updateBudget',
        summary: 'Change a budget',
        tags,
        params: IdParams,
        headers: IfMatch,
        body: BudgetPatch,
        response: { 200: Budget },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    async (request, reply) => {
      const versions = versionsIn(request.headers['if-match']);
      const change = { ...request.body, versions };
      return tagged(reply, await updateBudget(core, callerOf(request), request.params.id, change));
    },
  );
  app.delete(
    routes.budget,
    {
      access,
      schema: {
        operationId: 'deleteBudget',
        summary: 'Delete a budget',
        tags,
        params: IdParams,
        headers: IfMatch,
        querystring: Type.Object({
          cascade: Type.Boolean({ default: false, description: 'Delete its expenses too' }),
        }),
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    (request) => {
      const { cascade } = request.query;
      const versions = versionsIn(request.headers['if-match']);
      return deleteBudget(core, callerOf(request), request.params.id, { cascade, versions });
    },
  );
}
