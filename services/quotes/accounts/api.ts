import { AppError, Type } from '@octavo/core';
import { bodyTypes, type DrfScope, serializer } from '@octavo/drf';
import { blankable, fieldErrors, nullable, optional, text } from '@octavo/drf/dialect';
import type { Accounts, NewUser } from '@octavo/people/accounts';
import { passwordsOff } from '@octavo/people/sign-in';
import { hasReason } from '@octavo/web/html';
import type { HttpApp, LimitSharedRequest } from '@octavo/web/server';
import { routes } from '../routes.ts';
import { tokenRefused } from './access.ts';
import { TokenProblem, type Tokens } from './tokens.ts';

const usernameMax = 150;
const passwordMax = 128;

const registration = serializer(
  {
    username: text({ maxLength: usernameMax, description: 'Letters, digits and @ . + - _' }),
    email: optional(nullable(blankable(text({ maxLength: 254, format: 'email' })))),
    password: text({ maxLength: passwordMax, trims: false }),
  },
  { title: 'RegisterRequest' },
);
const credentials = serializer(
  {
    username: text({ description: 'In any case' }),
    password: text({ trims: false }),
  },
  { title: 'TokenRequest' },
);
const refreshing = serializer(
  { refresh: text({ description: 'A refresh token' }) },
  { title: 'RefreshRequest' },
);
const verifying = serializer(
  { token: text({ description: 'A token of either kind' }) },
  { title: 'VerifyRequest' },
);

const Registered = Type.Object({ id: Type.Integer(), username: Type.String() }, { title: 'Registered' });
const Pair = Type.Object({ access: Type.String(), refresh: Type.String() }, { title: 'TokenPair' });
const Nothing = Type.Object({}, { title: 'Nothing' });

export interface AccountApiParts {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  /** Counts requests that check or set a password. */
  readonly limitSignIns: LimitSharedRequest;
  readonly limitSignUps: LimitSharedRequest;
}

/** Registration, and tokens as clients of Simple JWT expect them. */
export function addAccountApi(app: HttpApp, drf: DrfScope, parts: AccountApiParts): void {
  const { accounts, tokens, limitSignIns, limitSignUps } = parts;
  const shared = { access: 'public', config: { errors: ['rate_limited'] } } as const;
  app.post(
    routes.register,
    {
      ...shared,
      schema: {
        tags: ['accounts'],
        summary: 'Create an account',
        description:
          'Takes `username`, `password` and an optional `email`, and returns the account without its password. Sign in with a token afterwards.',
        body: registration.schema,
        consumes: bodyTypes,
        response: { 201: Registered },
      },
    },
    async (request, reply) => {
      if (accounts.isWithoutPasswords) throw passwordsOff();
      const given = await registration.parse(request.body);
      await limitSignUps(request, reply);
      const { id, username } = await register(accounts, { ...given, email: given.email ?? undefined });
      return reply.code(201).send({ id, username });
    },
  );
  app.post(
    routes.token,
    {
      access: 'public',
      config: { errors: ['unauthenticated', 'rate_limited'] },
      schema: {
        tags: ['accounts'],
        summary: 'Sign in',
        description: 'The access token expires after 5 minutes, the refresh token after a day.',
        body: credentials.schema,
        consumes: bodyTypes,
        response: { 200: Pair },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const given = await credentials.parse(request.body);
      await limitSignIns(request, reply);
      return tokens.issue((await signIn(accounts, given)).id);
    },
  );
  addTokenRoutes(app, tokens);
  describe(drf);
}

function addTokenRoutes(app: HttpApp, tokens: Tokens): void {
  const shared = { access: 'public', config: { errors: ['unauthenticated'] } } as const;
  app.post(
    routes.refresh,
    {
      ...shared,
      schema: {
        tags: ['accounts'],
        summary: 'Exchange a refresh token for new tokens',
        description:
          'The old one is no longer valid. If it is sent again after more than 10 seconds, all tokens of its sign-in become invalid.',
        body: refreshing.schema,
        consumes: bodyTypes,
        response: { 200: Pair },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { refresh } = await refreshing.parse(request.body);
      return refusing(() => tokens.refresh(refresh));
    },
  );
  app.post(
    routes.verify,
    {
      ...shared,
      schema: {
        tags: ['accounts'],
        summary: 'Check a token',
        description: 'Answers 200 with an empty object if the token is valid, else 401.',
        body: verifying.schema,
        consumes: bodyTypes,
        response: { 200: Nothing },
      },
    },
    async (request) => {
      const { token } = await verifying.parse(request.body);
      await refusing(() => tokens.verify(token));
      return {};
    },
  );
  app.post(
    routes.blacklist,
    {
      ...shared,
      schema: {
        tags: ['accounts'],
        summary: 'End a sign-in',
        description: 'All tokens of the sign-in of this refresh token become invalid.',
        body: refreshing.schema,
        consumes: bodyTypes,
        response: { 200: Nothing },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { refresh } = await refreshing.parse(request.body);
      await refusing(() => tokens.end(refresh));
      return {};
    },
  );
}

function describe(drf: DrfScope): void {
  const views = {
    [routes.register]: ['Register', 'Creates an account.'],
    [routes.token]: [
      'Token Obtain Pair',
      'Takes a username and a password, returns an access and a refresh token.',
    ],
    [routes.refresh]: ['Token Refresh', 'Takes a refresh token, returns new tokens.'],
    [routes.verify]: ['Token Verify', 'Takes a token and tells whether it is valid.'],
    [routes.blacklist]: ['Token Blacklist', 'Takes a refresh token and ends its sign-in.'],
  } as const;
  for (const [path, [name, description]] of Object.entries(views)) {
    drf.describe(path, { name, description, access: 'public' });
  }
}

/** Creates an account, with errors in the sentences of the dialect. */
async function register(accounts: Accounts, user: NewUser): Promise<{ id: number; username: string }> {
  try {
    return await accounts.create(user);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'USERNAME_TAKEN') throw fieldErrors({ username: [error.message] });
    if (error.reason === 'WEAK_PASSWORD') throw fieldErrors({ password: [error.message] });
    if (error.code !== 'validation_failed') throw error;
    throw fieldErrors(
      Object.fromEntries(Object.keys(error.fields).map((field) => [field, [fieldSentences[field] ?? '']])),
    );
  }
}

const fieldSentences: Readonly<Record<string, string>> = {
  username: 'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
  email: 'Enter a valid email address.',
};

async function signIn(accounts: Accounts, given: { username: string; password: string }) {
  try {
    return await accounts.signIn(given);
  } catch (error) {
    if (!hasReason(error, 'INVALID_CREDENTIALS')) throw error;
    const detail = 'No active account found with the given credentials';
    throw new AppError('unauthenticated', detail, { details: { detail } });
  }
}

async function refusing<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TokenProblem) throw tokenRefused(error.message);
    throw error;
  }
}
