import { visitorOf } from '#kit/http/visitor.ts';
import type { ApiParts } from './api.ts';
import { message, RefreshToken, Revocation, Tokens } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const revoked = { message: 'Token revoked' } as const;
const tags = ['tokens'];

/** The routes that take tokens in the body and need no bearer token. */
export function addTokens({ app, sessions, guards }: ApiParts): void {
  app.post(
    routes.refresh,
    {
      ...guards.refresh,
      schema: {
        body: RefreshToken,
        response: { 200: Tokens },
        tags,
        summary: 'Exchange a refresh token for a new pair',
      },
      config: { errors: [refusals.invalidToken(), refusals.tokenExpired(), refusals.rateLimited(60)] },
    },
    (request) => sessions.refresh(request.body.refresh_token, visitorOf(request)),
  );
  app.post(
    routes.revoke,
    {
      ...guards.open,
      schema: {
        body: Revocation,
        response: { 200: message(revoked.message) },
        tags,
        summary: 'End the session of a refresh token or an access token (RFC 7009)',
      },
      config: { errors: [refusals.rateLimited(60)] },
    },
    async (request) => {
      await sessions.revoke(request.body.token);
      return revoked;
    },
  );
}
