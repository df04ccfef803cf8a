import { notFound, Type } from '@octavo/core';
import { acceptedEndings } from '@octavo/documents';
import type { HttpApp } from '@octavo/web/server';
import { errorTable, invalidValue } from '../errors.ts';
import { libraryFor, sessionKey, type Visibility, visibilities } from '../library.ts';
import { routes } from '../routes.ts';
import { findSession } from '../sessions/index.ts';
import { whenGone } from './api-changes.ts';
import { type DocumentApiParts, DocumentShown, shown, tags, toTags } from './api-shared.ts';
import { type DuplicateMode, duplicateModes, limits, shownLimits } from './document.ts';
import type { UploadedFile, UploadOptions } from './ingest.ts';
import { formLimits, receiveFiles, type UploadFields, uploadEach } from './upload-form.ts';
import { type Viewer, viewerOf } from './viewer.ts';

const Failure = Type.Object({ filename: Type.String(), code: Type.String(), message: Type.String() });
const UploadAnswer = Type.Object(
  { success: Type.Boolean(), documents: Type.Array(DocumentShown), errors: Type.Array(Failure) },
  { title: 'UploadAnswer' },
);

/** Adds the upload of documents. */
export function addUpload(app: HttpApp, parts: DocumentApiParts): void {
  app.get(
    routes.upload,
    {
      access: parts.gate.access('read'),
      schema: {
        tags,
        summary: 'Limits of uploads',
        description:
          'Returns the largest file and request, the number of files, and the media types that can be read.',
        response: { 200: Type.Unknown({ title: 'UploadLimits' }) },
      },
    },
    async () => ({ ...shownLimits, extensions: acceptedEndings }),
  );
  app.register(async (scope) => {
    const { default: multipart } = await import('@fastify/multipart');
    await scope.register(multipart, { limits: formLimits });
    scope.post(
      routes.upload,
      {
        access: parts.gate.access('upload'),
        bodyLimit: limits.requestBytesMax,
        validatorCompiler: () => () => true,
        schema: {
          tags,
          summary: 'Upload documents',
          description:
            'Takes one or more files as a multipart form and returns an entry for each. A file that is there already is skipped, replaced or refused, by `on_duplicate`. Reading goes on after the response, unless `wait` is true.',
          consumes: ['multipart/form-data'],
          body: Type.Object({
            file: Type.String({ contentMediaType: 'application/octet-stream' }),
            tags: Type.Optional(Type.String({ description: 'Separated by commas, or repeated' })),
            session_id: Type.Optional(Type.String({ description: 'Found only by questions in that chat' })),
            visibility: Type.Optional(
              Type.Enum([...visibilities], {
                description: '`private` for a signed-in person, if not given',
              }),
            ),
            on_duplicate: Type.Optional(Type.Enum(duplicateModes)),
            wait: Type.Optional(Type.Boolean({ description: 'Waits until the documents are indexed' })),
          }),
          response: { 200: UploadAnswer, 201: UploadAnswer, 202: UploadAnswer, 207: UploadAnswer },
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
          ],
        },
      },
      async (request, reply) => {
        const viewer = await viewerOf(parts, request);
        const { files, fields } = await receiveFiles(request);
        const result = await uploadAll(parts, files, viewer, {
          ...(await optionsOf(viewer, fields, parts)),
          signal: whenGone(reply),
          waits: waitOf(fields),
        });
        return reply.code(result.status).send(result.body);
      },
    );
  });
}

async function optionsOf({ identity }: Viewer, fields: UploadFields, parts: DocumentApiParts) {
  const { owner } = identity;
  const onDuplicate = fields.on_duplicate ?? 'skip';
  if (!duplicateModes.includes(onDuplicate as DuplicateMode))
    throw invalidValue('on_duplicate', `must be one of ${duplicateModes.join(', ')}`, duplicateModes);
  const named = toTags((fields.tags ?? '').split(','));
  const session = fields.session_id || null;
  if (session !== null && !(await findSession(parts.database, { owner, nowMs: parts.clock.now() }, session)))
    throw notFound('session', session);
  const visibility = toVisibility(fields.visibility || undefined);
  if (session !== null && (visibility ?? 'private') !== 'private')
    throw invalidValue('visibility', 'must be private for a document of a chat');
  return {
    owner,
    session,
    tags: named,
    onDuplicate: onDuplicate as DuplicateMode,
    libraryKey: session === null ? libraryFor(parts.library, identity, visibility) : sessionKey(session),
  };
}

function toVisibility(given: string | undefined): Visibility | undefined {
  const known = visibilities.find((each) => each === given);
  if (given !== undefined && !known)
    throw invalidValue('visibility', `must be one of ${visibilities.join(', ')}`, visibilities);
  return known;
}

function waitOf({ wait = 'true' }: UploadFields): boolean {
  if (wait !== 'true' && wait !== 'false') throw invalidValue('wait', 'must be true or false');
  return wait === 'true';
}

async function uploadAll(
  parts: DocumentApiParts,
  files: readonly UploadedFile[],
  viewer: Viewer,
  options: UploadOptions,
) {
  const { uploads, failures } = await uploadEach(parts, files, options);
  const [first] = failures;
  if (first && uploads.length === 0) throw first.error;
  const documents = uploads.map(({ document, isDuplicate }) => ({
    ...shown(document, viewer),
    ...(isDuplicate && { status: 'duplicate' as const }),
  }));
  const errors = failures.map(({ filename, error: { code, message } }) => ({
    filename,
    code: errorTable[code].code,
    message,
  }));
  const isOld = uploads.every(({ isDuplicate }) => isDuplicate);
  const status = errors.length > 0 ? 207 : isOld ? 200 : options.waits ? 201 : 202;
  return { status, body: { success: errors.length === 0, documents, errors } } as const;
}
