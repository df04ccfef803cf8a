import { AppError } from '#kit/errors.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import { Type } from '#kit/schema.ts';
import { metaOf } from './api-meta.ts';
import type { ApiParts } from './api-parts.ts';
import { dataWithMeta } from './api-schemas.ts';
import { callOf } from './call.ts';
import { routes } from './routes.ts';

const LoginRequest = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 128, format: 'text' }),
    password: Type.String({ minLength: 1, maxLength: 1_024, format: 'text' }),
  },
  { examples: [{ username: 'editor', password: 'correct horse battery staple' }] },
);

const LoginResult = Type.Object(
  { token: Type.String(), username: Type.String(), role: Type.String() },
  { examples: [{ token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln', username: 'editor', role: 'editor' }] },
);

const wrongCredentials = new AppError('unauthenticated', 'The username or the password is wrong.', {
  reason: 'INVALID_CREDENTIALS',
});

export function addLogin({ app, access, clock }: Pick<ApiParts, 'app' | 'access' | 'clock'>): void {
  app.post(
    routes.login,
    {
      access: 'public',
      schema: {
        operationId: 'login',
        summary: 'Exchange a name and a password for a token',
        body: LoginRequest,
        response: { 200: dataWithMeta(LoginResult) },
      },
      config: { errors: [wrongCredentials, 'rate_limited'] },
    },
    async (request) => {
      const { username, password } = request.body;
      const data = await access.signIn(
        { username, password, remoteAddress: clientAddress(request) },
        callOf(request),
      );
      return { data, meta: metaOf(request, clock) };
    },
  );
}
