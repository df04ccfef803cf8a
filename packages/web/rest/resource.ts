import { type Static, type TObject, type TProperties, type TSchema, Type } from '@octavo/core';
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import type { Access } from '../http/access.ts';
import type { DocumentedError } from '../http/openapi/errors.ts';
import type { HttpApp } from '../http/server.ts';
import { addEntityTag, IfMatch, NotModified } from './conditional.ts';
import { type Idempotency, IdempotencyHeader, idempotencyOf } from './idempotency-key.ts';
import { addPageHeaders, type Page, type Paging } from './paging.ts';
import { type Versions, versionsIn, versionTag } from './versions.ts';

/** Parameters of an address about one entity. */
export const IdParams = Type.Object({ id: Type.String({ format: 'text' }) });

/** Response to a deletion. */
const Deleted = Type.Object(
  { message: Type.String({ examples: ['Deleted'] }), id: Type.String() },
  { title: 'Deleted' },
);

/** Parts that all operations of a resource share. */
export interface ResourceKind<C, Item extends TSchema, PageQuery> {
  /** Singular, such as `Customer`: operations are called `listCustomers`, `getCustomer`, `createCustomer` and so on. */
  readonly name: string;
  /** The name with an `s` by default. */
  readonly plural?: string;
  readonly tag: string;
  readonly paths: { readonly list: string; readonly item: string };
  readonly access: Access;
  /** Schema of one entity. With a property `version`, responses have an entity tag, and changes take `If-Match`. */
  readonly schema: Item;
  /** Parameters of `paths.item`; a text `id` by default. */
  readonly params?: TObject;
  readonly paging: Paging<PageQuery>;
  /** Errors of every operation. */
  readonly errors?: readonly DocumentedError[];
  /** First argument of every operation. `idempotency` is given where the request has an `Idempotency-Key`. */
  callerOf(request: FastifyRequest, idempotency?: Idempotency): C;
}

/** Description of an operation for `/openapi.json`. */
interface Operation {
  /** The path of the resource by default. */
  readonly path?: string;
  /** Made of the kind of operation and the name of the resource by default. */
  readonly operationId?: string;
  readonly summary: string;
  /** Sentences about paging and headers follow it. */
  readonly description?: string;
  /** Errors besides those of every such operation: 404 for a missing entity, 409 for a repeated key, 412 for another version. */
  readonly errors?: readonly DocumentedError[];
}

/** `GET` of a list. */
export interface List<C, T, PageQuery, Params extends TProperties, Filters extends TProperties>
  extends Operation {
  /** Parameters besides those of paging. */
  readonly filters?: Filters;
  /** Parameters of the path. */
  readonly params?: TObject<Params>;
  run(
    caller: C,
    query: Static<TObject<Filters>> & PageQuery,
    params: Static<TObject<Params>>,
  ): Promise<Page<T>>;
}

/** `GET` of one entity. Throws `not_found`. */
interface Get<C, T> extends Operation {
  run(caller: C, id: string): Promise<T>;
}

/** `POST` to the list. */
interface Create<C, T, Body extends TSchema> extends Operation {
  readonly body: Body;
  /** 202 for work that is only queued; 201 by default. */
  readonly status?: 201 | 202;
  run(caller: C, body: Static<Body>): Promise<T>;
}

/** `PUT` of one entity. Throws `not_found`, and `precondition_failed` unless its version is allowed. */
interface Change<C, T, Body extends TSchema> extends Operation {
  readonly body: Body;
  /** Takes an `Idempotency-Key`, since doing it twice makes a difference. */
  readonly isIdempotent?: boolean;
  run(caller: C, id: string, change: Static<Body> & { readonly versions: Versions }): Promise<T>;
}

/** `DELETE` of one entity. Throws `not_found`, and `precondition_failed` unless its version is allowed. */
interface Remove<C, Query extends TProperties> extends Operation {
  readonly query?: Query;
  run(
    caller: C,
    id: string,
    condition: Static<TObject<Query>> & { readonly versions: Versions },
  ): Promise<Static<typeof Deleted>>;
}

/** The operations of one kind of entity; those that are left out do not exist. */
export interface Resource<
  C,
  Item extends TSchema,
  PageQuery,
  Filters extends TProperties,
  Body extends TSchema,
  Patch extends TSchema,
  Query extends TProperties,
