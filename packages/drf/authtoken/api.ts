import { AppError, Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { fieldErrors, nonFieldErrors } from '../errors.ts';
import { text } from '../fields.ts';
import { bodyTypes, type DrfScope } from '../scope.ts';
import { serializer } from '../serializer.ts';
import { issueToken, type TokensOptions } from './tokens.ts';

const Token = Type.Object(
  {
    token: Type.String({ pattern: '^[0-9a-f]{40}$', examples: ['9944b09199c62bcf9418ad846dd0e4bbdfc6ee4b'] }),
  },
  { title: 'Token' },
);

/** The options of a server for the scheme of tokens: its challenge, and its place in `/openapi.json`. */
export const tokenScheme = {
  challenge: 'Token',
  securitySchemes: {
    token: {
      type: 'apiKey' as const,
      in: 'header',
      name: 'Authorization',
      description: '`Token <token>`',
    },
  },
};

/** Adds the route that gives a new token for a username and a password. */
export function addTokenRoute(
  scope: HttpApp,
  drf: DrfScope,
  { path, tokens }: { path: string; tokens: TokensOptions },
): void {
  const credentials = serializer(
    { username: text(), password: text({ trims: false, format: 'password' }) },
    { title: 'TokenRequest' },
  );
  drf.describe(path, { name: 'Token', description: 'Creates a token.', access: 'public' });
  scope.post(
    path,
    {
      access: 'public',
      schema: {
        tags: ['tokens'],
        summary: 'Create a token',
        description:
          'Takes `username` and `password` and returns a token for the `Authorization` header. Each call makes a new one; the others stay valid.',
        consumes: bodyTypes,
        body: credentials.schema,
        response: { 200: Token },
      },
      config: { errors: ['rate_limited'] },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const user = await tokens.accounts.signIn(await credentials.parse(request.body)).catch(refuse);
      return { token: await issueToken(tokens, user) };
    },
  );
}

function refuse(error: unknown): never {
  if (!(error instanceof AppError) || error.reason !== 'INVALID_CREDENTIALS') throw error;
  throw fieldErrors({ [nonFieldErrors]: ['Unable to log in with provided credentials.'] });
}
