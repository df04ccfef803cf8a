import { hash } from 'node:crypto';
import { AppError, type TSchema, Type } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import type { Database } from '@octavo/data';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import { addList, addResource, type OffsetRequest, offsetPaging, type ResourceKind } from '@octavo/web/rest';
import type { AccessRule, HttpApp, LimitSharedRequest } from '@octavo/web/server';
import { matchesAny } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Counter } from 'prom-client';
import { filtersOf, findRecord, listMatching, nouns } from './listing.ts';
import { Investment, type Kind, kinds, Member, Sector } from './records.ts';
import { protectedPrefix, routes } from './routes.ts';
import type { Tables } from './store/store.ts';
import { scope, type Tokens, tokenSeconds } from './tokens.ts';

export interface ApiParts {
  readonly database: Database<Tables>;
  readonly tokens: Tokens;
  readonly accounts: Pick<Accounts, 'byBearer' | 'byId'>;
  readonly oidc: Pick<OidcSignIn<never>, 'holderOf'> | undefined;
  readonly issued: Counter<'outcome'>;
  /** Throws `rate_limited`. */
  readonly limit: LimitSharedRequest;
}

const Key = Type.Object({ id: Type.String({ maxLength: 200, format: 'text', description: 'Id or slug' }) });
const paging = offsetPaging();
const wordsHelp = 'Words match from their beginning, without regard to case and accents.';

/** Names, paths and texts of each kind of record. */
const resources = {
  team: {
    name: 'TeamMember',
    schema: Member,
    paths: { list: routes.team, item: routes.member },
    all: 'People of the firm',
    single: 'A person',
  },
  investments: {
    name: 'Investment',
    schema: Investment,
    paths: { list: routes.investments, item: routes.investment },
    all: 'Investments of the firm',
    single: 'An investment',
  },
  sectors: {
    name: 'Sector',
    schema: Sector,
    paths: { list: routes.sectors, item: routes.sector },
    all: 'Sectors with their totals',
    single: 'A sector',
  },
} as const;

/** Lists of investments that belong to another record. */
const nested = [
  {
    parent: 'team',
    filter: 'team_member',
    path: routes.memberInvestments,
    operationId: 'listInvestmentsOfTeamMember',
    summary: 'Investments of a person',
    description: 'Lists the investments of a person that match all the filters.',
  },
  {
    parent: 'sectors',
    filter: 'sector',
    path: routes.sectorInvestments,
    operationId: 'listInvestmentsOfSector',
    summary: 'The investments of a sector',
    description: 'Lists the investments of a sector that match all the filters.',
  },
] as const;

export function addApi(app: HttpApp, parts: ApiParts): void {
  addToken(app, parts);
  app.addHook('onRequest', async (request) => {
    if (request.isUnrouted && request.url.startsWith(protectedPrefix))
      await check(parts, request.headers.authorization);
  });
  app.addHook('onSend', async (request, reply) => {
    const challenge = reply.statusCode === 401 ? challengeOf(request) : undefined;
    if (challenge !== undefined) reply.header('www-authenticate', challenge);
  });
  app.register(async (scope) => {
    scope.addHook('onSend', sendTagged);
    addRecords(scope, parts);
  });
}

function addRecords(app: HttpApp, parts: ApiParts): void {
  const { database } = parts;
  const access = bearer(parts);
  const kindOf = (kind: Kind): ResourceKind<undefined, TSchema, OffsetRequest> => ({
    ...resources[kind],
    tag: kind,
    access,
    params: Key,
    paging,
    callerOf: () => undefined,
  });
  for (const kind of kinds) {
    const { all, single } = resources[kind];
    const noun = nouns[kind];
    addResource(app, {
      ...kindOf(kind),
      list: {
        summary: all,
        description: `Lists every ${noun} that matches all the filters. ${wordsHelp}`,
        filters: filtersOf(kind),
        run: (_, query) => database.read((store) => listMatching(store, kind, query)),
      },
      get: {
        summary: single,
        description: `Reads one ${noun} by its id or its slug.`,
        run: (_, key) => findRecord(database, kind, key),
      },
    });
  }
  for (const { parent, filter, ...list } of nested)
    addList(app, kindOf('investments'), {
      ...list,
      params: Key,
      filters: filtersOf('investments'),
      errors: ['not_found'],
      run: async (_, query, { id: key }) => {
        const { id } = await findRecord(database, parent, key);
        return database.read((store) => listMatching(store, 'investments', { ...query, [filter]: id }));
      },
    });
}

function addToken(app: HttpApp, { tokens, issued, limit }: ApiParts): void {
  const Token = Type.Object(
    {
      token: Type.String(),
      access_token: Type.String({ description: 'The same' }),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ examples: [tokenSeconds] }),
      expires_at: Type.String({ format: 'date-time' }),
    },
    { title: 'Token' },
  );
  const schema = {
    operationId: 'getToken',
    tags: ['Tokens'],
    summary: `A bearer token of the scope ${scope}`,
    description:
      'Issues a token that expires in an hour. Where `AUTH_CLIENTS` is set, a client proves itself by `Authorization: Basic` or `X-API-Key`.',
    response: { 200: Token },
  };
  const config = { errors: ['unauthenticated', 'rate_limited'] } as const;
  app.get(routes.token, { access: 'public', schema, config }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    await limit(request, reply);
    try {
      const token = tokens.issue(request.headers.authorization, headerOf(request, 'x-api-key'));
      issued.inc({ outcome: 'issued' });
      return token;
    } catch (error) {
      issued.inc({ outcome: 'refused' });
      throw error;
    }
  });
}

function bearer(parts: ApiParts): AccessRule {
  return {
    security: [{ bearer: [] }],
    onRequest: (request) => check(parts, request.headers.authorization),
  };
}

/** A token of ours, or one of the OpenID provider for this service. Throws like `Tokens.check`. */
async function check({ tokens, oidc, accounts }: ApiParts, authorization: string | undefined): Promise<void> {
  const given = bearerToken(authorization);
  if (oidc && given !== undefined && (await accounts.byBearer(oidc, given))) return;
  const userId = tokens.check(authorization);
  if (userId !== undefined && !(await accounts.byId(userId))?.isActive)
    throw new AppError('unauthenticated', 'The token is of an account that is blocked or erased.');
}

/** Adds an entity tag to the response, or answers 304 if the client has it. */
async function sendTagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
  const total = reply.getHeader('x-total-count') ?? '';
  const tag = `"${hash('sha256', `${total}\n${payload}`, 'base64url').slice(0, 22)}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, max-age=60', vary: 'Authorization' });
  if (!matchesAny(request.headers['if-none-match'] ?? '', tag)) return payload;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}

/** A page asks its reader to sign in, and must not let the browser ask for a password. */
function challengeOf({ url }: FastifyRequest): string | undefined {
  if (url.startsWith(protectedPrefix)) return 'Bearer realm="domain", error="invalid_token"';
  return url.startsWith(routes.token) ? 'Basic realm="domain"' : undefined;
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const given = headers[name];
  return typeof given === 'string' ? given : undefined;
}
