import { buildSchema, type GraphQLObjectType, GraphQLScalarType, type GraphQLSchema } from 'graphql';
import { findUnsafeText, invalid, textProblem } from '../edges/schema-parser.ts';
import { budgetFields, expenseFields, mutations, queries, subscriptions } from './resolvers.ts';
import { DateTime, Day, Decimal } from './scalars.ts';
import { typeDefinitions } from './schema.ts';

type Resolver = (...given: never[]) => unknown;
type Resolvers = Readonly<Record<string, Resolver | { subscribe: Resolver; resolve: Resolver }>>;

/** The schema with its resolvers and scalars. Texts in the arguments of root fields are checked. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchema(typeDefinitions);
  const types: Readonly<Record<string, Resolvers>> = {
    Query: checked(queries),
    Mutation: checked(mutations),
    Subscription: checked(subscriptions),
    Budget: budgetFields,
    Expense: expenseFields,
  };
  for (const [name, resolvers] of Object.entries(types)) {
    const fields = (schema.getType(name) as GraphQLObjectType).getFields();
    for (const [field, resolver] of Object.entries(resolvers)) {
      Object.assign(
        fields[field] as object,
        typeof resolver === 'function' ? { resolve: resolver } : resolver,
      );
    }
  }
  for (const scalar of [Decimal, Day, DateTime]) {
    const { serialize, parseValue, parseLiteral } = scalar;
    const declared = schema.getType(scalar.name);
    if (declared instanceof GraphQLScalarType)
      Object.assign(declared, { serialize, parseValue, parseLiteral });
  }
  return schema;
}

function checked(resolvers: Resolvers): Resolvers {
  return Object.fromEntries(
    Object.entries(resolvers).map(([name, resolver]) => [
      name,
      typeof resolver === 'function'
        ? afterCheck(resolver)
        : { ...resolver, subscribe: afterCheck(resolver.subscribe) },
    ]),
  );
}

function afterCheck(resolver: Resolver): Resolver {
  return (...given: never[]) => {
    const [, values = {}] = given as readonly object[];
    const [first, second] = findUnsafeText(values) ?? [];
    const field = first === 'input' ? second : first;
    if (field !== undefined) throw invalid({ [field]: textProblem });
    return resolver(...given);
  };
}
