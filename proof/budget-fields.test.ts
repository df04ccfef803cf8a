import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { EntityFields } from '@octavo/core';
import {
  Budget as BudgetMessage,
  Expense as ExpenseMessage,
} from '@octavo/protocols/budget/v1/budget_service';
import { PageClient } from '@octavo/testing';
import { buildSchema, type GraphQLInputObjectType, type GraphQLObjectType } from 'graphql';
import { commands } from '../apps/budget-manager/commands.ts';
import { Budget, BudgetInput, budgetFields } from '../services/budgets/budgets/index.ts';
import { customerFields } from '../services/budgets/customers/index.ts';
import { Expense, ExpenseInput, expenseFields } from '../services/budgets/expenses/index.ts';
import { typeDefinitions } from '../services/budgets/graphql/schema.ts';
import { toBudgetMessage } from '../services/budgets/grpc/messages.ts';
import { rowFields } from '../services/budgets/imports/formats/reading.ts';
import { orderFields } from '../services/budgets/orders/index.ts';
import { recurringFields } from '../services/budgets/recurring/recurring.ts';
import { ruleFields } from '../services/budgets/rules/rule.ts';
import { password, startBudgets } from '../services/budgets/testing.ts';
import { signedInClient } from '../services/budgets/testing-pages.ts';

const schema = buildSchema(typeDefinitions);
const fieldsOf = (name: string) =>
  Object.keys((schema.getType(name) as GraphQLObjectType | GraphQLInputObjectType).getFields());
const inCamelCase = Object.keys(BudgetMessage.fromPartial({})).filter((name) => name !== '$type');
const inExpenseMessage = Object.keys(ExpenseMessage.fromPartial({}));

/** Each edge, and the fields of the resource that it leaves out on purpose. */
const edges: [edge: string, fields: readonly string[], of: object, without: readonly string[]][] = [
  [
    'GraphQL Budget',
    fieldsOf('Budget'),
    Budget.properties,
    ['startDate', 'thresholds', 'spentMinor', 'remainingMinor'],
  ],
  ['GraphQL BudgetInput', fieldsOf('BudgetInput'), BudgetInput.properties, []],
  ['GraphQL BudgetPatch', fieldsOf('BudgetPatch'), BudgetInput.properties, ['currency', 'startDate']],
  [
    'proto Budget',
    inCamelCase,
    BudgetInput.properties,
    ['currency', 'period', 'periodDay', 'startDate', 'rollover', 'thresholds'],
  ],
  [
    'GraphQL Expense',
    fieldsOf('Expense'),
    Expense.properties,
    [
      ...['notes', 'externalId', 'originalAmount', 'originalAmountMinor', 'originalCurrency'],
      ...['rate', 'rateDate', 'updatedAt'],
    ],
  ],
  [
    'GraphQL ExpenseInput',
    fieldsOf('ExpenseInput'),
    ExpenseInput.properties,
    ['rateDate', 'notes', 'externalId'],
  ],
  [
    'GraphQL ExpensePatch',
    fieldsOf('ExpensePatch'),
    ExpenseInput.properties,
    ['rateDate', 'notes', 'externalId'],
  ],
  [
    'proto Expense',
    inExpenseMessage,
    ExpenseInput.properties,
    ['currency', 'rate', 'rateDate', 'tags', 'notes', 'externalId'],
  ],
];

test('gRPC fills each field of its message', () => {
  const budget: Budget = {
    id: 'b1',
    name: 'Food',
    limit: 5,
    limitMinor: 500,
    currency: 'USD',
    period: 'monthly',
    periodDay: 1,
    startDate: '2026-03-01',
    rollover: 'full',
    thresholds: [80],
    spent: 4.2,
    spentMinor: 420,
    remaining: 0.8,
    remainingMinor: 80,
    role: 'owner',
    sharedBy: null,
    createdAt: '2026-03-01T12:00:00Z',
    updatedAt: '2026-03-01T12:00:00Z',
    version: 3,
  };
  const message = toBudgetMessage(budget);
  const missing = inCamelCase.filter((name) => Reflect.get(message, name) === undefined);
  assert.deepEqual(missing, [], 'set the field in toBudgetMessage, and in the budget above');
});

for (const [edge, fields, of, without] of edges) {
  test(`${edge} shows each field, or says that it does not`, () => {
    const missing = Object.keys(of).filter((name) => !fields.includes(name));
    assert.deepEqual(missing.toSorted(), [...without].sort(), 'add the field to the edge, or name it here');
  });
}

type Place = 'the form' | 'the pages' | 'the admin' | 'the import' | 'the export' | 'the command line';

/** A value, its look on pages and in the admin, and the places that have the field besides REST, which has all. */
type Declared = Readonly<
  Record<string, readonly [value: unknown, shown: RegExp, ...places: readonly Place[]]>
