import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { notFoundError } from '#kit/drf/errors.ts';
import { blankable, choice, optional, text } from '#kit/drf/fields.ts';
import { addPagingHeaders, type Paging, pagingParameters, parameter, readPaging } from '#kit/drf/paging.ts';
import { bodyTypes, type DrfScope } from '#kit/drf/scope.ts';
import { serializer } from '#kit/drf/serializer.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import { parseWordQuery } from '#kit/search/index.ts';
import { type ApiAccess, possibleReaderOf, readerOf } from '../accounts/index.ts';
import type { DayKeys } from '../daily/index.ts';
import { quotePath, routes } from '../routes.ts';
import { countMatches, findMatches } from '../search/index.ts';
import type { Tables } from '../tables.ts';
import { Quote, toJson } from './json.ts';
import { attributions, mayChange, maySee, quoteLimits } from './quote.ts';
import {
  findLikedQuote,
  findQuote,
  likedQuotes,
  listQuotes,
  type QuoteFilter,
  randomQuote,
} from './store.ts';
import { listCategories } from './store-categories.ts';
import { changeQuote, createQuote, deleteQuote, forbidden, type Rights } from './store-write.ts';

const body = serializer(
  {
    text: text({ maxLength: quoteLimits.text }),
    author: text({ maxLength: quoteLimits.author }),
    category: text({
      maxLength: quoteLimits.category,
      description: 'The name of a category in any case; a new one is made',
    }),
    source: optional(
      blankable(text({ maxLength: quoteLimits.source, description: 'A work with year or chapter' })),
    ),
    attribution: optional(choice(attributions)),
  },
  { title: 'QuoteRequest' },
);

const Category = Type.Object(
  { id: Type.Integer(), name: Type.String(), slug: Type.String() },
  { title: 'Category' },
);
const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) });
const ListQuery = Type.Object({
  ...pagingParameters,
  search: Type.Optional(
    Type.String({ description: 'Words, `"a phrase"`, `-without`, `prefix*`; the best match comes first' }),
  ),
  author: Type.Optional(Type.String({ description: 'The whole name, in any case' })),
  category: Type.Optional(Type.String({ description: 'The name in any case, or the slug' })),
});

export interface QuoteApiParts {
  readonly database: Database<Tables>;
  readonly access: ApiAccess;
  readonly clock: Clock;
  readonly dayKeys: DayKeys;
  /** Whether any account may change any quote. */
  readonly isOpenEditing: boolean;
  /** Whether new quotes wait for staff. */
  readonly isModerated: boolean;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

export function addQuoteApi(app: HttpApp, drf: DrfScope, parts: QuoteApiParts): void {
  addLists(app, parts);
  addReads(app, parts);
  addWrites(app, parts);
  const { open } = parts.access;
  drf.describe(routes.quotes, { name: 'Quote List', description: 'Quotes by ascending id.', access: open });
  drf.describe(routes.quote, { name: 'Quote Instance', description: 'One quote.', access: open });
  drf.describe(routes.random, { name: 'Random Quote', description: 'Any quote.', access: open });
  drf.describe(routes.categories, {
    name: 'Category List',
    description: 'Categories by ascending id.',
    access: open,
  });
}

function addLists(app: HttpApp, { database, access }: QuoteApiParts): void {
  app.get(
    routes.quotes,
    {
      access: access.open,
      schema: {
        tags: ['quotes'],
        summary: 'List quotes',
        description:
          'By ascending id. A search gives the best matches first, at most 10,000. `X-Total-Count` has the number of all, `Link` the next and the previous page.',
        querystring: ListQuery,
        response: { 200: Type.Array(Quote) },
      },
    },
    async (request, reply) => {
      const paging = readPaging(request.query);
      const filter = {
        author: parameter(request.query, 'author'),
        category: parameter(request.query, 'category'),
      };
      const search = parameter(request.query, 'search')?.trim();
      const { quotes, total } = search
        ? await searched(database, search, { ...filter, ...paging })
        : await listQuotes(database, filter, paging);
      addPagingHeaders(request, reply, { paging, total });
      return quotes.map(toJson);
    },
  );
  app.get(
    routes.categories,
    {
      access: access.open,
      schema: {
        tags: ['quotes'],
        summary: 'List categories',
        querystring: Type.Object(pagingParameters),
        response: { 200: Type.Array(Category) },
      },
    },
    async (request, reply) => {
      const paging = readPaging(request.query);
      const { categories, total } = await listCategories(database, paging);
      addPagingHeaders(request, reply, { paging, total });
      return categories.map(({ id, name, slug }) => ({ id, name, slug }));
    },
  );
}

async function searched(database: Database<Tables>, search: string, options: Paging & QuoteFilter) {
  const query = parseWordQuery(search);
  const { ids, seen, isAll } = await findMatches(database, query, options);
  const total = isAll ? seen : await countMatches(database, query, options);
  return { quotes: await likedQuotes(database, ids), total };
}

function addReads(app: HttpApp, { database, access }: QuoteApiParts): void {
  app.get(
    routes.quote,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: { tags: ['quotes'], summary: 'Get a quote', params: Id, response: { 200: Quote } },
    },
    async (request) => {
      const quote = await findLikedQuote(database, request.params.id);
      if (!quote || !maySee(quote, possibleReaderOf(request))) throw notFoundError();
      return toJson(quote);
    },
  );
  app.get(
    routes.random,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: { tags: ['quotes'], summary: 'Get any quote', response: { 200: Quote } },
    },
    async (_request, reply) => {
      const quote = await randomQuote(database);
      if (!quote) throw notFoundError();
      reply.header('cache-control', 'no-store');
      return toJson(quote);
    },
  );
}

