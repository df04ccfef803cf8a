import type { Author } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import { noPermissions, type PermissionAction, type Permissions, type User } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { type TokensOptions, userOfToken } from './tokens.ts';

/** Rules of access by `Authorization: Token <token>`, or by a bearer token of the OpenID provider. Any other counts as no token. */
export interface TokenAccess {
  /** Everybody. Who sends a token is its user, who may see more ({@link mayView}); a token that is not valid is refused. */
  readonly open: AccessRule;
  /** Changes of a model, `library/book`: the token of a user with that permission. */
  to(model: string): Readonly<Record<Exclude<PermissionAction, 'view'>, AccessRule>>;
}

/** Makes the rules for the routes of a scope. */
export function createTokenAccess(scope: HttpApp, tokens: TokensOptions): TokenAccess {
  scope.decorateRequest('tokenPermissions');
  scope.decorateRequest('tokenUser');
  const identify = async (request: FastifyRequest) => {
    const { authorization } = request.headers;
    const token = tokenOf(authorization);
    const user =
      token === undefined ? await userOfBearer(tokens, authorization) : await userOfToken(tokens, token);
    if (token !== undefined && !user) throw unauthenticated('Invalid token.');
    if (user && !user.isActive) throw unauthenticated('User inactive or deleted.');
    request.userId = user?.id ?? null;
    request.setDecorator('tokenUser', user && { id: String(user.id), name: user.username });
    request.setDecorator('tokenPermissions', user && (await tokens.accounts.permissionsOf(user)));
  };
  const open: AccessRule = {
    security: [{ token: [] }, {}],
    errors: ['unauthenticated'],
    onRequest: identify,
  };
  const permitted = (model: string, action: PermissionAction): AccessRule => ({
    security: [{ token: [] }],
    async onRequest(request) {
      await identify(request);
      const permissions = permissionsOf(request);
      if (!permissions) throw unauthenticated('Authentication credentials were not provided.');
      if (!permissions.may(model, action)) {
        throw new AppError('forbidden', 'You do not have permission to perform this action.');
      }
    },
  });
  return {
    open,
    to: (model) => ({
      add: permitted(model, 'add'),
      change: permitted(model, 'change'),
      delete: permitted(model, 'delete'),
    }),
  };
}

/** Returns true if the request has the token of a user who may view all of a model, `library/book`. */
export function mayView(request: FastifyRequest, model: string): boolean {
  return (permissionsOf(request) ?? noPermissions).may(model, 'view');
}

/** The user of the request's token, as the history of the admin names people; undefined without a token. */
export function tokenUser(request: FastifyRequest): Author['user'] {
  return request.getDecorator('tokenUser');
}

/** Permissions of the token's user; undefined without a token. */
function permissionsOf(request: FastifyRequest): Permissions | undefined {
  return request.getDecorator('tokenPermissions');
}

function tokenOf(header = ''): string | undefined {
  const [scheme, token, ...rest] = header.split(/\s+/);
  if (scheme?.toLowerCase() !== 'token') return undefined;
  if (!token) throw unauthenticated('Invalid token header. No credentials provided.');
  if (rest.length > 0) throw unauthenticated('Invalid token header. Token string should not contain spaces.');
  return token;
}

/** The user of an access token of the provider, if one is sent. */
function userOfBearer(
  { accounts, oidc }: TokensOptions,
  authorization: string | undefined,
): Promise<User | undefined> | undefined {
  const token = oidc && bearerToken(authorization);
  return token === undefined ? undefined : accounts.byBearer(oidc as OidcSignIn<never>, token);
}

function unauthenticated(message: string): AppError {
  return new AppError('unauthenticated', message);
}
