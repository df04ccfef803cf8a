import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget as BudgetMessage } from '@octavo/protocols/budget/v1/budget_service';
import { buildSchema, type GraphQLInputObjectType, type GraphQLObjectType } from 'graphql';
import { Budget, BudgetInput } from './budgets/index.ts';
import { typeDefinitions } from './graphql/schema.ts';
import { toBudgetMessage } from './grpc/messages.ts';

const schema = buildSchema(typeDefinitions);
const fieldsOf = (name: string) =>
  Object.keys((schema.getType(name) as GraphQLObjectType | GraphQLInputObjectType).getFields());
const inCamelCase = Object.keys(BudgetMessage.fromPartial({})).filter((name) => name !== '$type');

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
    ['currency', 'period', 'startDate', 'rollover', 'thresholds'],
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
    startDate: '2026-03-01',
    rollover: 'full',
    thresholds: [80],
    spent: 4.2,
    spentMinor: 420,
    remaining: 0.8,
    remainingMinor: 80,
    createdAt: '2026-03-01T12:00:00Z',
    updatedAt: '2026-03-01T12:00:00Z',
    version: 3,
  };
  const message = toBudgetMessage(budget);
  const missing = inCamelCase.filter((name) => Reflect.get(message, name) === undefined);
  assert.deepEqual(missing, [], 'set the field in toBudgetMessage, and in the budget above');
});

for (const [edge, fields, of, without] of edges) {
  test(`${edge} shows each field of a budget, or says that it does not`, () => {
    const missing = Object.keys(of).filter((name) => !fields.includes(name));
    assert.deepEqual(missing.toSorted(), [...without].sort(), 'add the field to the edge, or name it here');
  });
}
