import { Type } from '@octavo/core';
import { addResource, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf, owned } from '../edges/api-access.ts';
import { routes } from '../routes.ts';
import { Budget, BudgetChange, BudgetInput, BudgetPeriod, BudgetSummary, historyMax } from './budget.ts';
import { createBudget, getBudget, listBudgets, updateBudget } from './budgets.ts';
import { deleteBudget } from './deletion.ts';
import { getBudgetHistory, getBudgetSummary } from './periods.ts';

const tag = 'Budgets';

const cascade = Type.Boolean({ default: false, description: 'Delete its expenses too' });

export function addBudgetApi(app: HttpApp, context: Context, access: AccessRule): void {
  addResource(app, {
    ...owned(access),
    name: 'Budget',
    tag,
    paths: { list: routes.budgets, item: routes.budget },
    schema: Budget,
    list: {
      summary: 'Your budgets, newest first',
      description:
        'Lists your budgets and those that are shared with you, each with what is spent and what remains in its current period.',
      run: (caller, query) => listBudgets(context, caller, query),
    },
    get: {
      summary: 'A budget',
      description:
        'Reads a budget of yours, or one that is shared with you, with what is spent and what remains in its current period.',
      run: (caller, id) => getBudget(context, caller, id),
    },
    create: {
      summary: 'Create a budget',
      description: 'Creates a budget; its currency is USD by default.',
      body: BudgetInput,
      run: (caller, body) => createBudget(context, caller, body),
    },
    change: {
      summary: 'Change a budget',
      description:
        'Changes the fields that are given. Periods that are over keep their limit, length and rollover, unless `from` names an earlier one. A budget with expenses keeps its currency: 409.',
      body: BudgetChange,
      errors: ['forbidden', 'conflict'],
      run: (caller, id, change) => updateBudget(context, caller, id, change),
    },
    remove: {
      summary: 'Delete a budget',
      description: 'Deletes a budget. One with expenses gives 409, unless `cascade` deletes them too.',
      query: { cascade },
      errors: ['forbidden', 'conflict'],
      run: (caller, id, options) => deleteBudget(context, caller, id, options),
    },
  });
  addSummary(app, context, access);
  addHistory(app, context, access);
}

function addSummary(app: HttpApp, context: Context, access: AccessRule): void {
  const period = Type.String({
    description: 'Such as 2026-02-14, 2026-W07, 2026-02, 2026-Q1, 2026 or all; the current one by default',
  });
  app.get(
    routes.budgetSummary,
    {
      access,
      schema: {
        operationId: 'getBudgetSummary',
        summary: 'Summary of a period: available, spent, remaining',
        description:
          'Adds up the expenses of a budget in one of its periods, in all and by category. A period of another kind gives 400.',
        tags: [tag],
        params: IdParams,
        querystring: Type.Object({ period: Type.Optional(period) }),
        response: { 200: BudgetSummary },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getBudgetSummary(context, callerOf(request), request.params.id, request.query),
  );
}

function addHistory(app: HttpApp, context: Context, access: AccessRule): void {
  const periods = Type.Integer({
    minimum: 1,
    maximum: historyMax,
    default: 12,
    description: 'Number of periods, the current one among them',
  });
  app.get(
    routes.budgetHistory,
    {
      access,
      schema: {
        operationId: 'getBudgetHistory',
        summary: 'The last periods of a budget',
        description:
          'The current period and those before it, oldest first, each with the limit and rollover that held in it. A budget without periods has one.',
        tags: [tag],
        params: IdParams,
        querystring: Type.Object({ periods: Type.Optional(periods) }),
        response: { 200: Type.Array(BudgetPeriod) },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    (request) => getBudgetHistory(context, callerOf(request), request.params.id, request.query.periods ?? 12),
  );
}
