import { GraphQLError } from 'graphql';
import { type AppError, type ErrorCode, toAppError } from '#kit/base/errors.ts';
import type { Log } from '#kit/base/log.ts';

type Code =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'VALIDATION_FAILED'
  | 'CONFLICT'
  | 'QUERY_TOO_COMPLEX'
  | 'INTERNAL';

const codes: Partial<Record<ErrorCode, Code>> = {
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  invalid_input: 'VALIDATION_FAILED',
  validation_failed: 'VALIDATION_FAILED',
  conflict: 'CONFLICT',
  precondition_failed: 'CONFLICT',
  method_not_allowed: 'VALIDATION_FAILED',
  unsupported_media_type: 'VALIDATION_FAILED',
  too_large: 'QUERY_TOO_COMPLEX',
  rate_limited: 'FORBIDDEN',
};

/** The code of an error of our rules. */
export function codeOf({ code }: AppError): Code {
  return codes[code] ?? 'INTERNAL';
}

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
