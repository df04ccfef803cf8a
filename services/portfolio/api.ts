import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Counter } from 'prom-client';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { AccessRule, HttpApp } from '#kit/http/access.ts';
import { matchesAny } from '#kit/http/entity-tags.ts';
import { type Static, Type } from '#kit/schema.ts';
import {
  type AnyRecord,
  type Filters,
  type Found,
  Investment,
  type Kind,
  kinds,
  lists,
  Member,
  type Page,
  Sector,
} from './records.ts';
import { protectedPrefix, routes } from './routes.ts';
import { listRecords, type Tables } from './store.ts';
import { scope, type Tokens, tokenSeconds } from './tokens.ts';

export interface ApiParts {
  readonly database: Database<Tables>;
  readonly tokens: Tokens;
  readonly issued: Counter<'outcome'>;
  /** Throws `rate_limited`. */
  limit(request: FastifyRequest, reply: FastifyReply): void;
}

const Key = Type.Object({ id: Type.String({ maxLength: 200, format: 'text', description: 'Id or slug' }) });
const one: Page = { limit: 1, offset: 0, sort: 'updated_at' };

/** Where the records of each kind are, and what they are called. */
const resources = {
  team: {
    ...{ noun: 'team member', item: Member, path: routes.team, itemPath: routes.member },
    ...{ all: 'The people of the firm', single: 'A person' },
  },
  investments: {
    ...{ noun: 'investment', item: Investment, path: routes.investments, itemPath: routes.investment },
    ...{ all: 'What the firm invested in', single: 'An investment' },
  },
  sectors: {
    ...{ noun: 'sector', item: Sector, path: routes.sectors, itemPath: routes.sector },
    ...{ all: 'The sectors with their totals', single: 'A sector' },
  },
} as const;

export function addApi(app: HttpApp, parts: ApiParts): void {
  const { database, tokens } = parts;
  addToken(app, parts);
  app.addHook('onRequest', async (request) => {
    if (request.isUnrouted && request.url.startsWith(protectedPrefix))
      tokens.check(request.headers.authorization);
  });
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', challengeOf(request));
  });
  app.register(async (scope) => {
    scope.addHook('onSend', sendTagged);
    const access = bearer(tokens);
    for (const kind of kinds) {
      const { path, all: summary } = resources[kind];
      addList(scope, access, { kind, path, summary }, (filter, page) =>
        database.read((store) => listRecords[kind](store, filter, page)),
      );
      addItem(scope, access, kind, (key) => find(database, kind, key));
    }
    addInvestmentsOf(scope, parts);
  });
}

/** The investments of a person, and those of a sector. */
function addInvestmentsOf(app: HttpApp, { database, tokens }: ApiParts): void {
  for (const [parent, filterName, path, summary] of [
    ['team', 'team_member', routes.memberInvestments, 'What a person works on'],
    ['sectors', 'sector', routes.sectorInvestments, 'The investments of a sector'],
  ] as const) {
    addList(app, bearer(tokens), { kind: 'investments', path, summary }, async (filter, page, key) => {
      const { id } = await find(database, parent, key);
      return database.read((store) => listRecords.investments(store, { ...filter, [filterName]: id }, page));
    });
  }
}

/** A record by its id or slug. Throws `not_found`. */
async function find(database: Database<Tables>, kind: Kind, key: string): Promise<AnyRecord> {
  const { items } = await listRecords[kind](database, { key }, one);
  const [found] = items;
  if (!found) throw notFound(resources[kind].noun, key);
  return found;
}

