import type { Multipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Reads the parts of a multipart form, one after another, in place of `parts` of the plugin. Errors of the parser become `invalid_input`. */
    formParts: (limits: PartLimits) => AsyncGenerator<Multipart>;
  }
}

/** Limits on the parts of a form. */
type PartLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

/** Adds `formParts` to the requests of a server. */
export function addFormParts(app: FastifyInstance): void {
  app.decorateRequest('formParts', function formParts(this: FastifyRequest, limits: PartLimits) {
    return partsOf(this, limits);
  });
}

/** Errors of the parser (about a form without a boundary, or that was cut off) have no code: they are known by where they come from. */
async function* partsOf(request: FastifyRequest, limits: PartLimits): AsyncGenerator<Multipart> {
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === 'file') {
        // A short form has failed already.
        noteParserError(part.file.errored);
        part.file.on('error', noteParserError);
      }
      yield part;
    }
  } catch (error) {
    noteParserError(error);
    throw error;
  }
}

const parserErrors = new WeakSet<Error>();

/** Returns true for an error of the parser about a malformed form. */
export function isMalformedForm(error: unknown): boolean {
  return error instanceof Error && parserErrors.has(error);
}

/** Fastify's errors, and those of the connection, have a code. */
function noteParserError(error: unknown): void {
  if (error instanceof Error && !('code' in error)) parserErrors.add(error);
}
