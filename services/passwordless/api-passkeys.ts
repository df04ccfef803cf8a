import { normalizeEmail } from '#kit/auth/email.ts';
import { visitorOf } from '#kit/http/visitor.ts';
import type { ApiParts } from './api.ts';
import { callerOf, senderOf } from './api-guard.ts';
import {
  CreationOptions,
  Enrolled,
  ListedPasskey,
  PasskeyId,
  PasskeyList,
  PasskeyName,
  RequestOptions,
  WhomToEnrol,
  WhoSignsIn,
} from './api-passkey-schemas.ts';
import { message, Tokens } from './api-schemas.ts';
import type { Passkey } from './passkey.ts';
import { Asserted, assertionOf, Registered, registrationOf } from './passkey-answers.ts';
import { passkeyRefusals } from './passkey-refusals.ts';
import { refusals } from './refusals.ts';
import { routes } from './routes.ts';

const removed = { message: 'Passkey removed' } as const;
const tags = ['passkeys'];
const bearer = { security: [{ bearer: [] }], tags };
const always = [refusals.missingToken(), refusals.invalidToken(), refusals.tokenExpired()];
const limited = refusals.rateLimited(60);

export function addPasskeys(parts: ApiParts): void {
  addRegistration(parts);
  addSignIn(parts);
  addOwnPasskeys(parts);
}

function addRegistration({ app, passkeys, guards }: ApiParts): void {
  app.post(
    routes.passkeyRegisterOptions,
    {
      ...guards.enroll,
      schema: {
        body: WhomToEnrol,
        response: { 200: CreationOptions },
        security: [{}, { bearer: [] }],
        tags,
        summary: 'What to ask an authenticator to make a passkey',
        description: 'With a token the passkey is for its user, without one for a user of its own.',
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
        summary: 'Register the passkey that an authenticator made, and sign in',
      },
      config: {
        errors: [
          passkeyRefusals.invalidCeremony(),
          passkeyRefusals.badRegistration(),
          passkeyRefusals.exists(),
          passkeyRefusals.tooMany(),
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

function addSignIn({ app, passkeySignIns, guards }: ApiParts): void {
  app.post(
    routes.passkeyLoginOptions,
    {
      ...guards.open,
      schema: {
        body: WhoSignsIn,
        response: { 200: RequestOptions },
        tags,
        summary: 'What to ask an authenticator to sign in with a passkey',
        description: 'Without an address the authenticator offers the passkeys that it holds.',
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
      config: { errors: [passkeyRefusals.invalidCeremony(), passkeyRefusals.badAssertion(), limited] },
    },
    (request) => {
      const { pending_id: pendingId } = request.body;
      return passkeySignIns.complete(pendingId, assertionOf(request.body), visitorOf(request));
    },
  );
}

function addOwnPasskeys({ app, passkeys, guards }: ApiParts): void {
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
      config: { errors: [passkeyRefusals.notFound(), ...always] },
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
        summary: 'Remove a passkey; never the last way to sign in',
      },
      config: {
        errors: [passkeyRefusals.notFound(), refusals.lastFactor(), refusals.reauthRequired(), ...always],
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
