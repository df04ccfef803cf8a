import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Counter } from 'prom-client';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { AccessRule, HttpApp } from '#kit/http/access.ts';
import { matchesAny } from '#kit/http/entity-tags.ts';
import { type Static, type TSchema, Type } from '#kit/schema.ts';
import {
  type Filters,
  type Found,
  Investment,
  type Kind,
  lists,
  Member,
  type Page,
  Sector,
} from './records.ts';
import { protectedPrefix, routes } from './routes.ts';
import { listInvestments, listMembers, listSectors, type Tables } from './store.ts';
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

export function addApi(app: HttpApp, parts: ApiParts): void {
  addToken(app, parts);
  app.addHook('onRequest', async (request) => {
    if (request.isUnrouted && request.url.startsWith(protectedPrefix))
      parts.tokens.check(request.headers.authorization);
  });
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', challengeOf(request));
  });
  app.register(async (scope) => {
    scope.addHook('onSend', sendTagged);
    addTeam(scope, parts);
    addInvestments(scope, parts);
    addSectors(scope, parts);
  });
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

function addTeam(app: HttpApp, { database, tokens }: ApiParts): void {
  const access = bearer(tokens);
  const find = async (key: string) => found('team member', key, await listMembers(database, { key }, one));
  const all = { kind: 'team', path: routes.team, item: Member, summary: 'The people of the firm' } as const;
  addList(app, access, all, (filter, page) => database.read((store) => listMembers(store, filter, page)));
  addItem(app, access, { path: routes.member, item: Member, summary: 'A person' }, find);
  const deals = { kind: 'investments', path: routes.memberInvestments, item: Investment } as const;
  addList(app, access, { ...deals, summary: 'What a person works on' }, async (filter, page, key) => {
    const { id } = await find(key);
    return database.read((store) => listInvestments(store, { ...filter, team_member: id }, page));
  });
}

function addInvestments(app: HttpApp, { database, tokens }: ApiParts): void {
  const access = bearer(tokens);
  const find = async (key: string) => found('investment', key, await listInvestments(database, { key }, one));
  const all = { kind: 'investments', path: routes.investments, item: Investment } as const;
  addList(app, access, { ...all, summary: 'What the firm invested in' }, (filter, page) =>
    database.read((store) => listInvestments(store, filter, page)),
  );
  addItem(app, access, { path: routes.investment, item: Investment, summary: 'An investment' }, find);
}

function addSectors(app: HttpApp, { database, tokens }: ApiParts): void {
  const access = bearer(tokens);
  const find = async (key: string) => found('sector', key, await listSectors(database, { key }, one));
  const all = {
    kind: 'sectors',
    path: routes.sectors,
    item: Sector,
    summary: 'The sectors with their totals',
  } as const;
  addList(app, access, all, (filter, page) => database.read((store) => listSectors(store, filter, page)));
  addItem(app, access, { path: routes.sector, item: Sector, summary: 'A sector' }, find);
  const deals = { kind: 'investments', path: routes.sectorInvestments, item: Investment } as const;
  addList(app, access, { ...deals, summary: 'The investments of a sector' }, async (filter, page, key) => {
    const { id } = await find(key);
    return database.read((store) => listInvestments(store, { ...filter, sector: id }, page));
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
  readonly item: TSchema;
  readonly summary: string;
}

type ListQuery<K extends Kind> = Filters[K] & Page;

/** A bare array with its total in `X-Total-Count` and its neighbors in `Link`. `key` is the id in the path. */
function addList<K extends Kind>(
  app: HttpApp,
  access: AccessRule,
  { kind, path, item, summary }: Listing<K>,
  list: (filter: Filters[K], page: Page, key: string) => Promise<Found<unknown>>,
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
  const schema = { tags: [kind], summary, querystring, response: { 200: Type.Array(item) } };
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
  { path, item, summary }: Omit<Listing<Kind>, 'kind'>,
  find: (key: string) => Promise<unknown>,
): void {
  const schema = { tags: [path.split('/')[2] ?? ''], summary, params: Key, response: { 200: item } };
  app.get(path, { access, schema, config: { errors: ['not_found'] } }, (request) =>
    find((request.params as Static<typeof Key>).id),
  );
}

function found<T>(what: string, key: string, { items: [item] }: Found<T>): T {
  if (item === undefined) throw notFound(what, key);
  return item;
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