> extends ResourceKind<C, Item, PageQuery> {
  // biome-ignore lint/complexity/noBannedTypes: a list at `paths.list` has no parameters in its path
  readonly list?: List<C, Static<Item>, PageQuery, {}, Filters>;
  readonly get?: Get<C, Static<Item>>;
  readonly create?: Create<C, Static<Item>, Body>;
  readonly change?: Change<C, Static<Item>, Patch>;
  readonly remove?: Remove<C, Query>;
}

/** Adds the routes of a resource: their schemas, headers, conditions and documentation. */
export function addResource<
  C,
  Item extends TSchema,
  PageQuery,
  Filters extends TProperties,
  Body extends TSchema,
  Patch extends TSchema,
  Query extends TProperties,
>(app: HttpApp, resource: Resource<C, Item, PageQuery, Filters, Body, Patch, Query>): void {
  const { list, get, create, change, remove, ...kind } = resource;
  if (list) addList(app, kind, list);
  if (get) addGet(app, kind, get);
  if (create) addCreate(app, kind, create);
  if (change) addChange(app, kind, change);
  if (remove) addRemove(app, kind, remove);
}

/** Adds a list of the entities of a resource, such as those that belong to something else. */
export function addList<
  C,
  Item extends TSchema,
  PageQuery,
  Params extends TProperties,
  Filters extends TProperties,
>(
  app: HttpApp,
  kind: ResourceKind<C, Item, PageQuery>,
  list: List<C, Static<Item>, PageQuery, Params, Filters>,
): void {
  const { name, plural = `${name}s`, paging, paths, schema } = kind;
  app.route({
    method: 'GET',
    url: list.path ?? paths.list,
    ...documented(kind, list, {
      operationId: `list${plural}`,
      details: [paging.description],
      schema: {
        ...(list.params && { params: list.params }),
        querystring: Type.Object({ ...list.filters, ...paging.parameters }),
        response: { 200: Type.Array(schema) },
      },
    }),
    handler: async (request, reply) => {
      const query = request.query as Static<TObject<Filters>> & PageQuery;
      const params = request.params as Static<TObject<Params>>;
      const page = await list.run(kind.callerOf(request), query, params);
      addPageHeaders(reply, page.total, paging.links(request.url, query, page));
      return page.items;
    },
  });
}

type Kind<C, Item extends TSchema> = ResourceKind<C, Item, unknown>;

function addGet<C, Item extends TSchema>(app: HttpApp, kind: Kind<C, Item>, get: Get<C, Static<Item>>): void {
  const { name, paths, schema, params = IdParams } = kind;
  const isTagged = isVersioned(schema);
  app.route({
    method: 'GET',
    url: get.path ?? paths.item,
    ...documented(kind, get, {
      operationId: `get${name}`,
      details: isTagged ? ['With its `ETag` in `If-None-Match`, the response is 304 until it changes.'] : [],
      errors: ['not_found'],
      schema: { params, response: { 200: schema, ...(isTagged && { 304: NotModified }) } },
    }),
    handler: async (request, reply) => {
      const found = await get.run(kind.callerOf(request), idOf(request));
      return addVersion(request, reply, found) ? reply.code(304).send(null) : found;
    },
  });
}

function addCreate<C, Item extends TSchema, Body extends TSchema>(
  app: HttpApp,
  kind: Kind<C, Item>,
  create: Create<C, Static<Item>, Body>,
): void {
  const { name, paths, schema } = kind;
  const { status = 201, body } = create;
  app.route({
    method: 'POST',
    url: create.path ?? paths.list,
    ...documented(kind, create, {
      operationId: `create${name}`,
      details: [
        'Its address is in `Location`. Sent again with the same `Idempotency-Key`, it is created only once.',
      ],
      errors: ['conflict'],
      schema: { headers: IdempotencyHeader, body, response: { [status]: schema } },
    }),
    handler: async (request, reply) => {
      const caller = kind.callerOf(request, idempotencyOf(request, reply));
      const created = await create.run(caller, request.body as Static<Body>);
      addVersion(request, reply, created);
      const { id } = created as { readonly id: string };
      reply.code(status).header('location', paths.item.replace(':id', id));
      return created;
    },
  });
}

