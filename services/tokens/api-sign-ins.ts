import { visitorOf } from '#kit/http/visitor.ts';
import type { ApiParts } from './api.ts';
import { Credentials, Issued, message, RefreshToken } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const loggedOut = { message: 'Logged out successfully' } as const;
const { invalidEmail, duplicateEmail, invalidCredentials, missingSecret, userNotFound } = refusals;
const always = [refusals.rateLimited(60), missingSecret()];
const weak = refusals.weakPassword('must be at least 8 characters');
const badToken = [refusals.invalidToken(), refusals.tokenExpired()];

/** The routes that need no token in the header. */
export function addSignIns({ app, accounts, signIns, guards }: ApiParts): void {
  app.post(
    routes.register,
    {
      ...guards.open,
      schema: { body: Credentials, response: { 201: Issued }, tags: ['sign-in'], summary: 'Register' },
      config: { errors: [invalidEmail(), weak, duplicateEmail(), ...always] },
    },
    async (request, reply) =>
      reply.code(201).send({ tokens: await accounts.register(request.body, visitorOf(request)) }),
  );
  app.post(
    routes.login,
    {
      ...guards.open,
      schema: { body: Credentials, response: { 200: Issued }, tags: ['sign-in'], summary: 'Log in' },
      config: { errors: [invalidCredentials(), refusals.locked(900), ...always] },
    },
    async (request) => ({ tokens: await signIns.login(request.body, visitorOf(request)) }),
  );
  app.post(
    routes.refresh,
    {
      ...guards.open,
      schema: {
        body: RefreshToken,
        response: { 200: Issued },
        tags: ['sign-in'],
        summary: 'Exchange a refresh token for a new pair',
      },
      config: { errors: [...badToken, userNotFound(), ...always] },
    },
    (request) => ({ tokens: signIns.refresh(request.body.refreshToken, visitorOf(request)) }),
  );
  app.post(
    routes.logout,
    {
      ...guards.open,
      schema: {
        body: RefreshToken,
        response: { 200: message(loggedOut.message) },
        tags: ['sign-in'],
        summary: 'End the session of a refresh token',
      },
      config: { errors: always },
    },
    (request, reply) => {
      signIns.logout(request.body.refreshToken);
      reply.send(loggedOut);
    },
  );
}