function addToken(app: HttpApp, { tokens, issued, limit }: ApiParts): void {
  const Token = Type.Object(
    {
      ...{ token: Type.String(), access_token: Type.String({ description: 'The same' }) },
      ...{ token_type: Type.Literal('Bearer'), expires_in: Type.Integer({ examples: [tokenSeconds] }) },
      expires_at: Type.String({ format: 'date-time' }),
    },
    { title: 'Token' },
  );
  const schema = {
    tags: ['Tokens'],
    summary: `A bearer token of the scope ${scope}`,
    response: { 200: Token },
  };
  const config = { errors: ['unauthenticated', 'rate_limited'] } as const;
  app.get(routes.token, { access: 'public', schema, config }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    limit(request, reply);
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

function bearer(tokens: Tokens): AccessRule {
  return {
    security: [{ bearer: [] }],
    onRequest: async (request) => tokens.check(request.headers.authorization),
  };
}

interface Listing<K extends Kind> {
  readonly kind: K;
  readonly path: string;
  readonly summary: string;
}

type ListQuery<K extends Kind> = Filters[K] & Page;

/** A bare array with its total in `X-Total-Count` and its neighbors in `Link`. `key` is the id in the path. */
function addList<K extends Kind>(
  app: HttpApp,
  access: AccessRule,
  { kind, path, summary }: Listing<K>,
  list: (filter: Filters[K], page: Page, key: string) => Promise<Found<AnyRecord>>,
): void {
  const { filter, sorts, sort } = lists[kind];
  const querystring = Type.Object({
    ...filter.properties,
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    offset: Type.Integer({ minimum: 0, default: 0 }),
    sort: Type.Enum(
      Object.keys(sorts).flatMap((name) => [name, `-${name}`]),
      { default: sort },
    ),
  });
  const isNested = path.includes(':id');
  const schema = { tags: [kind], summary, querystring, response: { 200: Type.Array(resources[kind].item) } };
  const config = { errors: isNested ? (['not_found'] as const) : [] };
  app.get(
    path,
    { access, schema: { ...schema, ...(isNested && { params: Key }) }, config },
    async (request, reply) => {
      const { limit, offset, sort, ...given } = request.query as ListQuery<K>;
      refuseEmptyRange(given);
      const { id = '' } = request.params as { id?: string };
      const { items, total } = await list(given as Filters[K], { limit, offset, sort }, id);
      reply.header('x-total-count', String(total));
      const links = linksOf(request.url, { limit, offset }, total);
      if (links !== '') reply.header('link', links);
      return [...items];
    },
  );
}

function addItem(
  app: HttpApp,
  access: AccessRule,
  kind: Kind,
  find: (key: string) => Promise<AnyRecord>,
): void {
  const { itemPath, item, single: summary } = resources[kind];
  const schema = { tags: [kind], summary, params: Key, response: { 200: item } };
  app.get(itemPath, { access, schema, config: { errors: ['not_found'] } }, (request) =>
    find((request.params as Static<typeof Key>).id),
  );
}

function refuseEmptyRange(query: Partial<Filters['investments']>): void {
  const { min_amount: least = 0, max_amount: most = Infinity, from = '', to = '9999-12-31' } = query;
  const name = least > most ? 'max_amount' : from > to ? 'to' : undefined;
  if (!name) return;
  const problem = `must not be less than ${name === 'to' ? 'from' : 'min_amount'}`;
  throw new AppError('validation_failed', `${name} ${problem}`, { fields: { [name]: problem } });
}

/** The value of `Link` (RFC 8288), with the parameters that were given. */
function linksOf(url: string, { limit, offset }: Omit<Page, 'sort'>, total: number): string {
  const last = Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const relations = { first: 0, prev: offset - limit, next: offset + limit, last };
  const [path = '', query = ''] = url.split('?', 2);
  return Object.entries(relations)
    .filter(([relation, start]) => total > 0 && (relation !== 'prev' || offset > 0) && start < total)
    .map(([relation, start]) => {
      const parameters = new URLSearchParams(query);
      parameters.set('limit', String(limit));
      parameters.set('offset', String(Math.max(0, start)));
      return `<${path}?${parameters}>; rel="${relation}"`;
    })
    .join(', ');
}

/** Adds an entity tag to what was found, and answers 304 where the client has it. */
async function sendTagged(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (reply.statusCode !== 200 || typeof payload !== 'string') return payload;
  const total = reply.getHeader('x-total-count') ?? '';
  const tag = `"${hash('sha256', `${total}\n${payload}`, 'base64url').slice(0, 22)}"`;
  reply.headers({ etag: tag, 'cache-control': 'private, max-age=60', vary: 'Authorization' });
  if (!matchesAny(request.headers['if-none-match'] ?? '', tag)) return payload;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}

function challengeOf({ url }: FastifyRequest): string {
  return url.startsWith(protectedPrefix)
    ? 'Bearer realm="domain", error="invalid_token"'
    : 'Basic realm="domain"';
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const given = headers[name];
  return typeof given === 'string' ? given : undefined;
}
