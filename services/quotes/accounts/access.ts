import { AppError } from '@octavo/core';
import { drfErrors } from '@octavo/drf/dialect';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import type { Reader } from './store.ts';
import { TokenProblem, type Tokens } from './tokens.ts';

/** Access rules for routes of the API. */
export interface ApiAccess {
  /** Everybody; who sends a token, must send a valid one. */
  readonly open: AccessRule;
  /** Access for users with an account. */
  readonly reader: AccessRule;
}

export interface AccessParts {
  readonly tokens: Tokens;
  readonly accounts: Accounts;
  /** OpenID sign-in whose access tokens are taken, too. */
  readonly oidc: Pick<OidcSignIn<never>, 'holderOf'> | undefined;
}

/** The rules of access by `Authorization: Bearer`. */
export function createAccess(app: HttpApp, parts: AccessParts): ApiAccess {
  app.decorateRequest('reader');
  const identify = async (request: FastifyRequest): Promise<void> => {
    const { authorization } = request.headers;
    const reader = authorization === undefined ? undefined : await readerBy(parts, authorization);
    if (reader) request.userId = reader.id;
    request.setDecorator('reader', reader);
  };
  return {
    open: { security: [{ bearer: [] }, {}], errors: ['unauthenticated'], onRequest: identify },
    reader: {
      security: [{ bearer: [] }],
      async onRequest(request) {
        await identify(request);
        if (!request.getDecorator('reader')) {
          throw new AppError('unauthenticated', 'Authentication credentials were not provided.');
        }
      },
    },
  };
}

/** Returns the caller of a route with the access `reader`. */
export function readerOf(request: FastifyRequest): Reader {
  return request.getDecorator('reader');
}

/** Returns the caller of a route with the access `open`; undefined for a stranger. */
export function possibleReaderOf(request: FastifyRequest): Reader | undefined {
  return request.getDecorator('reader');
}

/** JSON Schema of the errors of the API, which name why a token is refused. */
export const errorSchema = {
  ...drfErrors.errorSchema,
  properties: {
    ...drfErrors.errorSchema.properties,
    code: { type: 'string', description: 'Reason why a token is refused' },
    messages: { type: 'array', items: { type: 'object' }, description: 'Problem with the token' },
  },
};

/** The error of a token in a body that is refused. */
export function tokenRefused(problem: string): AppError {
  const details = { detail: problem, code: 'token_not_valid' };
  return new AppError('unauthenticated', problem, { details });
}

/** Another scheme counts as no credentials. */
async function readerBy(
  { tokens, accounts, oidc }: AccessParts,
  authorization: string,
): Promise<Reader | undefined> {
  const [scheme, token, ...rest] = authorization.trim().split(/\s+/);
  if (scheme?.toLowerCase() !== 'bearer') return undefined;
  if (token === undefined || rest.length > 0) throw malformedHeader();
  const user = oidc && (await accounts.byBearer(oidc, token));
  if (user) return { id: user.id, username: user.username, isStaff: user.isStaff ? 1 : 0 };
  try {
    return await tokens.readerOf(token);
  } catch (error) {
    if (error instanceof TokenProblem) throw accessRefused(error.message);
    throw error;
  }
}

function malformedHeader(): AppError {
  const detail = 'Authorization header must contain two space-delimited values';
  return new AppError('unauthenticated', detail, { details: { detail, code: 'bad_authorization_header' } });
}

function accessRefused(message: string): AppError {
  const detail = 'Given token not valid for any token type';
  const details = {
    detail,
    code: 'token_not_valid',
    messages: [{ token_class: 'AccessToken', token_type: 'access', message }],
  };
  return new AppError('unauthenticated', detail, { details });
}
