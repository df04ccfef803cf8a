import { STATUS_CODES } from 'node:http';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { productVersion } from '@octavo/core';
import Fastify, { type FastifySchema, type RouteOptions } from 'fastify';
import type { HttpServerOptions } from '../options.ts';
import type { ErrorResponses } from '../responses/error-responses.ts';
import { schemaController } from '../validation/compilers.ts';
import { type DocumentedError, describeErrors, errorsOf } from './errors.ts';
import { exampleOf, schemaOf } from './examples.ts';
import { nameSchemas } from './named-schemas.ts';

type Json = Record<string, unknown>;

interface Operation extends Json {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: Readonly<Record<string, unknown>>[];
  requestBody?: { content?: Record<string, Media> };
  responses: Record<string, Response>;
}

interface Response extends Json {
  description: string;
  content?: Record<string, Media>;
}

interface Media extends Json {
  schema?: Json;
  example?: unknown;
  examples?: unknown;
}

/**
 * Creates the OpenAPI 3.1 document of routes from their schemas. It adds what authors need not write: the errors that follow from
 * the shape of each route, an example of every response, and an id for every operation.
 *
 * `@fastify/swagger` records routes while they are added, so we add them again to a server that gets no requests.
 */
export async function writeApiDocument(
  routes: readonly RouteOptions[],
  options: HttpServerOptions,
  responses: ErrorResponses,
): Promise<object> {
  const app = Fastify({ exposeHeadRoutes: false, schemaController });
  await app.register(swagger, documentOptions(options, responses));
  for (const { method, url, schema, config } of routes) {
    app.route({ method, url, schema, config, handler: () => {} });
  }
  await app.ready();
  return app.swagger();
}

function documentOptions(
  options: HttpServerOptions,
  responses: ErrorResponses,
): FastifyDynamicSwaggerOptions {
  const errors = new Map<string, readonly DocumentedError[]>();
  const invalidBody = options.invalidBody ?? 'validation_failed';
  const hasDatabase = 'database' in (options.checks ?? {});
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: options.title,
        description: options.description,
        version: options.version ?? productVersion(),
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'This server' }],
      security: [],
      components: {
        securitySchemes: options.securitySchemes ?? { bearer: { type: 'http', scheme: 'bearer' } },
      },
    },
    convertConstToEnum: false,
    transform({ schema = {}, url, route }) {
      const operationId = schema.operationId ?? idOf(route);
      const config = { invalidBody, hasDatabase, ...route.config };
      // Ids made of hidden addresses, such as those of pages, may be equal to those of operations.
      if (!schema.hide) errors.set(operationId, errorsOf({ method: route.method, schema }, config));
      const relaxed = { ...schema, ...optionalWhereDefault(schema), ...namedRest(schema), operationId };
      return { url: url.replace('*', ':rest'), schema: relaxed };
    },
    transformObject(object) {
      const { openapiObject: document } = object as unknown as { openapiObject: Json };
      const schemas = {
        ...((document.components as Json).schemas as Json),
        Error: options.errorSchema ?? errorSchema(responses),
      };
      const given = document.paths as Paths;
      for (const operation of operationsOf(given))
        complete(operation, errors.get(operation.operationId), responses);
      const { paths, named } = nameSchemas(probesLast(given));
      const components = { ...(document.components as Json), schemas: { ...schemas, ...named } };
      const info = { ...(document.info as Json), 'x-product-version': productVersion() };
      const finished: Json = { info, paths, components };
      return { ...document, ...finished };
    },
  };
}

function errorSchema(responses: ErrorResponses): Json {
  const { error } = describeErrors(['not_found'], responses)[0] ?? {};
  return { ...schemaOf(error), description: 'Description of the problem.' };
}

/** `GET /posts/:id` becomes `getPostsId`. */
function idOf({ method, url }: RouteOptions): string {
  const words = url.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const camel = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  return `${String(method).toLowerCase()}${camel || 'Root'}`;
}

/** Clients may leave out a key with a default, but TypeBox marks it as required, because it types the handler's input. */
function optionalWhereDefault(schema: FastifySchema): FastifySchema {
  const relaxed = Object.entries({ body: schema.body, querystring: schema.querystring }).map(
    ([part, given]) => {
      const { required, properties } = (given ?? {}) as {
        required?: string[];
        properties?: Record<string, Json>;
      };
      if (!required || !properties) return [part, given];
      return [
        part,
        { ...(given as Json), required: required.filter((key) => properties[key]?.default === undefined) },
      ];
    },
  );
  return Object.fromEntries(relaxed.filter(([, given]) => given !== undefined));
}

/** OpenAPI has no path parameter that spans several segments, so ours are shown under a name. */
function namedRest({ params }: FastifySchema): FastifySchema {
  const { properties, required } = (params ?? {}) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  if (!properties?.['*']) return {};
  const { '*': rest, ...others } = properties;
  return {
    params: {
      properties: { ...others, rest },
      required: required?.map((name) => (name === '*' ? 'rest' : name)),
    },
  };
}

type Paths = Record<string, Record<string, Operation>>;

function operationsOf(paths: Paths): Operation[] {
  return Object.values(paths).flatMap((path) => Object.values(path));
}

/** Moves probes to the end: readers of the document come for the resources, and probes are equal in every service. */
function probesLast(paths: Paths): Paths {
  const isProbe = ([, path]: [string, Record<string, Operation>]) =>
    Object.values(path).every(({ tags }) => tags?.includes('Probes'));
  return Object.fromEntries(
    Object.entries(paths).toSorted((a, b) => Number(isProbe(a)) - Number(isProbe(b))),
  );
}

function complete(
  operation: Operation,
  errors: readonly DocumentedError[] = [],
  responses: ErrorResponses,
): void {
  operation.summary ??= operation.operationId.replaceAll(/([A-Z])/g, ' $1');
  operation.tags = operation.tags?.map(inSentenceCase);
  operation.description = [operation.description, callersOf(operation)].filter(Boolean).join('\n\n');
  for (const media of Object.values(operation.requestBody?.content ?? {})) addExample(media);
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response.description === 'Default Response')
      response.description = STATUS_CODES[status] ?? 'Response';
    for (const media of Object.values(response.content ?? {})) addExample(media);
  }
  for (const { status, code, error } of describeErrors(errors, responses)) {
    operation.responses[status] ??= { description: STATUS_CODES[status] ?? 'Error' };
    const response = operation.responses[status];
    response.content ??= { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
    const media = response.content['application/json'];
    if (media && media.example === undefined)
      media.examples = { ...(media.examples as Json), [code]: { value: error } };
  }
}

function inSentenceCase(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** A sentence about who may call an operation. */
function callersOf({ security = [] }: Operation): string {
  const schemes = security.map((each) => Object.keys(each).join(' and '));
  const named = [...new Set(schemes.filter(Boolean))].map((scheme) => `\`${scheme}\``).join(' or ');
  if (named === '') return 'Needs no sign-in.';
  return schemes.includes('') ? `Needs no sign-in, and takes ${named}.` : `Needs ${named}.`;
}

function addExample(media: Media): void {
  if (media.schema && media.example === undefined && media.examples === undefined) {
    media.example = exampleOf(media.schema);
  }
}
