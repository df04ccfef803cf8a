import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildSchema, type GraphQLInputObjectType, type GraphQLObjectType } from 'graphql';
import { Budget as BudgetMessage } from '#proto/budget/v1/budget_service.ts';
import { Budget, BudgetInput } from './budgets/index.ts';
import { typeDefinitions } from './graphql/schema.ts';

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

for (const [edge, fields, of, without] of edges) {
  test(`${edge} shows each field of a budget, or says that it does not`, () => {
    const missing = Object.keys(of).filter((name) => !fields.includes(name));
    assert.deepEqual(missing.toSorted(), [...without].sort(), 'add the field to the edge, or name it here');
  });
}
