import { AppError, type TSchema, Type } from '@octavo/core';
import { type Database, deleteRows, type WriteSession } from '@octavo/data';
import type { OffsetRequest, Page } from '@octavo/web/rest';
import type { Access, HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import { type FieldErrors, fieldErrors, notFoundError } from './errors.ts';
import { integer, missingRow } from './fields.ts';
import { readIds } from './ids.ts';
import { addPagingHeaders, pagingParameters, readPaging } from './paging.ts';
import { bodyTypes, type DrfScope } from './scope.ts';
import { type Fields, parseItems, serializer, type Values } from './serializer.ts';

interface Row {
  readonly id: number;
}

/** One kind of row that an API lists, shows, creates, changes and deletes, one by one or many at once. */
export interface Resource<F extends Fields, R extends Row, DB> {
  /** Name such as `book`. Bodies are called `BookRequest` in `/openapi.json`. */
  readonly name: string;
  /** The table of the rows, whose ids are not used again. */
  readonly table: keyof DB & string;
  /** The path of the list, `/api/books/`. */
  readonly collection: string;
  /** The path of one row, `/api/books/:id/`. */
  readonly item: string;
  readonly access: Readonly<Record<'read' | 'add' | 'change' | 'delete', Access>>;
  /** Fields of a request body. */
  readonly fields: F;
  /** Further parameters of the list. */
  readonly filters?: Readonly<Record<string, TSchema>>;
  /** The schema of what `show` gives; by default the id and the fields. Without a `title`, it is called `Book`. */
  readonly shown?: TSchema;
  /** Returns the representation of a row for this caller; by default the id and the fields. */
  show?(row: R, request: FastifyRequest): unknown;
  /** The rows that this caller may see. */
  list(request: FastifyRequest, paging: OffsetRequest): Promise<Page<R>>;
  find(id: number, request: FastifyRequest): Promise<R | undefined>;
  insert(session: WriteSession<DB>, values: Values<F>, request: FastifyRequest): Promise<R>;
  /** Undefined if there is no such row. */
  update(
    session: WriteSession<DB>,
    id: number,
    change: Partial<Values<F>>,
    request: FastifyRequest,
  ): Promise<R | undefined>;
  /** Returns the number of deleted rows. */
  delete(session: WriteSession<DB>, ids: readonly number[], request: FastifyRequest): Promise<number>;
  /** Errors for callers when a column must be unique, by its name. */
  readonly uniqueErrors?: Readonly<Record<string, FieldErrors>>;
  /** Returns true for a change that must come after the others, because these make room for it. */
  readonly isLate?: (change: Partial<Values<F>>) => boolean;
}

/** Dependencies of a resource. */
export interface ResourceParts<DB> {
  readonly app: HttpApp;
  readonly drf: DrfScope;
  readonly database: Database<DB>;
}

const Id = Type.Object({ id: Type.Integer() });

/** Representation of a row, for other routes that respond with it. */
interface ResourceView<R extends Row> {
  /** Schema with a name, such as `Book`, for `/openapi.json`. */
  readonly schema: TSchema;
  /** The row as responses show it to this caller. */
  show(row: R, request: FastifyRequest): unknown;
}

/** Adds every route of a resource, and returns the representation of its rows. */
export function addDrfResource<F extends Fields, R extends Row, DB>(
  parts: ResourceParts<DB>,
  given: Resource<F, R, DB>,
): ResourceView<R> {
  const resource = { shown: schemaOf(given.fields), show: showFields(given.fields), ...given };
  const { name, collection, item, access } = resource;
  const title = titleOf(name);
  parts.drf.describe(collection, {
    name: `${title} List`,
    description: `All ${name}s.`,
    access: access.read,
  });
  parts.drf.describe(item, {
    name: `${title} Instance`,
    description: `One ${name}.`,
    access: access.read,
  });
  const named = { ...resource, shown: { title, ...resource.shown } as typeof resource.shown };
  addReads(parts, named);
  addCreate(parts, named);
  addChanges(parts, named);
  addCollectionChanges(parts, named);
  addDeletes(parts, named);
  return { schema: named.shown, show: named.show };
}

/** `Book` */
function titleOf(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

function schemaOf(fields: Fields): TSchema {
  const shown = Object.entries(fields).map(([name, { schema }]) => [name, schema as unknown as TSchema]);
  return Type.Object({ id: Type.Integer(), ...Object.fromEntries(shown) });
}

function showFields(fields: Fields): (row: Row) => unknown {
  const entries = Object.entries(fields);
  return (row) => {
    const stored = row as unknown as Readonly<Record<string, unknown>>;
    const shown: Record<string, unknown> = { id: row.id };
    for (const [name, { show }] of entries) {
      const value = stored[name];
      shown[name] = show && value !== null ? show(value) : value;
    }
    return shown;
  };
}

type Shown<F extends Fields, R extends Row, DB> = Resource<F, R, DB> &
  Required<Pick<Resource<F, R, DB>, 'shown' | 'show'>>;

function addReads<F extends Fields, R extends Row, DB>(
  { app }: ResourceParts<DB>,
  { name, collection, item, access, filters, shown, show, list, find }: Shown<F, R, DB>,
): void {
  const tags = [`${name}s`];
  const querystring = Type.Object({ ...filters, ...pagingParameters });
  app.get(
    collection,
    {
      access: access.read,
      schema: {
        tags,
        summary: `List ${name}s`,
        description: `Returns the ${name}s by ascending id: a page of them with \`limit\` and \`offset\`, and how many there are in the headers.`,
        querystring,
        response: { 200: Type.Array(shown) },
      },
    },
    async (request, reply) => {
      const paging = readPaging(request.query);
      const { items, total } = await list(request, paging);
      addPagingHeaders(request, reply, { paging, total });
      return items.map((row) => show(row, request));
    },
  );
  app.get(
    item,
    {
      access: access.read,
      schema: {
        tags,
        summary: `Read a ${name}`,
        description: `Returns one ${name} by its id.`,
        params: Id,
        response: { 200: shown },
      },
      config: { errors: ['not_found'] },
    },
    async (request) => {
      const row = await find(request.params.id, request);
      if (!row) throw notFoundError();
      return show(row, request);
    },
  );
}

function addCreate<F extends Fields, R extends Row, DB>(
  { app, database }: ResourceParts<DB>,
  resource: Shown<F, R, DB>,
): void {
  const { name, collection, item, access, fields, shown, show, insert } = resource;
  const { schema: body, parse } = serializer(fields, { title: `${titleOf(name)}Request` });
  app.post(
    collection,
    {
      access: access.add,
      schema: {
        tags: [`${name}s`],
        summary: `Create a ${name}`,
        description: `Takes the fields of a ${name} and returns it with its id, and its address in \`Location\`.`,
        consumes: bodyTypes,
        body,
        response: { 201: shown },
      },
    },
    async (request, reply) => {
      const values = await parse(request.body);
      const row = await database.write((session) => explained(resource, insert(session, values, request)));
      reply.code(201).header('location', item.replace(':id', String(row.id)));
      return show(row, request);
    },
  );
}

function addChanges<F extends Fields, R extends Row, DB>(
  { app, database }: ResourceParts<DB>,
  resource: Shown<F, R, DB>,
): void {
  const { name, item, access, fields, shown, show, find, update } = resource;
  const { schema, partialSchema, parse, parsePartial } = serializer(fields, {
    title: `${titleOf(name)}Request`,
  });
  const variants = [
    ['put', `Replace a ${name}`, 'Takes all fields', schema, parse],
    ['patch', `Change a ${name}`, 'Takes the fields to change', partialSchema, parsePartial],
  ] as const;
  for (const [method, summary, takes, body, read] of variants) {
    app[method](
      item,
      {
        access: access.change,
        schema: {
          tags: [`${name}s`],
          summary,
          description: `${takes} and returns the ${name}.`,
          params: Id,
          consumes: bodyTypes,
          body,
          response: { 200: shown },
        },
        config: { errors: ['not_found'] },
      },
      async (request) => {
        const { id } = request.params;
        if (!(await find(id, request))) throw notFoundError();
        const change = await read(request.body);
        const row = await database.write((session) =>
          explained(resource, update(session, id, change, request)),
        );
        if (!row) throw notFoundError();
        return show(row, request);
      },
    );
  }
}

/** PUT of the collection: an object with its id, or an array of them, which changes all or none. */
function addCollectionChanges<F extends Fields, R extends Row, DB>(
  { app, database }: ResourceParts<DB>,
  resource: Shown<F, R, DB>,
): void {
  const { name, collection, access, fields, shown, show, update } = resource;
  const one = serializer({ id: integer(), ...fields }, { title: `Identified${titleOf(name)}Request` });
  app.put(
    collection,
    {
      access: access.change,
      schema: {
        tags: [`${name}s`],
        summary: `Replace ${name}s`,
        description: 'An object with `id`, or an array of such objects, of which all are changed or none.',
        consumes: bodyTypes,
        body: Type.Union([one.schema, Type.Array(one.schema)]),
        response: { 200: Type.Union([shown, Type.Array(shown)]) },
      },
      config: { errors: ['not_found'] },
    },
    async (request) => {
      if (Array.isArray(request.body)) {
        const changes = await parseItems(request.body, async (body) => toChange<F>(await one.parse(body)));
        checkIds(changes);
        const rows = await database.write((session) => updateAll(session, changes, { resource, request }));
        return rows.map((row) => show(row, request));
      }
      const { id, change } = toChange<F>(await one.parse(request.body));
      const row = await database.write((session) =>
        explained(resource, update(session, id, change, request)),
      );
      if (!row) throw notFoundError();
      return show(row, request);
    },
  );
}

interface Change<F extends Fields> {
  readonly id: number;
  readonly change: Partial<Values<F>>;
}

function toChange<F extends Fields>(values: object): Change<F> {
  const { id, ...change } = values as { id: number };
  return { id, change: change as Partial<Values<F>> };
}

/** Refuses two changes of one row, of which only one could be what its caller sees afterwards. */
function checkIds(changes: readonly { readonly id: number }[]): void {
  const indexById = new Map(changes.toReversed().map(({ id }, index) => [id, changes.length - 1 - index]));
  const repeated = [...changes.entries()].filter(([index, { id }]) => indexById.get(id) !== index);
  if (repeated.length === 0) return;
  const problem = { id: ['Each id may be named only once.'] };
  throw fieldErrors(Object.fromEntries(repeated.map(([index]) => [index, problem])));
}

async function updateAll<F extends Fields, R extends Row, DB>(
  session: WriteSession<DB>,
  changes: readonly Change<F>[],
  { resource, request }: { resource: Resource<F, R, DB>; request: FastifyRequest },
): Promise<R[]> {
  const { isLate = () => false } = resource;
  const rows: R[] = [];
  // In order of id, so that of two requests that change the same rows neither waits for the other.
  const inOrder = [...changes.entries()].sort(([, one], [, other]) => one.id - other.id);
  const early = inOrder.filter(([, { change }]) => !isLate(change));
  const late = inOrder.filter(([, { change }]) => isLate(change));
  for (const [index, { id, change }] of [...early, ...late]) {
    try {
      const row = await explained(resource, resource.update(session, id, change, request));
      if (!row) throw fieldErrors({ id: [missingRow(id)] });
      rows[index] = row;
    } catch (error) {
      if (!(error instanceof AppError) || error.details === undefined) throw error;
      throw fieldErrors({ [index]: error.details as FieldErrors });
    }
  }
  return rows;
}

function addDeletes<F extends Fields, R extends Row, DB>(
  { app, database }: ResourceParts<DB>,
  { name, table, collection, item, access, delete: remove }: Shown<F, R, DB>,
): void {
  const tags = [`${name}s`];
  const removeRows = (keys: readonly number[], request: FastifyRequest) =>
    deleteRows(database, { table, column: 'id', keys }, (session) => remove(session, keys, request));
  app.delete(
    collection,
    {
      access: access.delete,
      schema: {
        tags,
        summary: `Delete the ${name}s that are named`,
        description: 'By `{"ids": [1, 2]}` in the body, or by `?id=1&id=2`.',
        querystring: Type.Object({ id: Type.Optional(Type.Array(Type.Integer())) }),
        response: { 200: Type.Object({ deleted: Type.Integer() }) },
      },
    },
    async (request) => {
      const ids = await readIds(request);
      return { deleted: await removeRows(ids, request) };
    },
  );
  app.delete(
    item,
    {
      access: access.delete,
      schema: {
        tags,
        summary: `Delete a ${name}`,
        description: `Deletes the ${name} with what belongs to it. The response is empty.`,
        params: Id,
        response: { 204: Type.Null() },
      },
      config: { errors: ['not_found'] },
    },
    async (request, reply) => {
      const deleted = await removeRows([request.params.id], request);
      if (deleted === 0) throw notFoundError();
      reply.code(204);
      return null;
    },
  );
}

/** Translates a violated unique constraint. */
async function explained<F extends Fields, R extends Row, DB, T>(
  { uniqueErrors = {} }: Resource<F, R, DB>,
  written: Promise<T>,
): Promise<T> {
  try {
    return await written;
  } catch (error) {
    const columns = error instanceof AppError && error.code === 'conflict' ? Object.keys(error.fields) : [];
    const known = columns.find((column) => uniqueErrors[column] !== undefined);
    throw known === undefined ? error : fieldErrors(uniqueErrors[known] as FieldErrors);
  }
}
