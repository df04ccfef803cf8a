import { Type } from '@octavo/core';
import { IdempotencyHeader } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Caller } from '../commands.ts';
import { callerOf, callerWithIdempotencyKey } from '../edges/api-access.ts';
import { accepted } from '../edges/api-responses.ts';
import { invalid } from '../edges/schema-parser.ts';
import { routes } from '../routes.ts';
import {
  abandonUpload,
  beginUpload,
  completeUpload,
  readTaskFile,
  Task,
  type Tasks,
} from '../tasks/index.ts';
import { ImportRequest, parseImportRequest } from './import.ts';
import type { Imports } from './imports.ts';
import { fieldBytesMax, fileBytesMax, receiveTaskFile } from './upload.ts';

const Upload = Type.Object(
  { file: Type.String({ contentMediaType: 'application/octet-stream' }), ...ImportRequest.properties },
  { title: 'ImportUpload' },
);

interface Parts {
  readonly tasks: Tasks;
  readonly imports: Imports;
  readonly access: AccessRule;
}

export function addImportApi(app: HttpApp, { tasks, imports, access }: Parts): void {
  app.register(async (scope) => {
    // Loaded when the service starts to listen, not when it is imported.
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, {
      limits: { fileSize: fileBytesMax, files: 1, fields: 20, fieldSize: fieldBytesMax },
      throwFileSizeLimit: true,
    });
    scope.post(
      routes.import,
      {
        access,
        bodyLimit: fileBytesMax + fieldBytesMax,
        // The handler reads and checks the form. The schema is for the API document.
        validatorCompiler: () => () => true,
        schema: {
          operationId: 'importExpenses',
          summary: 'Import a CSV, OFX, QIF, CAMT.053 or MT940 file into a budget',
          description:
            'Importing a file twice adds nothing. The result of the task says how the file was read, and lists lines that were skipped or cannot be read. An option that the file needs is named by a 422.',
          tags: ['Import and export'],
          consumes: ['multipart/form-data'],
          headers: IdempotencyHeader,
          body: Upload,
          response: { 202: Task },
        } as object,
        config: {
          largeBody: 'handler',
          errors: [
            'validation_failed',
            'forbidden',
            'not_found',
            'conflict',
            'too_large',
            'unsupported_media_type',
            'unprocessable',
            'rate_limited',
          ],
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const id = await beginUpload(tasks.context, caller, 'import');
        try {
          const { fields, digest } = await receiveTaskFile(request, tasks, { caller, taskId: id });
          checkNames(fields);
          const given = parseImportRequest(fields);
          const file = readTaskFile(tasks.context, { owner: caller.owner, taskId: id, name: 'input' });
          const input = await imports.plan(tasks.context, caller, given, file);
          const commander = withDigest(callerWithIdempotencyKey(request, reply), digest);
          const description = given.description ?? null;
          return accepted(reply, await completeUpload(tasks, commander, id, { input, description }));
        } catch (error) {
          await abandonUpload(tasks.context, caller, id);
          throw error;
        }
      },
    );
  });
}

/** A name that is no option would be a mistake without a trace. */
function checkNames(fields: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(fields).filter((name) => !(name in ImportRequest.properties));
  if (unknown.length > 0) throw invalid(Object.fromEntries(unknown.map((name) => [name, 'is not known'])));
}

/** The body of a form is not in the digest that other requests have. */
function withDigest(caller: Caller, digest: string): Caller {
  const { idempotency } = caller;
  return idempotency ? { ...caller, idempotency: { ...idempotency, digest } } : caller;
}
