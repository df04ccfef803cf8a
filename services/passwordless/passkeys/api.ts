import { normalizeEmail } from '#kit/auth/email.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import { callerOf, type Guards, senderOf } from '../api-guard.ts';
import { message, Tokens } from '../api-schemas.ts';
import { refusals } from '../refusals.ts';
import { routes } from '../routes.ts';
import {
  CreationOptions,
  Enrolled,
  ListedPasskey,
  PasskeyId,
  PasskeyList,
  PasskeyName,
  RegistrationSubject,
  RequestOptions,
  SignInSubject,
} from './api-schemas.ts';
import { passkeyErrors } from './errors.ts';
import type { Passkey } from './passkey.ts';
import type { Passkeys } from './passkeys.ts';
import { Asserted, assertionOf, Registered, registrationOf } from './responses.ts';
import type { PasskeySignIns } from './sign-ins.ts';

const removed = { message: 'Passkey removed' } as const;
const tags = ['passkeys'];
const bearer = { security: [{ bearer: [] }], tags };
const always = [refusals.missingToken(), refusals.invalidToken(), refusals.tokenExpired()];
const limited = refusals.rateLimited(60);

interface PasskeyApi {
  readonly app: HttpApp;
  readonly guards: Guards;
  readonly passkeys: Passkeys;
  readonly passkeySignIns: PasskeySignIns;
}

/** Adds the endpoints of passkeys. */
export function addPasskeys(parts: PasskeyApi): void {
  addRegistration(parts);
  addSignIn(parts);
  addOwnPasskeys(parts);
}

function addRegistration({ app, passkeys, guards }: PasskeyApi): void {
  app.post(
    routes.passkeyRegisterOptions,
    {
      ...guards.enroll,
      schema: {
        body: RegistrationSubject,
        response: { 200: CreationOptions },
        security: [{}, { bearer: [] }],
        tags,
        summary: 'Options for creating a passkey',
        description: 'With a token, the passkey is for its user. Without one, it is for a new user.',
      },
      config: {
        errors: [
          ...always,
          refusals.invalidEmail(),
          refusals.emailMismatch(),
          refusals.reauthRequired(),
          limited,
        ],
      },
    },
    (request) => {
      const email = normalizeEmail(request.body.email);
      if (email === undefined) throw refusals.invalidEmail();
      return passkeys.begin({ email, caller: request.caller, ...senderOf(request) });
    },
  );
  app.post(
    routes.passkeyRegisterComplete,
    {
      ...guards.verify,
      schema: {
        body: Registered,
        response: { 200: Enrolled },
        tags,
        summary: 'Register the passkey that the authenticator created, and sign in',
      },
      config: {
        errors: [
          passkeyErrors.invalidCeremony(),
          passkeyErrors.badRegistration(),
          passkeyErrors.exists(),
          passkeyErrors.tooMany(),
          limited,
        ],
      },
    },
    async (request) => {
      const { pending_id: pendingId, name } = request.body;
      const answered = { pendingId, name, response: registrationOf(request.body), ...senderOf(request) };
      const { user, passkey, tokens } = await passkeys.complete(answered);
      const { last_used_at: _, ...credential } = shown(passkey);
      return { verified: true as const, user_id: user.id, credential, ...tokens };
    },
  );
}

function addSignIn({ app, passkeySignIns, guards }: PasskeyApi): void {
  app.post(
    routes.passkeyLoginOptions,
    {
      ...guards.open,
      schema: {
        body: SignInSubject,
        response: { 200: RequestOptions },
        tags,
        summary: 'Options for signing in with a passkey',
        description:
          'With an address, one of the passkeys listed must sign. Without one, the authenticator offers those that it holds.',
      },
      config: { errors: [refusals.invalidEmail(), limited] },
    },
    (request) => {
      const { email: given } = request.body;
      const email = given === undefined ? undefined : normalizeEmail(given);
      if (given !== undefined && email === undefined) throw refusals.invalidEmail();
      return passkeySignIns.begin(email);
    },
  );
  app.post(
    routes.passkeyLoginComplete,
    {
      ...guards.verify,
      schema: { body: Asserted, response: { 200: Tokens }, tags, summary: 'Sign in with a passkey' },
      config: { errors: [passkeyErrors.invalidCeremony(), passkeyErrors.badAssertion(), limited] },
    },
    (request) => {
      const { pending_id: pendingId } = request.body;
      return passkeySignIns.complete(pendingId, assertionOf(request.body), visitorOf(request));
    },
  );
}

function addOwnPasskeys({ app, passkeys, guards }: PasskeyApi): void {
  app.get(
    routes.passkeys,
    {
      ...guards.bearer,
      schema: { ...bearer, response: { 200: PasskeyList }, summary: 'Your passkeys, oldest first' },
      config: { errors: always },
    },
    async (request) => ({ credentials: (await passkeys.of(callerOf(request))).map(shown) }),
  );
  app.patch(
    routes.passkey,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        params: PasskeyId,
        body: PasskeyName,
        response: { 200: ListedPasskey },
        summary: 'Name a passkey',
      },
      config: { errors: [passkeyErrors.notFound(), ...always] },
    },
    async (request) => {
      const { params, body } = request;
      return shown(await passkeys.rename(callerOf(request), params.id, body.name));
    },
  );
  app.delete(
    routes.passkey,
    {
      ...guards.bearer,
      schema: {
        ...bearer,
        params: PasskeyId,
        response: { 200: message(removed.message) },
        summary: 'Remove a passkey, unless it is the last way to sign in',
      },
      config: {
        errors: [passkeyErrors.notFound(), refusals.lastFactor(), refusals.reauthRequired(), ...always],
      },
    },
    async (request) => {
      await passkeys.remove(callerOf(request), request.params.id, senderOf(request));
      return removed;
    },
  );
}

function shown({ id, name, createdAtMs, lastUsedAtMs, transports, isBackedUp }: Passkey) {
  return {
    id,
    name,
    created_at: new Date(createdAtMs).toISOString(),
    transports: [...transports],
    backed_up: isBackedUp,
    last_used_at: lastUsedAtMs === undefined ? null : new Date(lastUsedAtMs).toISOString(),
  };
}
