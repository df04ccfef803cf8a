import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { callerOf, commanderOf } from '../api-access.ts';
import { created, IfMatch, isKnown, listed, NotModified, tagged, versionsIn } from '../api-responses.ts';
import type { Core } from '../commands.ts';
import { IdempotencyHeader } from '../idempotency-key.ts';
import { routes } from '../routes.ts';
import { Day, Deleted, IdParams, listQuery } from '../schemas.ts';
import { Expense, ExpenseInput, ExpensePatch } from './expense.ts';
import { createExpense, deleteExpense, getExpense, updateExpense } from './expenses.ts';
import { checkRange, expenseSorts, listExpenses } from './list.ts';

const tags = ['Expenses'];

const amount = Type.Number({ description: 'In units of the currency' });
const text = Type.String({ minLength: 1, maxLength: 256, format: 'text' });

const filters = {
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  minAmount: Type.Optional(amount),
  maxAmount: Type.Optional(amount),
  category: Type.Optional(text),
  tag: Type.Optional(text),
  q: Type.Optional(Type.String({ ...text, description: 'Words, as in a search' })),
  sort: Type.Optional(Type.Enum(expenseSorts, { description: 'Newest first by default' })),
  ...listQuery,
};

export function addExpenseApi(app: HttpApp, core: Core, access: AccessRule): void {
  addLists(app, core, access);
  addItem(app, core, access);
  addChanges(app, core, access);
}

function addLists(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.expenses,
    {
      access,
      schema: {
        operationId: 'listExpenses',
        summary: 'Your expenses',
        tags,
        querystring: Type.Object({ budgetId: Type.Optional(text), ...filters }),
        response: { 200: Type.Array(Expense) },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const { query } = request;
      checkRange(query.from, query.to);
      return listed(request, reply, await listExpenses(core, callerOf(request), query));
    },
  );
  app.get(
    routes.expense,
    {
      access,
      schema: {
        operationId: 'listExpensesOfBudget',
        summary: 'The expenses of a budget; the id is that of the budget',
        tags,
        params: IdParams,
        querystring: Type.Object(filters),
        response: { 200: Type.Array(Expense) },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const { query, params } = request;
      checkRange(query.from, query.to);
      const found = await listExpenses(core, callerOf(request), { ...query, budgetId: params.id });
      return listed(request, reply, found);
    },
  );
}

function addItem(app: HttpApp, core: Core, access: AccessRule): void {
  app.get(
    routes.expenseItem,
    {
      access,
      schema: {
        operationId: 'getExpense',
        summary: 'An expense',
        tags,
        params: IdParams,
        response: { 200: Expense, 304: NotModified },
      },
      config: { errors: ['not_found', 'rate_limited'] },
    },
    async (request, reply) => {
      const expense = tagged(reply, await getExpense(core, callerOf(request), request.params.id));
      return isKnown(request, expense) ? reply.code(304).send(null) : expense;
    },
  );
}

function addChanges(app: HttpApp, core: Core, access: AccessRule): void {
  app.post(
    routes.expenses,
    {
      access,
      schema: {
        operationId: 'createExpense',
        summary: 'Add an expense',
        tags,
        headers: IdempotencyHeader,
        body: ExpenseInput,
        response: { 201: Expense },
      },
      config: { errors: ['not_found', 'conflict', 'rate_limited'] },
    },
    async (request, reply) =>
      created(
        reply,
        routes.expenseItem,
        await createExpense(core, commanderOf(request, reply), request.body),
      ),
  );
  app.put(
    routes.expense,
    {
      access,
      schema: {
        operationId: 'updateExpense',
        summary: 'Change an expense',
        tags,
        params: IdParams,
        headers: IfMatch,
        body: ExpensePatch,
        response: { 200: Expense },
      },
      config: { errors: ['not_found', 'conflict', 'precondition_failed', 'rate_limited'] },
    },
    async (request, reply) => {
      const versions = versionsIn(request.headers['if-match']);
      const change = { ...request.body, versions };
      return tagged(reply, await updateExpense(core, callerOf(request), request.params.id, change));
    },
  );
  app.delete(
    routes.expense,
    {
      access,
      schema: {
        operationId: 'deleteExpense',
        summary: 'Delete an expense',
        tags,
        params: IdParams,
        headers: IfMatch,
        response: { 200: Deleted },
      },
      config: { errors: ['not_found', 'precondition_failed', 'rate_limited'] },
    },
    (request) => {
      const versions = versionsIn(request.headers['if-match']);
      return deleteExpense(core, callerOf(request), request.params.id, versions);
    },
  );
}
