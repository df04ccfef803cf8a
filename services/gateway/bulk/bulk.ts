import { AppError, type Fields, type Static, Type } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { CallOptions, Client } from '@octavo/rpc';
import type { JsonBounds } from '@octavo/web/validation';
import { callersKey } from '../idempotency.ts';
import { CreatePostRequest } from '../posts/index.ts';

const bulkPostsMax = postLimits.bulk;
const timeoutMs = 60_000;

export const BulkCreateRequest = Type.Object(
  { posts: Type.Array(CreatePostRequest, { minItems: 1, maxItems: bulkPostsMax }) },
  {
    title: 'BulkCreateRequest',
    examples: [{ posts: [{ title: 'Fog over the harbor', body: 'The ferries wait.' }] }],
  },
);

export const BulkCreateResponse = Type.Object(
  {
    created: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Array(Type.String()),
    postIds: Type.Array(Type.Integer()),
  },
  {
    title: 'BulkCreateResponse',
    examples: [{ created: 1, failed: 1, errors: ['posts[1]: title: is required'], postIds: [43] }],
  },
);
export type BulkCreateResponse = Static<typeof BulkCreateResponse>;

/** Bounds for 1,000 rows of 100 keys each, most of which are ignored. */
export const bulkBounds: JsonBounds = {
  depth: 32,
  values: 100 * bulkPostsMax,
  list: { key: 'posts', items: bulkPostsMax },
};

/** The rows of a bulk request that can be created, in order, and a line for each that cannot. */
export interface CheckedRows {
  readonly rows: CreatePostRequest[];
  readonly errors: string[];
}

export interface BulkCreation extends CheckedRows {
  /** The user that posts belong to by default. */
  readonly uid: number;
  /** Makes a second request with the same key a replay. The digest is the SHA-256 of the request. */
  readonly idempotency?: { readonly key: string; readonly digest: Uint8Array } | undefined;
}

/** Parses a row, or returns its problems; compiled from {@link CreatePostRequest}. */
export type ParseRow = (
  row: unknown,
) => { value: CreatePostRequest; fields?: undefined } | { fields: Fields };

/** The name that {@link ParseRow} gives a row that is not an object. */
export const wholeRow = 'row';

/** Throws if the request as a whole is invalid. An invalid row only becomes a line. */
export function checkRequest(request: unknown, parseRow: ParseRow): CheckedRows {
  const rows: CreatePostRequest[] = [];
  const errors: string[] = [];
  for (const [index, row] of rowsOf(request).entries()) {
    const parsed = parseRow(row);
    if (parsed.fields) errors.push(`posts[${index}]: ${inWords(parsed.fields)}`);
    else rows.push(parsed.value);
  }
  return { rows, errors };
}

/** Creates the valid rows in one durable transaction. Keys of different callers are independent. */
export async function createPosts(
  posts: Client<PostServiceDefinition>,
  { rows, errors, uid, idempotency }: BulkCreation,
  call: CallOptions,
): Promise<{ data: BulkCreateResponse; isReplayed: boolean }> {
  if (rows.length === 0 && !idempotency) return { data: toResponse([], errors), isReplayed: false };
  const request = {
    posts: rows.map(({ userId = uid, title, body }) => ({ userId, title, body })),
    idempotencyKey: idempotency ? callersKey(uid, idempotency.key) : '',
    digest: Buffer.from(idempotency?.digest ?? []),
    errors,
  };
  const {
    ids,
    replayed,
    errors: replayedErrors,
  } = await posts.bulkCreatePosts(request, { ...call, timeoutMs });
  return { data: toResponse(ids, replayed ? replayedErrors : errors), isReplayed: replayed };
}

function toResponse(postIds: number[], errors: string[]): BulkCreateResponse {
  return { created: postIds.length, failed: errors.length, errors, postIds };
}

function rowsOf(request: unknown): unknown[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw invalid({ body: 'must be an object' });
  }
  const posts = Object.hasOwn(request, 'posts') ? (request as { posts: unknown }).posts : undefined;
  if (posts === undefined) throw invalid({ posts: 'is required' });
  if (!Array.isArray(posts)) throw invalid({ posts: 'must be an array' });
  if (posts.length === 0) throw invalid({ posts: 'must have at least 1 item' });
  if (posts.length > bulkPostsMax) throw invalid({ posts: `must have at most ${bulkPostsMax} items` });
  return posts;
}

function inWords(fields: Fields): string {
  return Object.entries(fields)
    .map(([name, problem]) => (name === wholeRow ? problem : `${name}: ${problem}`))
    .join('; ');
}

function invalid(fields: Fields): AppError {
  const message = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  return new AppError('validation_failed', message.join('; '), { fields });
}
