import { replaceInexact } from '#kit/http/requests/number-texts.ts';
import type { Execution } from '../execution.ts';
import type { GraphqlContext } from '../resolvers.ts';

/** The document and context of an operation, or the errors that refuse it. */
export function prepare(
  execution: Execution,
  params: {
    readonly query: string;
    readonly operationName?: string | null;
    readonly variables?: object | null;
  },
  contextOf: () => GraphqlContext,
) {
  const { query, operationName, variables } = params;
  if (variables) replaceInexact(variables);
  const prepared = execution.prepare({ query, operationName, variables: variables as never });
  if (!('kind' in prepared)) return prepared;
  return {
    schema: execution.schema,
    document: prepared,
    operationName,
    variableValues: variables as { readonly [name: string]: unknown },
    contextValue: contextOf() as GraphqlContext & Record<PropertyKey, unknown>,
  };
}
