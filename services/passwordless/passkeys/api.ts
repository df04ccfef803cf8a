import { Type } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';
import type { HttpApp } from '@octavo/web/server';
import { visitorOf } from '@octavo/web/server';
import { type ApiAccess, bearerErrors, callerOf, senderOf } from '../api/access.ts';
import { limitError } from '../api/limits.ts';
import { isoTime, message, Tokens } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import type { RequestLimits } from '../limits.ts';
import { pageRoutes, routes } from '../routes.ts';
import type { Site } from '../site.ts';
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
import type { Passkey, RelyingParty } from './passkey.ts';
import type { Passkeys } from './passkeys.ts';
import type { PasskeySignIns } from './sign-ins.ts';
import { Asserted, assertionOf, Registered, registrationOf } from './verification/responses.ts';

const removed = { message: 'Passkey removed' } as const;
const tags = ['passkeys'];
const url = Type.String({ examples: ['https://sign-in.example.com/'] });

interface PasskeyApi {
  readonly passkeys: Passkeys;
  readonly passkeySignIns: PasskeySignIns;
  readonly party: () => RelyingParty;
  readonly site: Site;
  readonly access: ApiAccess;
  readonly limits: RequestLimits;
}

export function addPasskeyApi(app: HttpApp, parts: PasskeyApi): void {
  addRegistration(app, parts);
  addSignIn(app, parts);
  addOwnPasskeys(app, parts);
  addWellKnown(app, parts);
}

function addRegistration(app: HttpApp, { passkeys, access, limits }: PasskeyApi): void {
  app.post(
    routes.passkeyRegisterOptions,
    {
      access: access.optionalBearer,
      preValidation: limits.enroll,
      schema: {
        body: RegistrationSubject,
        response: { 200: CreationOptions },
        tags,
        summary: 'Options for creating a passkey',
        description: 'With a token, the passkey is for its user. Without one, it is for a new user.',
      },
      config: {
        errors: [
          ...bearerErrors,
          authErrors.invalidEmail(),
          authErrors.emailMismatch(),
          authErrors.reauthRequired(),
          // The account was deleted in the meantime.
          'conflict',
          limitError,
        ],
      },
    },
    (request) => {
      const email = normalizeEmail(request.body.email);
      if (email === undefined) throw authErrors.invalidEmail();
      return passkeys.begin({ email, caller: request.caller, ...senderOf(request) });
    },
  );
  app.post(
    routes.passkeyRegisterComplete,
    {
      access: 'public',
      preValidation: limits.verify,
      schema: {
        body: Registered,
        response: { 200: Enrolled },
        tags,
        summary: 'Register the passkey that the authenticator created, and sign in',
        description:
          'Takes the response of the authenticator with the `pending_id` of its options, verifies it, saves the passkey and returns tokens.',
      },
      config: {
        errors: [
          passkeyErrors.invalidCeremony(),
          passkeyErrors.badRegistration(),
          passkeyErrors.exists(),
          passkeyErrors.tooMany(),
          limitError,
        ],
      },
    },
    async (request) => {
      const { pending_id: pendingId, name } = request.body;
      const answered = { pendingId, name, response: registrationOf(request.body), ...senderOf(request) };
      const { user, passkey, tokens } = await passkeys.complete(answered);
      const { last_used_at: _, ...credential } = toJson(passkey);
      return { verified: true as const, user_id: user.id, credential, ...tokens };
    },
  );
}

