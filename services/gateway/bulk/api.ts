import { Type } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { IdempotencyHeader, idempotencyKeyOf, markReplayed } from '@octavo/web/rest';
import type { HttpApp } from '@octavo/web/server';
import { goneSignal, leaveBody } from '@octavo/web/server';
import { compileValidator } from '@octavo/web/validation';
import { callerOf, callOf, type Permits } from '../access/index.ts';
import { CreatePostRequest } from '../posts/index.ts';
import { routes } from '../routes.ts';
import { readBulkBody } from './api-body.ts';
import { BulkCreateRequest, BulkCreateResponse, createPosts, wholeRow } from './bulk.ts';
import type { LargeBodies } from './large-bodies.ts';

interface Parts {
  readonly permits: Permits;
  readonly posts: Client<PostServiceDefinition>;
  readonly largeBodies: LargeBodies;
}

const bodyBytesMax = 128 * 1024 * 1024;

export function addBulk(app: HttpApp, { permits, posts, largeBodies }: Parts): void {
  const parseRow = compileValidator(CreatePostRequest, wholeRow);
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
          description:
            'Takes an array of posts. Valid ones are saved: 201 if all are, 207 with an entry for each invalid row otherwise. With an `Idempotency-Key` the request happens once in 24 hours.',
          headers: IdempotencyHeader,
          body: BulkCreateRequest,
          response: { 201: Response, 207: Response },
        },
      },
      async (request, reply) => {
        const key = idempotencyKeyOf(request);
        const wantsDigest = key !== undefined;
        const { uid } = callerOf(request);
        const signal = goneSignal(reply);
        const options = { parseRow, wantsDigest, largeBodies, uid, signal };
        const { rows, errors, digest } = await readBulkBody(request, options);
        const idempotency = key && digest ? { key, digest } : undefined;
        const creation = { rows, errors, uid, idempotency };
        const { data, isReplayed } = await createPosts(posts, creation, callOf(request));
        if (isReplayed) markReplayed(reply);
        return reply.code(data.failed === 0 ? 201 : 207).send({ data });
      },
    );
  });
}
