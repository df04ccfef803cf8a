import type { FastifyRequest } from 'fastify';
import { noPermissions, type PermissionAction, type Permissions } from '../../accounts/index.ts';
import { AppError } from '../../errors.ts';
import type { AccessRule } from '../../http/access.ts';
import type { HttpApp } from '../../http/server.ts';
import { type TokensOptions, userOfToken } from './tokens.ts';

/** Rules of access by `Authorization: Token <token>`. Another scheme counts as no token. */
export interface TokenAccess {
  /** Everybody. Who sends a token is its user, who may see more ({@link mayView}); a token that is not valid is refused. */
  readonly open: AccessRule;
  /** Changes of a model, `library/book`: the token of a user with that permission. */
  to(model: string): Readonly<Record<Exclude<PermissionAction, 'view'>, AccessRule>>;
}

/** Makes the rules for the routes of a scope. */
export function createTokenAccess(scope: HttpApp, tokens: TokensOptions): TokenAccess {
  scope.decorateRequest('tokenPermissions');
  const identify = async (request: FastifyRequest) => {
    const token = tokenOf(request.headers.authorization);
    const user = token === undefined ? undefined : await userOfToken(tokens, token);
    if (token !== undefined && !user) throw unauthenticated('Invalid token.');
    if (user && !user.isActive) throw unauthenticated('User inactive or deleted.');
    request.userId = user?.id ?? null;
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

/** Whether the request has the token of a user who may view all of a model, `library/book`. */
export function mayView(request: FastifyRequest, model: string): boolean {
  return (permissionsOf(request) ?? noPermissions).may(model, 'view');
}

/** Those of the token's user; undefined without a token. */
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

function unauthenticated(message: string): AppError {
  return new AppError('unauthenticated', message);
}
