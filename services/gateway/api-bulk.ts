import { ConcurrencyLimiter } from '#kit/concurrency-limiter.ts';
import { AppError } from '#kit/errors.ts';
import { leaveBody } from '#kit/http/body.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { Type } from '#kit/schema.ts';
import { readBulkBody } from './api-bulk-body.ts';
import { callerOf } from './api-guard.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, operation } from './api-schemas.ts';
import { BulkCreateRequest, BulkCreateResponse, wholeRow } from './bulk.ts';
import { callOf } from './call.ts';
import { CreatePostRequest } from './post.ts';
import { routes } from './routes.ts';

const bodyBytesMax = 128 * 1024 * 1024;
const keyCharacters = 255;

type Parts = Pick<ApiParts, 'app' | 'posts' | 'permits'>;

export function addBulk({ app, posts, permits }: Parts): void {
  const readRow = compileValidator(CreatePostRequest, wholeRow);
  const largeBodies = new ConcurrencyLimiter({ running: 2, waiting: 50 });
  const answer = dataOf(BulkCreateResponse);
  app.register(async (scope) => {
    leaveBody(scope);
    scope.post(
      routes.bulk,
      {
        ...permits('post', 'write'),
        bodyLimit: bodyBytesMax,
        config: { errors: ['conflict'] },
        // The handler checks the body itself, row by row; here the schema only documents it.
        validatorCompiler: () => () => true,
        schema: {
          ...operation('createPosts', 'Create up to 1,000 posts at once'),
          headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String()) }),
          body: BulkCreateRequest,
          response: { 201: answer, 207: answer },
        },
      },
      async (request, reply) => {
        const key = idempotencyKeyOf(request.headers['idempotency-key']);
        const wantsDigest = key !== undefined;
        const { rows, errors, digest } = await readBulkBody(request, { readRow, wantsDigest, largeBodies });
        const { uid } = callerOf(request);
        const result = await posts.createMany(
          { rows, errors, uid, idempotency: key && digest ? { key, digest } : undefined },
          callOf(request),
        );
        if (result.isReplayed) reply.header('idempotent-replayed', 'true');
        return reply.code(result.data.failed === 0 ? 201 : 207).send({ data: result.data });
      },
    );
  });
}

function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length <= keyCharacters && /^[\x21-\x7e]+$/.test(header)) return header;
  const problem = `must be 1 to ${keyCharacters} visible ASCII characters`;
  throw new AppError('invalid_input', `Idempotency-Key ${problem}`, {
    fields: { 'Idempotency-Key': problem },
  });
}
