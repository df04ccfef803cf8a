import type { FastifyReply } from 'fastify';
import type { HttpApp } from '#kit/http/access.ts';
import { leaveBody } from '#kit/http/body.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import type { Client } from '#kit/rpc/index.ts';
import { Type } from '#kit/schema.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { callerOf, callOf, type Permits } from '../access/index.ts';
import { IdempotencyHeader, idempotencyKeyOf } from '../idempotency.ts';
import { CreatePostRequest } from '../posts/index.ts';
import { routes } from '../routes.ts';
import { readBulkBody } from './api-body.ts';
import { LargeBodies } from './api-large-bodies.ts';
import { BulkCreateRequest, BulkCreateResponse, createPosts, wholeRow } from './bulk.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  /** For temporary files. */
  readonly spillFolder: string;
}

const bodyBytesMax = 128 * 1024 * 1024;

export function addBulk(app: HttpApp, { permits, posts, spillFolder }: Parts): void {
  const parseRow = compileValidator(CreatePostRequest, wholeRow);
  const largeBodies = new LargeBodies(spillFolder);
  const Response = Type.Object({ data: BulkCreateResponse });
  app.register(async (scope) => {
    leaveBody(scope);
    scope.post(
      routes.bulk,
      {
        access: permits('post', 'write'),
        bodyLimit: bodyBytesMax,
        config: { errors: ['conflict'], largeBody: 'handler' },
        // The handler checks the rows one by one, so the schema is for the API document only.
        validatorCompiler: () => () => true,
        schema: {
          operationId: 'createPosts',
          tags: ['Posts'],
          summary: 'Create up to 1,000 posts at once',
          headers: IdempotencyHeader,
          body: BulkCreateRequest,
          response: { 201: Response, 207: Response },
        },
      },
      async (request, reply) => {
        const key = idempotencyKeyOf(request.headers['idempotency-key']);
        const wantsDigest = key !== undefined;
        const { uid } = callerOf(request);
        const signal = goneSignal(reply);
        const options = { parseRow, wantsDigest, largeBodies, uid, signal };
        const { rows, errors, digest } = await readBulkBody(request, options);
        const idempotency = key && digest ? { key, digest } : undefined;
        const creation = { rows, errors, uid, idempotency };
        const { data, isReplayed } = await createPosts(posts, creation, callOf(request));
        if (isReplayed) reply.header('idempotent-replayed', 'true');
        return reply.code(data.failed === 0 ? 201 : 207).send({ data });
      },
    );
  });
}

/** Aborts when the client goes away before it has its response. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