function addChange<C, Item extends TSchema, Body extends TSchema>(
  app: HttpApp,
  kind: Kind<C, Item>,
  change: Change<C, Static<Item>, Body>,
): void {
  const { name, paths, schema, params = IdParams } = kind;
  const { body, isIdempotent = false } = change;
  const isTagged = isVersioned(schema);
  const { headers, details, errors } = isTagged ? condition : noCondition;
  app.route({
    method: 'PUT',
    url: change.path ?? paths.item,
    ...documented(kind, change, {
      operationId: `update${name}`,
      details,
      errors: ['not_found', ...errors],
      schema: {
        params,
        ...headersOf({ ...headers, ...(isIdempotent && IdempotencyHeader.properties) }),
        body,
        response: { 200: schema },
      },
    }),
    handler: async (request, reply) => {
      const caller = kind.callerOf(request, isIdempotent ? idempotencyOf(request, reply) : undefined);
      const versions = isTagged ? versionsIn(request.headers['if-match']) : undefined;
      const given = { ...(request.body as object), versions } as Static<Body> & { versions: Versions };
      const changed = await change.run(caller, idOf(request), given);
      addVersion(request, reply, changed);
      return changed;
    },
  });
}

function addRemove<C, Item extends TSchema, Query extends TProperties>(
  app: HttpApp,
  kind: Kind<C, Item>,
  remove: Remove<C, Query>,
): void {
  const { name, paths, schema, params = IdParams } = kind;
  const isTagged = isVersioned(schema);
  const { headers, details, errors } = isTagged ? condition : noCondition;
  app.route({
    method: 'DELETE',
    url: remove.path ?? paths.item,
    ...documented(kind, remove, {
      operationId: `delete${name}`,
      details,
      errors: ['not_found', ...errors],
      schema: {
        params,
        ...headersOf(headers),
        ...(remove.query && { querystring: Type.Object(remove.query) }),
        response: { 200: Deleted },
      },
    }),
    handler: (request) => {
      const versions = isTagged ? versionsIn(request.headers['if-match']) : undefined;
      const given = { ...(request.query as Static<TObject<Query>>), versions };
      return remove.run(kind.callerOf(request), idOf(request), given);
    },
  });
}

interface Defaults {
  readonly operationId: string;
  readonly details: readonly string[];
  readonly errors?: readonly DocumentedError[];
  readonly schema: FastifySchema;
}

/** Options of a route: its access, and what `/openapi.json` says of it. */
function documented<C, Item extends TSchema>(
  { tag, access, errors: common = [] }: Kind<C, Item>,
  { operationId, summary, description, errors = [] }: Operation,
  defaults: Defaults,
) {
  const sentences = [description, ...defaults.details].filter(Boolean).join(' ');
  return {
    access,
    schema: {
      operationId: operationId ?? defaults.operationId,
      summary,
      ...(sentences !== '' && { description: sentences }),
      tags: [tag],
      ...defaults.schema,
    },
    config: { errors: [...(defaults.errors ?? []), ...errors, ...common] },
  };
}

function isVersioned(schema: TSchema): boolean {
  return 'version' in ((schema as { readonly properties?: object }).properties ?? {});
}

/** Additions to the changes of entities with versions. */
const condition: Condition = {
  headers: IfMatch.properties,
  details: ['With its `ETag` in `If-Match`, the response is 412 if it was changed since.'],
  errors: ['precondition_failed'],
};
const noCondition: Condition = { headers: {}, details: [], errors: [] };

interface Condition {
  readonly headers: TProperties;
  readonly details: readonly string[];
  readonly errors: readonly DocumentedError[];
}

function headersOf(headers: TProperties): { headers?: TObject } {
  return Object.keys(headers).length > 0 ? { headers: Type.Object(headers) } : {};
}

/** Adds the entity tag of an entity with a version. Returns true if the client has that version already. */
function addVersion(request: FastifyRequest, reply: FastifyReply, entity: unknown): boolean {
  const { version } = entity as { readonly version?: number };
  return version !== undefined && addEntityTag(request, reply, versionTag(version));
}

function idOf({ params }: FastifyRequest): string {
  return (params as Static<typeof IdParams>).id;
}
