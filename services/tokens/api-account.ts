import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiParts } from './api.ts';
import { Confirmation, EmailChange, message, PasswordChange, Profile } from './api-schemas.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const passwordChanged = { message: 'Password changed successfully' } as const;
const emailChanged = { message: 'Email updated successfully' } as const;
const deleted = { message: 'Account deleted successfully' } as const;
const bearer = { security: [{ bearer: [] }], tags: ['account'] };
const { wrongPassword, invalidEmail, duplicateEmail, userNotFound } = refusals;
const always = [
  refusals.missingToken(),
  refusals.invalidToken(),
  refusals.tokenExpired(),
  userNotFound(),
  refusals.rateLimited(60),
  refusals.missingSecret(),
];
const confirmed = [wrongPassword(), refusals.locked(900), ...always];
const weak = refusals.weakPassword('must be at least 8 characters');

export function addAccount(parts: ApiParts): void {
  const { app, accounts, guards } = parts;
  app.get(
    routes.me,
    {
      ...guards.bearer,
      schema: { ...bearer, response: { 200: Profile }, summary: 'Who the token speaks for' },
      config: { errors: always },
    },
    (request, reply) => {
      const { id, email, createdMs } = request.holder.user;
      reply.send({ id, email, createdAt: new Date(createdMs).toISOString() });
    },
  );
  app.post(
    routes.changePassword,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        body: PasswordChange,
        response: { 200: message(passwordChanged.message) },
        summary: 'Change the password and end all sessions',
      },
      config: { errors: [weak, ...confirmed] },
    },
    async (request) => {
      await accounts.changePassword(request.holder, request.body);
      return passwordChanged;
    },
  );
  app.put(
    routes.email,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        body: EmailChange,
        response: { 200: message(emailChanged.message) },
        summary: 'Change the e-mail address',
      },
      config: { errors: [invalidEmail(), duplicateEmail(), ...confirmed] },
    },
    async (request) => {
      await accounts.changeEmail(request.holder, request.body);
      return emailChanged;
    },
  );
  addDeletion(parts);
}

/** Some clients drop the body of a DELETE; the other address is for them. */
function addDeletion({ app, accounts, guards }: ApiParts): void {
  const options = {
    ...guards.bearer,
    schema: {
      ...bearer,
      body: Confirmation,
      response: { 200: message(deleted.message) },
      summary: 'Delete the account',
    },
    config: { errors: confirmed },
  };
  const remove = async (request: FastifyRequest<{ Body: { password: string } }>, reply: FastifyReply) => {
    await accounts.remove(request.holder, request.body.password);
    return reply.send(deleted);
  };
  app.delete(routes.account, options, remove);
  app.post(routes.accountDeletion, options, remove);
}
