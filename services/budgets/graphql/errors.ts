import type { Log } from '@octavo/core';
import { type AppError, toAppError } from '@octavo/core';
import { GraphQLError } from 'graphql';
import { type Code, codeOf } from './error-codes.ts';

export function queryTooComplex(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'QUERY_TOO_COMPLEX' } });
}

/**
 * Converts an error for clients: those of the language as they are, those of our rules with their code, and all others as
 * INTERNAL, which are logged with their cause.
 */
export function toClientError(error: Readonly<Error>, log: Log): GraphQLError {
  const inner = originalOf(error);
  if (error instanceof GraphQLError && inner === undefined) {
    // The errors of graphql-jit about variables have no extensions.
    return error.extensions?.code ? error : withCode(error, 'VALIDATION_FAILED');
  }
  const known = toAppError(inner ?? error);
  const code = codeOf(known);
  if (known.code === 'internal') log.error({ err: inner ?? error }, 'a GraphQL field failed');
  return withCode(error, code, known);
}

/** Returns the error of a resolver. The error of the library wraps it, at times more than once. */
function originalOf(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  return error.originalError === undefined || error.originalError === null
    ? undefined
    : originalOf(error.originalError);
}

function withCode(error: Readonly<Error>, code: Code, known?: AppError): GraphQLError {
  const { nodes, source, positions, path } = error instanceof GraphQLError ? error : ({} as GraphQLError);
  const fields = known && Object.keys(known.fields).length > 0 ? { fields: known.fields } : {};
  return new GraphQLError(known?.message ?? error.message, {
    nodes,
    source,
    positions,
    path,
    extensions: { code, ...fields },
  });
}