function addSignIn(app: HttpApp, { passkeySignIns, limits }: PasskeyApi): void {
  app.post(
    routes.passkeyLoginOptions,
    {
      access: 'public',
      preValidation: limits.post,
      schema: {
        body: SignInSubject,
        response: { 200: RequestOptions },
        tags,
        summary: 'Options for signing in with a passkey',
        description:
          'With an address, one of the passkeys listed must sign. Without one, the authenticator offers those that it holds.',
      },
      config: { errors: [authErrors.invalidEmail(), limitError] },
    },
    (request) => {
      const { email: given } = request.body;
      const email = given === undefined ? undefined : normalizeEmail(given);
      if (given !== undefined && email === undefined) throw authErrors.invalidEmail();
      return passkeySignIns.begin(email);
    },
  );
  app.post(
    routes.passkeyLoginComplete,
    {
      access: 'public',
      preValidation: limits.verify,
      schema: {
        body: Asserted,
        response: { 200: Tokens },
        tags,
        summary: 'Sign in with a passkey',
        description:
          'Takes the response of the authenticator with the `pending_id` of its options and returns tokens. A response that was used before is refused.',
      },
      config: { errors: [passkeyErrors.invalidCeremony(), passkeyErrors.badAssertion(), limitError] },
    },
    (request) => {
      const { pending_id: pendingId } = request.body;
      return passkeySignIns.complete(pendingId, assertionOf(request.body), visitorOf(request));
    },
  );
}

function addOwnPasskeys(app: HttpApp, { passkeys, access }: PasskeyApi): void {
  app.get(
    routes.passkeys,
    {
      access: access.bearer,
      schema: {
        tags,
        response: { 200: PasskeyList },
        summary: 'Your passkeys, oldest first',
        description: 'Returns each passkey with its name, when it was created and when it was last used.',
      },
      config: { errors: [...bearerErrors] },
    },
    async (request) => ({ credentials: (await passkeys.of(callerOf(request))).map(toJson) }),
  );
  app.patch(
    routes.passkey,
    {
      access: access.bearer,
      schema: {
        tags,
        params: PasskeyId,
        body: PasskeyName,
        response: { 200: ListedPasskey },
        summary: 'Name a passkey',
        description: 'Takes another `name` for one of your passkeys and returns it. Only you see the name.',
      },
      config: { errors: [passkeyErrors.notFound(), ...bearerErrors] },
    },
    async (request) => {
      const { params, body } = request;
      return toJson(await passkeys.rename(callerOf(request), params.id, body.name));
    },
  );
  app.delete(
    routes.passkey,
    {
      access: access.bearer,
      schema: {
        tags,
        params: PasskeyId,
        response: { 200: message(removed.message) },
        summary: 'Remove a passkey, unless it is the last way to sign in',
        description: 'Deletes one of your passkeys. 409 if you would then have no other way to sign in.',
      },
      config: {
        errors: [
          passkeyErrors.notFound(),
          authErrors.lastFactor(),
          authErrors.reauthRequired(),
          ...bearerErrors,
        ],
      },
    },
    async (request) => {
      await passkeys.remove(callerOf(request), request.params.id, senderOf(request));
      return removed;
    },
  );
}

/** Adds the addresses that browsers and password managers look for on their own. */
function addWellKnown(app: HttpApp, { party, site }: PasskeyApi): void {
  app.get(
    routes.relatedOrigins,
    {
      access: 'public',
      schema: {
        response: { 200: Type.Object({ origins: Type.Array(url) }) },
        tags,
        summary: 'Origins whose pages may use the passkeys of this domain (WebAuthn Level 3, 5.11)',
        description:
          'Browsers read it when a page of another origin asks for a passkey. It is not used for sign-in.',
      },
    },
    async () => ({ origins: party().origins.filter((origin) => /^https?:/.test(origin)) }),
  );
  app.get(
    routes.passkeyEndpoints,
    {
      access: 'public',
      schema: {
        response: { 200: Type.Object({ enroll: url, manage: url }) },
        tags,
        summary: 'Pages where passkeys are added and managed',
        description:
          'For password managers, as W3C describes in “A Well-Known URL for Relying Party Passkey Endpoints”.',
      },
    },
    async () => {
      const account = new URL(pageRoutes.home, site.origin).href;
      return { enroll: account, manage: account };
    },
  );
}

function toJson({ id, name, createdAtMs, lastUsedAtMs, transports, isBackedUp }: Passkey) {
  return {
    id,
    name,
    created_at: isoTime(createdAtMs),
    transports: [...transports],
    backed_up: isBackedUp,
    last_used_at: lastUsedAtMs === undefined ? null : isoTime(lastUsedAtMs),
  };
}