function addWrites(app: HttpApp, parts: QuoteApiParts): void {
  const { database, access, limitWrites, dayKeys, isModerated } = parts;
  const writing = { access: access.reader, preHandler: limitHook(limitWrites) } as const;
  app.post(
    routes.quotes,
    {
      ...writing,
      config: { errors: ['rate_limited'] },
      schema: {
        tags: ['quotes'],
        summary: 'Add a quote',
        description: isModerated ? 'It is published once staff has seen it.' : '',
        body: body.schema,
        consumes: bodyTypes,
        response: { 201: Quote },
      },
    },
    async (request, reply) => {
      const { source = '', attribution = 'unverified', ...rest } = await body.parse(request.body);
      const reader = readerOf(request);
      const quote = await createQuote(
        database,
        { ...rest, source, attribution, isPublished: !isModerated || reader.isStaff === 1 },
        { writer: rightsOf(request, parts).writer, dayKeys },
      );
      reply.code(201).header('location', quotePath(routes.quote, quote.id));
      return toJson({ ...quote, likeIds: '' });
    },
  );
  for (const method of ['PUT', 'PATCH'] as const) addChange(app, method, parts);
  app.delete(
    routes.quote,
    {
      ...writing,
      config: { errors: ['forbidden', 'not_found', 'rate_limited'] },
      schema: { tags: ['quotes'], summary: 'Delete a quote', params: Id, response: { 204: Type.Null() } },
    },
    async (request, reply) => {
      await deleteQuote(database, request.params.id, rightsOf(request, parts));
      return reply.code(204).send(null);
    },
  );
}

function addChange(app: HttpApp, method: 'PUT' | 'PATCH', parts: QuoteApiParts): void {
  const { database, access, limitWrites } = parts;
  const isWhole = method === 'PUT';
  app.route({
    method,
    url: routes.quote,
    access: access.reader,
    preHandler: limitHook(limitWrites),
    config: { errors: ['forbidden', 'not_found', 'rate_limited'] },
    schema: {
      tags: ['quotes'],
      summary: isWhole ? 'Change a quote' : 'Change some of a quote',
      params: Id,
      body: isWhole ? body.schema : body.partialSchema,
      consumes: bodyTypes,
      response: { 200: Quote },
    },
    async handler(request) {
      const { id } = request.params as { id: number };
      const rights = rightsOf(request, parts);
      // Who may not change a quote is refused before the body is looked at.
      const quote = await findQuote(database, id);
      if (!quote || !maySee(quote, readerOf(request))) throw notFoundError();
      if (!rights.mayChange(quote)) throw forbidden();
      const changes = await (isWhole ? body.parse(request.body) : body.parsePartial(request.body));
      await changeQuote(database, id, changes, rights);
      const changed = await findLikedQuote(database, id);
      if (!changed) throw notFoundError();
      return toJson(changed);
    },
  });
}

/** Who writes, and what they may change. */
function rightsOf(request: FastifyRequest, { clock, isOpenEditing }: QuoteApiParts): Rights {
  const reader = readerOf(request);
  const { id, username } = reader;
  return {
    writer: { id, username, nowMs: clock.now() },
    mayChange: (quote) => mayChange(quote, reader, isOpenEditing),
  };
}

function limitHook(limit: QuoteApiParts['limitWrites']) {
  return async (request: FastifyRequest, reply: FastifyReply) => limit(request, reply);
}
