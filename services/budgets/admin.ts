import {
  type Admin,
  accountModels,
  choice,
  createAdmin,
  dateTime,
  flag,
  integer,
  reference,
  staffAccounts,
  staffCookie,
  type TokenStore,
  tableModel,
  text,
  type Values,
} from '@octavo/admin';
import { type Clock, labelsOf } from '@octavo/core';
import type { Accounts as StaffAccounts } from '@octavo/people/accounts';
import { forgetPeople, type OidcSignIn } from '@octavo/people/sign-in';
import { badge } from '@octavo/web/html';
import { accountLimits } from './authentication/index.ts';
import { budgetFields, passOnBudgets } from './budgets/index.ts';
import type { Context } from './commands.ts';
import { expenseFields } from './expenses/index.ts';
import { periodKinds } from './money/periods.ts';
import { orderFields, orderStatuses } from './orders/index.ts';
import type { PageSession } from './site/page-context.ts';
import { money } from './site/views.ts';
import { disable, enable, endSessions, expensesOfAccount, spentOfBudget } from './store/store.ts';
import { storedSum } from './store/sums.ts';
import type { Tables } from './store/tables.ts';
import { taskStatuses, taskTypes } from './tasks/index.ts';

const staffSeconds = 14 * 86_400;

/** The session of the staff, beside that of an account. */
export function createStaffTokens(secret: string, clock: Clock): TokenStore<PageSession> {
  return staffCookie<PageSession>({ name: 'budgets_staff', secret, maxAgeSeconds: staffSeconds, clock });
}

/** The admin at `/admin/`: accounts, their data (read-only), tasks, and the staff. */
export function createBudgetsAdmin(
  staff: StaffAccounts,
  { db, clock }: Context,
  signIn: { tokens: TokenStore<PageSession>; oidc: OidcSignIn<PageSession> | undefined },
): Admin<PageSession> {
  const models = [accountModel, budgetModel, expenseModel, orderModel, taskModel];
  return createAdmin<PageSession>({
    title: 'Budgets admin',
    models: [...models, ...accountModels(staff, models)],
    accounts: staffAccounts(staff, signIn.tokens, signIn.oidc),
    database: db,
    clock,
  });
}

const same = (names: readonly string[]) => names.map((name) => [name, name] as const);
const budgetLabels = labelsOf(budgetFields);
const expenseLabels = labelsOf(expenseFields);
const nothing = { add: false, change: false, delete: false } as const;
const owner = reference('budgets/account', { label: 'Account', readOnly: true });
const created = dateTime({ label: 'Created', column: 'created_at_ms', readOnly: true });
const sum = (field: string, label: string) => ({
  label,
  kind: 'number' as const,
  show: (values: Values) => money(Number(values[field]), String(values.currency)),
});

const accountModel = tableModel<Tables>({
  path: 'budgets/account',
  icon: 'users',
  label: 'account',
  table: 'account',
  key: 'number',
  title: 'email',
  description: 'People with budgets. Deleting an account erases all of its data.',
  fields: {
    email: text({ label: 'E-mail address', readOnly: true }),
    username: text({ label: 'Name', charactersMax: accountLimits.username, isOptional: true }),
    email_verified: flag({ label: 'Verified', help: 'Checked if the e-mail address is verified.' }),
    disabled: flag({ label: 'Disabled', help: 'The account cannot sign in, and its sessions end.' }),
    created,
  },
  columns: [
    'email',
    'username',
    {
      label: 'State',
      show: ({ disabled }) => (disabled === 1 ? badge('bad', 'disabled') : badge('good', 'active')),
    },
    'email_verified',
    {
      label: 'Expenses',
      name: 'expenses',
      kind: 'number',
      expression: expensesOfAccount,
      show: ({ expenses }) => Number(expenses).toLocaleString('en'),
    },
    'created',
  ],
  search: ['email', 'username'],
  filters: ['disabled', 'email_verified'],
  dates: 'created',
  order: ['-created'],
  can: { add: false },
  actions: {
    disable: {
      label: 'Disable',
      confirms: true,
      run: (session, ids) => disable(session, ids.map(Number)),
    },
    enable: { label: 'Enable', run: (session, ids) => enable(session, ids.map(Number)) },
  },
  async beforeDelete(session, ids) {
    for (const id of ids) await passOnBudgets(session, Number(id));
    await forgetPeople(session, '', ids);
  },
  async afterSave(session, { id, before, after }) {
    if (before?.disabled === 1 && after.disabled === 0) await endSessions(session, [Number(id)]);
  },
});

