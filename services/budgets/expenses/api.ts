import { Type } from '@octavo/core';
import { addList, addResource, IdParams } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { owned } from '../edges/api-access.ts';
import { Day } from '../edges/schemas.ts';
import { routes } from '../routes.ts';
import { Expense, ExpenseInput, ExpensePatch } from './expense.ts';
import { createExpense, deleteExpense, getExpense, updateExpense } from './expenses.ts';
import { checkRange, expenseSorts, listExpenses } from './list.ts';

const amount = Type.Number({ description: 'In units of the currency' });
const text = Type.String({ minLength: 1, maxLength: 256, format: 'text' });

const filters = {
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  minAmount: Type.Optional(amount),
  maxAmount: Type.Optional(amount),
  category: Type.Optional(text),
  tag: Type.Optional(text),
  q: Type.Optional(Type.String({ ...text, description: 'Search words' })),
  sort: Type.Optional(Type.Enum(expenseSorts, { description: 'Newest first by default' })),
};

export function addExpenseApi(app: HttpApp, context: Context, access: AccessRule): void {
  const kind = {
    ...owned(access),
    name: 'Expense',
    tag: 'Expenses',
    paths: { list: routes.expenses, item: routes.expenseItem },
    schema: Expense,
  };
  addResource(app, {
    ...kind,
    list: {
      summary: 'Your expenses',
      description: 'Lists your expenses that match all the filters, of one budget or of all.',
      filters: { budgetId: Type.Optional(text), ...filters },
      errors: ['not_found'],
      async run(caller, query) {
        checkRange(query.from, query.to);
        return listExpenses(context, caller, query);
      },
    },
    get: {
      summary: 'An expense',
      description: 'Reads one of your expenses.',
      run: (caller, id) => getExpense(context, caller, id),
    },
    create: {
      summary: 'Add an expense',
      description: 'Adds an expense to one of your budgets, and notifies you of thresholds that it reaches.',
      body: ExpenseInput,
      errors: ['forbidden', 'not_found'],
      run: (caller, body) => createExpense(context, caller, body),
    },
    change: {
      path: routes.expense,
      summary: 'Change an expense',
      description: 'Changes the fields that are given; another `budgetId` moves the expense.',
      body: ExpensePatch,
      errors: ['forbidden', 'conflict'],
      run: (caller, id, change) => updateExpense(context, caller, id, change),
    },
    remove: {
      path: routes.expense,
      summary: 'Delete an expense',
      description: 'Deletes an expense and reverses its transaction in the ledger.',
      errors: ['forbidden'],
      run: (caller, id, { versions }) => deleteExpense(context, caller, id, versions),
    },
  });
  addList(app, kind, {
    path: routes.expense,
    operationId: 'listExpensesOfBudget',
    summary: 'Expenses of a budget',
    description: 'Lists the expenses of one of your budgets that match all the filters.',
    params: IdParams,
    filters,
    errors: ['not_found'],
    async run(caller, query, { id }) {
      checkRange(query.from, query.to);
      return listExpenses(context, caller, { ...query, budgetId: id });
    },
  });
}
