import type { Clock } from '@octavo/core';
import { AppError, Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { clientAddress } from '@octavo/web/server';
import { Meta, metaOf } from '../meta.ts';
import { routes } from '../routes.ts';
import { type Access, callOf } from './access.ts';

const LoginRequest = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 128, format: 'text' }),
    password: Type.String({ minLength: 1, maxLength: 1_024, format: 'text' }),
  },
  { title: 'LoginRequest', examples: [{ username: 'editor', password: 'correct horse battery staple' }] },
);

const LoginResult = Type.Object(
  { token: Type.String(), username: Type.String(), role: Type.String() },
  {
    title: 'LoginResult',
    examples: [{ token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln', username: 'editor', role: 'editor' }],
  },
);

const wrongCredentials = new AppError('unauthenticated', 'The username or the password is wrong.', {
  reason: 'INVALID_CREDENTIALS',
});

export function addLogin(app: HttpApp, { access, clock }: { access: Access; clock: Clock }): void {
  app.post(
    routes.login,
    {
      access: 'public',
      schema: {
        operationId: 'login',
        tags: ['Sign-in'],
        summary: 'Exchange a username and a password for a token',
        description:
          'Takes `username` and `password` and returns a bearer token (JWT) that expires after an hour. Several wrong passwords lock the account for a while (423).',
        body: LoginRequest,
        response: { 200: Type.Object({ data: LoginResult, meta: Meta }) },
      },
      config: { errors: [wrongCredentials, 'rate_limited'] },
    },
    async (request, reply) => {
      // RFC 6749 section 5.1.
      reply.header('cache-control', 'no-store');
      const credentials = { ...request.body, remoteAddress: clientAddress(request) };
      const data = await access.signIn(credentials, callOf(request));
      return { data, meta: metaOf(request, clock) };
    },
  );
}
