import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import { afterWrite, type Database } from '@octavo/data';
import {
  addPagingHeaders,
  bodyTypes,
  type DrfScope,
  pagingParameters,
  parameter,
  readPaging,
  serializer,
  serializerFields,
} from '@octavo/drf';
import { notFoundError } from '@octavo/drf/dialect';
import type { OffsetRequest } from '@octavo/web/rest';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ApiAccess, possibleReaderOf, type Reader, readerOf } from '../accounts/index.ts';
import type { DayKeys } from '../daily/index.ts';
import { quotePath, routes } from '../routes.ts';
import { countMatches, findMatches, parseSignedQuery } from '../search/index.ts';
import type { Tables } from '../tables.ts';
import { Quote, toJson } from './json.ts';
import { maySee, quoteFields } from './quote.ts';
import { findLikedQuote, likedQuotes, listQuotes, type QuoteFilter, randomQuote } from './store.ts';
import { listCategories } from './store-categories.ts';
import { findChange } from './store-changes.ts';
import { changeable, changeQuote, createQuote, deleteQuote, type Rights } from './store-write.ts';

const body = serializer(serializerFields(quoteFields), { title: 'QuoteRequest' });

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
  /** True if any account may change any quote. */
  readonly isOpenEditing: boolean;
  /** True if new quotes, and changes of published ones, wait for staff. */
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
      return quotes.map((quote) => toJson(quote));
    },
  );
  app.get(
    routes.categories,
    {
      access: access.open,
      schema: {
        tags: ['quotes'],
        summary: 'List categories',
        description:
          'Returns the categories that have published quotes, with their names and slugs, by ascending id.',
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

async function searched(database: Database<Tables>, search: string, options: OffsetRequest & QuoteFilter) {
  const query = parseSignedQuery(search);
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
      schema: {
        tags: ['quotes'],
        summary: 'Get a quote',
        description:
          'Returns one quote with its category, its author and the ids of its likes. Quotes that wait for staff are 404.',
        params: Id,
        response: { 200: Quote },
      },
    },
    async (request) => {
      const reader = possibleReaderOf(request);
      return quoteFor(database, request.params.id, reader);
    },
  );
  app.get(
    routes.random,
    {
      access: access.open,
      config: { errors: ['not_found'] },
      schema: {
        tags: ['quotes'],
        summary: 'Get any quote',
        description: 'Returns a published quote that is chosen at random. 404 if there is none.',
        response: { 200: Quote },
      },
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
        description: `Takes the text and its author, and returns the quote with its id. ${
          isModerated ? 'It is published after staff approve it.' : 'Everybody can read it at once.'
        }`,
        body: body.schema,
        consumes: bodyTypes,
        response: { 201: Quote },
      },
    },
    async (request, reply) => {
      const content = await body.parse(request.body);
      const quote = await createQuote(database, content, { ...rightsOf(request, parts), dayKeys });
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
      schema: {
        tags: ['quotes'],
        summary: 'Delete a quote',
        description: 'Deletes the quote with its comments and likes. Only its author and staff may do so.',
        params: Id,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteQuote(database, request.params.id, rightsOf(request, parts));
      return reply.code(204).send(null);
    },
  );
}

function addChange(app: HttpApp, method: 'PUT' | 'PATCH', parts: QuoteApiParts): void {
  const { database, access, limitWrites, isModerated } = parts;
  const isWhole = method === 'PUT';
  app.route({
    method,
    url: routes.quote,
    access: access.reader,
    preHandler: limitHook(limitWrites),
    config: { errors: ['forbidden', 'not_found', 'rate_limited'] },
    schema: {
      tags: ['quotes'],
      summary: isWhole ? 'Change a quote' : 'Change fields of a quote',
      description: `Takes ${isWhole ? 'all fields' : 'the fields to change'} and returns the quote. ${
        isModerated
          ? 'A change of a published quote waits for approval, unless you are staff: until then it is `pending`.'
          : 'Only the person who added it and staff can change it.'
      }`,
      params: Id,
      body: isWhole ? body.schema : body.partialSchema,
      consumes: bodyTypes,
      response: { 200: Quote },
    },
    async handler(request) {
      const { id } = request.params as { id: number };
      const rights = rightsOf(request, parts);
      // Who may not change a quote is refused before the body is looked at.
      await changeable(database, id, rights);
      const changes = await (isWhole ? body.parse(request.body) : body.parsePartial(request.body));
      await changeQuote(database, id, changes, rights);
      return afterWrite(() => quoteFor(database, id, readerOf(request)));
    },
  });
}

/** A quote as a reader gets it: with their own change that waits. Throws `not_found`. */
async function quoteFor(database: Database<Tables>, id: number, reader: Reader | undefined) {
  const quote = await findLikedQuote(database, id);
  if (!quote || !maySee(quote, reader)) throw notFoundError();
  return toJson(quote, reader && (await findChange(database, { quoteId: id, userId: reader.id })));
}

function rightsOf(request: FastifyRequest, { clock, isOpenEditing, isModerated }: QuoteApiParts): Rights {
  const { id, username, isStaff } = readerOf(request);
  return { writer: { id, username, isStaff, nowMs: clock.now(), via: 'api' }, isOpenEditing, isModerated };
}

function limitHook(limit: QuoteApiParts['limitWrites']) {
  return async (request: FastifyRequest, reply: FastifyReply) => limit(request, reply);
}
