import { Type } from '@octavo/core';
import { defaultErrorTable, fromFastify, OverloadError, toHttpError } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { codeOf } from '../error-codes.ts';
import { responseTypeFor } from './media-types.ts';

const table = { ...defaultErrorTable, validation_failed: { status: 400, code: 'VALIDATION_FAILED' } };

/**
 * The error handler of the address of GraphQL: what is refused before it is executed has a status of its own, and the form of other
 * errors of GraphQL (https://graphql.github.io/graphql-over-http/draft/#sec-Status-Codes).
 */
export function sendGraphqlError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = fromFastify(thrown);
  const { status, message, fields, retryAfterSeconds } = toHttpError(error, table);
  if (status >= 500 && !(error instanceof OverloadError))
    request.log.error({ err: error.cause ?? error }, 'a GraphQL request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(retryAfterSeconds)));
  const extensions = { code: codeOf(error), ...(Object.keys(fields).length > 0 && { fields }) };
  reply
    .code(status)
    .header('cache-control', 'no-store')
    .type(`${responseTypeFor(request)}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message, extensions }] }));
}

const GraphqlErrors = Type.Object(
  {
    errors: Type.Array(
      Type.Object({ message: Type.String(), extensions: Type.Object({ code: Type.String() }) }),
    ),
  },
  { title: 'GraphqlErrors' },
);

/** Responses of the GraphQL address besides results, for `/openapi.json`. */
export const errorResponses = Object.fromEntries(
  (
    [
      [400, 'VALIDATION_FAILED', 'The request or its document is invalid'],
      [401, 'UNAUTHENTICATED', 'A valid token is required'],
      [403, 'FORBIDDEN', 'The account is disabled'],
      [409, 'CONFLICT', 'The Idempotency-Key was used for another request'],
      [413, 'QUERY_TOO_COMPLEX', 'The body is too large'],
      [415, 'VALIDATION_FAILED', 'The body is not JSON'],
      [429, 'FORBIDDEN', 'Too many requests'],
      [500, 'INTERNAL', 'Something went wrong on our side'],
      [503, 'INTERNAL', 'The service is overloaded'],
      [504, 'INTERNAL', 'The database did not confirm the change'],
    ] as const
  ).map(([status, code, message]) => [
    status,
    {
      description: message,
      content: {
        'application/json': {
          schema: GraphqlErrors,
          example: { errors: [{ message: `${message}.`, extensions: { code } }] },
        },
      },
    },
  ]),
);
