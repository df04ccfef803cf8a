import type { TSchema } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Access, HttpApp } from '@octavo/web/server';
import { addTrailingSlashes, takeForms, takeJson, takeMultipart } from '@octavo/web/server';
import { compileTextValidator, numberReviver, parseJson } from '@octavo/web/validation';
import type { FastifySchemaCompiler } from 'fastify';
import { notFoundError } from './errors.ts';

/** Media types of the bodies that the dialect takes, for `consumes` in the schema of a route. */
export const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** Response to `OPTIONS` for an address. */
export interface ViewDescription {
  /** Name such as `Book List`. */
  readonly name: string;
  readonly description: string;
  readonly access: Access;
}

/** The routes of a scope that speaks the dialect. */
export interface DrfScope {
  /** Adds `OPTIONS` for an address: its description, and `Allow` with the methods of its routes. */
  describe(path: string, view: ViewDescription): void;
}

/**
 * Makes the routes of a scope speak the dialect: bodies of JSON and of forms, 404 for ids in paths that are no numbers, and
 * addresses that are found without the slash at their end. Bodies and queries reach the handlers unchecked, which read them with
 * a serializer and `readPaging`; their schemas are for `/openapi.json`. Call it before the routes are added.
 */
export function useDrf(scope: HttpApp): DrfScope {
  scope.removeAllContentTypeParsers();
  takeJson(scope, parseJsonBody);
  takeForms(scope);
  takeMultipart(scope);
  scope.setValidatorCompiler(validatorCompiler);
  addTrailingSlashes(scope);
  const methodsByUrl = new Map<string, Set<string>>();
  scope.addHook('onRoute', ({ url, method, config }) => {
    if (config?.allow !== undefined) return;
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByUrl.set(url, methods);
  });
  return {
    describe(path, { name, description, access }) {
      const view = { name, description, renders: ['application/json'], parses: bodyTypes };
      scope.options(path, { access, schema: { hide: true } }, (request, reply) => {
        const methods = methodsByUrl.get(request.routeOptions.url ?? path) ?? [];
        reply.header('allow', [...methods].join(', ')).send(view);
      });
    },
  };
}

const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart !== 'params') return () => ({});
  const validate = compileTextValidator(schema);
  return (params: Readonly<Record<string, unknown>>) => {
    const validation = validate(params);
    return validation.fields ? { error: notFoundError() } : validation;
  };
};

function parseJsonBody(bytes: Buffer): unknown {
  try {
    return parseJson(bytes, numberReviver);
  } catch (error) {
    const { message, cause } = error as AppError;
    const reason = cause instanceof Error ? cause.message : message;
    throw new AppError('invalid_input', `JSON parse error - ${reason}`);
  }
}