>;

const budgetPlaces: Declared = {
  name: ['Quagga', />Quagga</, 'the form', 'the pages', 'the admin', 'the command line'],
  limit: [987.5, /987\.50/, 'the form', 'the pages', 'the admin', 'the command line'],
  currency: ['SEK', /SEK/, 'the form', 'the pages', 'the admin', 'the command line'],
  period: ['quarterly', /quarter/, 'the form', 'the pages', 'the admin', 'the command line'],
  periodDay: [17, /\bfrom day 17\b/, 'the form', 'the pages', 'the command line'],
  startDate: ['2011-02-03', /2011-02-03/, 'the form'],
  rollover: ['full', /rolls over/, 'the form', 'the pages'],
  thresholds: [[73], /\b73\b/, 'the form'],
};
const expensePlaces: Declared = {
  budgetId: ['', />Quagga</, 'the form', 'the pages', 'the command line'],
  kind: ['refund', /Refund/, 'the form', 'the pages', 'the export', 'the command line'],
  description: [
    'Okapi feed',
    /Okapi feed/,
    ...(['the form', 'the pages', 'the admin', 'the import', 'the export', 'the command line'] as const),
  ],
  amount: [
    12,
    /15\.00/,
    ...(['the form', 'the pages', 'the admin', 'the import', 'the export', 'the command line'] as const),
  ],
  currency: ['EUR', /EUR|€/, 'the form', 'the pages', 'the import', 'the export', 'the command line'],
  rate: ['1.25', /1\.25/, 'the form'],
  rateDate: ['2026-03-01', /2026-03-01/],
  category: [
    'Zebras',
    /Zebras/,
    ...(['the form', 'the pages', 'the admin', 'the import', 'the export', 'the command line'] as const),
  ],
  tags: [['steppe'], /#steppe/, 'the form', 'the pages', 'the import', 'the export'],
  spentOn: [
    '2026-03-11',
    /Mar 11|2026-03-11/,
    ...(['the form', 'the pages', 'the admin', 'the import', 'the export', 'the command line'] as const),
  ],
  notes: ['Paid by Ida', /Paid by Ida/, 'the form', 'the pages', 'the import', 'the export'],
  externalId: ['gnu-17', /gnu-17/, 'the import', 'the export'],
};
const customerPlaces: Declared = {
  name: ['Ida Gnu', />Ida Gnu</, 'the form', 'the pages'],
  email: ['ida@gnu.example', /mailto:ida@gnu\.example/, 'the form', 'the pages'],
  phone: ['+46 8 123', />\+46 8 123</, 'the form', 'the pages'],
};
const orderPlaces: Declared = {
  customerId: ['', />Ida Gnu</, 'the form', 'the pages'],
  budgetId: ['', />Quagga</, 'the form'],
  items: [[{ description: 'Saddle', quantity: 2, unitAmount: 41 }], /Saddle/, 'the form', 'the pages'],
  currency: ['SEK', /SEK/, 'the form', 'the pages', 'the admin'],
};
const recurringPlaces: Declared = {
  budgetId: ['', />Quagga</, 'the form', 'the pages'],
  description: ['Hay', />Hay</, 'the form', 'the pages'],
  amount: [31, /31\.00/, 'the form', 'the pages'],
  freq: ['weekly', /week/, 'the form', 'the pages'],
  start: ['2031-05-06', /May 6, 2031/, 'the form', 'the pages'],
  category: ['Fodder', /Fodder/, 'the form'],
  interval: [3, /every 3 weeks/i, 'the form', 'the pages'],
  byDay: [['TU'], /Tuesday/, 'the form', 'the pages'],
  byMonthDay: [undefined, /\bday 31\b/, 'the form'],
  onWeekend: ['after', /Monday after a weekend/, 'the form', 'the pages'],
  end: ['2032-05-06', /2032/, 'the form', 'the pages'],
  count: [undefined, /\b9 times\b/, 'the form'],
  timezone: ['Europe/Stockholm', /Stockholm/, 'the form'],
};
const rulePlaces: Declared = {
  conditions: [
    [{ field: 'description', op: 'contains', value: 'gnu food' }],
    />gnu food</,
    'the form',
    'the pages',
  ],
  match: ['any', /\bfirst rule\b/, 'the form'],
  set: [{ category: 'Fodder', addTags: ['herd'] }, />Fodder</, 'the form', 'the pages'],
  transfer: [true, />transfer</, 'the form', 'the pages'],
  enabled: [false, />off</, 'the form', 'the pages'],
  position: [1, /\bfirst rule\b/],
};

/** Names of controls and options that differ from those of the fields. */
const inForms: Readonly<Record<string, string>> = {
  items: 'quantity',
  conditions: 'conditions[0].value',
  set: 'budgetId',
};
const inOptions: Readonly<Record<string, string>> = {
  periodDay: 'period-day',
  spentOn: 'date',
  kind: 'refund',
};

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');
const browser = await signedInClient(app, alice);
const staff = new PageClient(app.url);
const setup = new URL(app.setupLink);
await staff.open(`${setup.pathname}${setup.search}`);
const token = setup.searchParams.get('token') ?? '';
await staff.send(setup.pathname, { token, username: 'root', password });

interface Feature {
  readonly name: string;
  readonly fields: EntityFields;
  readonly declared: Declared;
  /** Ids of what it belongs to. */
  readonly references?: Readonly<Record<string, string>>;
  readonly form: string;
  readonly pages: (id: string) => readonly string[];
  readonly admin?: string;
  readonly command?: string;
  readonly csv?: string;
}

async function check(feature: Feature): Promise<string> {
  const { name, fields, declared, references = {}, form, pages, admin, command, csv } = feature;
  for (const field of Object.keys(fields))
    assert.ok(declared[field], `${name} have a new field: say in this test which places have ${field}`);
  const values = Object.fromEntries(Object.entries(declared).map(([field, [value]]) => [field, value]));
  const made = await alice.create(`/api/${name}`, { ...values, ...references });
  const { html: inForm } = await browser.open(form);
  const onPages = [];
  for (const path of pages(made.id)) onPages.push(mainOf((await browser.open(path)).html));
  const inAdmin = admin ? (await staff.open(`/admin/budgets/${admin}/`)).html : '';
  const [rows = ''] = /<tbody[\s\S]*<\/tbody>/.exec(inAdmin) ?? [];
  const record = admin ? (await staff.open(`/admin/budgets/${admin}/${made.id}/change/`)).html : '';
  const { operands = [], options = {} } = commands[command ?? ''] ?? {};
  const header = csv ? ((await alice.get(csv)).text.split('\n')[0] ?? '').trim().split(',') : [];
  for (const [field, [, shown, ...places]] of Object.entries(declared)) {
    assert.ok(field in made, `REST has ${field} of ${name}`);
    const found: Record<Place, boolean> = {
      'the form': inForm.includes(`name="${inForms[field] ?? field}"`),
      'the pages': onPages.some((html) => shown.test(html)),
      'the admin': [rows, record].some((html) => shown.test(html)),
      'the import': csv !== undefined && (rowFields as readonly string[]).includes(field),
      'the export': header.includes(field),
      'the command line':
        operands.includes(field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()) ||
        (inOptions[field] ?? field) in options,
    };
    for (const [place, isFound] of Object.entries(found)) {
      const isDeclared = (places as readonly string[]).includes(place);
      const verb = isDeclared ? 'should have' : 'is not declared to have';
      assert.equal(isFound, isDeclared, `${place} ${verb} ${field} of ${name}`);
    }
  }
  return made.id;
}

/** The page without its navigation and forms, but with the tables in which rows are chosen. */
function mainOf(html: string): string {
  const [main = ''] = /<main[\s\S]*<\/main>/.exec(html) ?? [];
  return main.replaceAll(/<form[\s\S]*?<\/form>/g, (form) =>
    (form.match(/<table[\s\S]*?<\/table>/g) ?? []).join(''),
  );
}

test('every place says yes or no for every field that people write', async () => {
  const budgetId = await check({
    name: 'budgets',
    fields: budgetFields,
    declared: budgetPlaces,
    form: '/budgets/new',
    pages: (id) => [`/budgets/${id}`],
    admin: 'budget',
    command: 'add-budget',
  });
  await check({
    name: 'expenses',
    fields: expenseFields,
    declared: expensePlaces,
    references: { budgetId },
    form: '/expenses/new',
    pages: () => ['/expenses'],
    admin: 'expense',
    command: 'add-expense',
    csv: '/api/export?format=csv',
  });
  const customerId = await check({
    name: 'customers',
    fields: customerFields,
    declared: customerPlaces,
    form: '/customers/new',
    pages: () => ['/customers'],
  });
  await check({
    name: 'orders',
    fields: orderFields,
    declared: orderPlaces,
    references: { customerId, budgetId },
    form: '/orders/new',
    pages: (id) => [`/orders/${id}`],
    admin: 'order',
  });
  await check({
    name: 'recurring',
    fields: recurringFields,
    declared: recurringPlaces,
    references: { budgetId },
    form: '/recurring/new',
    pages: () => ['/recurring'],
  });
  await check({
    name: 'rules',
    fields: ruleFields,
    declared: rulePlaces,
    form: '/rules/new',
    pages: () => ['/rules'],
  });
});