const budgetModel = tableModel<Tables>({
  path: 'budgets/budget',
  icon: 'wallet',
  label: 'budget',
  table: 'budget',
  keyIsText: true,
  title: 'name',
  fields: {
    name: text({ label: budgetLabels.name, readOnly: true }),
    owner,
    limit_minor: integer({ label: `${budgetLabels.limit} in minor units`, readOnly: true }),
    currency: text({ label: budgetLabels.currency, readOnly: true }),
    period: choice(same(periodKinds), { label: budgetLabels.period, readOnly: true }),
    expenses: integer({ label: 'Expenses', readOnly: true }),
    created,
  },
  columns: [
    'name',
    'owner',
    sum('limit_minor', budgetLabels.limit),
    'period',
    {
      label: 'Total spent',
      name: 'spent',
      kind: 'number',
      expression: spentOfBudget,
      show: ({ spent, currency }) => {
        const [high = 0, low = 0] = String(spent).split(' ').map(Number);
        return money(storedSum({ high, low }), String(currency));
      },
    },
    'expenses',
  ],
  search: ['name', 'owner'],
  filters: ['period'],
  dates: 'created',
  order: ['-created'],
  can: nothing,
});

const expenseModel = tableModel<Tables>({
  path: 'budgets/expense',
  icon: 'list',
  label: 'expense',
  table: 'expense',
  keyIsText: true,
  title: 'description',
  description: 'Expenses are changed by their owners only, because the ledger follows them.',
  fields: {
    description: text({ label: expenseLabels.description, readOnly: true }),
    owner,
    amount_minor: integer({ label: `${expenseLabels.amount} in minor units`, readOnly: true }),
    currency: text({ label: expenseLabels.currency, readOnly: true }),
    category: text({ label: expenseLabels.category, readOnly: true, isOptional: true }),
    spent_on: text({ label: expenseLabels.spentOn, readOnly: true }),
    created,
  },
  columns: ['description', 'owner', sum('amount_minor', expenseLabels.amount), 'category', 'spent_on'],
  search: ['description', 'owner'],
  dates: 'created',
  order: ['-created'],
  can: nothing,
});

const orderModel = tableModel<Tables>({
  path: 'budgets/order',
  icon: 'box',
  label: 'order',
  table: 'customer_order',
  keyIsText: true,
  title: 'id',
  fields: {
    id: text({ label: 'Order', readOnly: true }),
    owner,
    amount_minor: integer({ label: 'Amount in minor units', readOnly: true }),
    currency: text({ label: labelsOf(orderFields).currency, readOnly: true }),
    status: choice(same(orderStatuses), { label: 'Status', readOnly: true }),
    created,
  },
  columns: ['id', 'owner', sum('amount_minor', 'Amount'), 'status', 'created'],
  search: ['owner'],
  filters: ['status'],
  dates: 'created',
  order: ['-created'],
  can: nothing,
});

const taskModel = tableModel<Tables>({
  path: 'budgets/task',
  icon: 'again',
  waiting: { nouns: ['failed task', 'failed tasks'], query: 'status=failed' },
  label: 'task',
  table: 'task',
  keyIsText: true,
  title: 'id',
  description: 'Imports, exports and other work. The owner of a failed task can run it again.',
  fields: {
    id: text({ label: 'Task', readOnly: true }),
    owner,
    type: choice(same(taskTypes), { label: 'Kind', readOnly: true }),
    status: choice(same(taskStatuses), { label: 'Status', readOnly: true }),
    progress: integer({ label: 'Percent', readOnly: true }),
    attempts: integer({ label: 'Attempts', readOnly: true }),
    error: text({ label: 'Error', readOnly: true, isOptional: true }),
    created,
    finished: dateTime({ label: 'Finished', column: 'finished_at_ms', readOnly: true, isOptional: true }),
  },
  columns: ['id', 'owner', 'type', 'status', 'progress', 'error', 'created'],
  search: ['owner'],
  filters: ['type', 'status'],
  dates: 'created',
  order: ['-created'],
  can: nothing,
});
