import { type Static, Type } from '#kit/schema.ts';
import type { Post as StoredPost } from '#proto/posts/v1/posts.ts';
import { isoTime } from './iso-time.ts';

export const largestId = Number.MAX_SAFE_INTEGER;
export const titleCharacters = 500;
export const bodyCharacters = 10_000;

/** A post as the API shows it. */
export const Post = Type.Object(
  {
    id: Type.Integer({ minimum: 1, maximum: largestId }),
    userId: Type.Integer({ minimum: 1, maximum: largestId }),
    title: Type.String({ maxLength: titleCharacters }),
    body: Type.String({ maxLength: bodyCharacters }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  {
    examples: [
      {
        id: 42,
        userId: 2,
        title: 'Fog over the harbour',
        body: 'The ferries wait. ⛴️',
        createdAt: '2026-01-31T08:15:00.000Z',
        updatedAt: '2026-01-31T08:15:00.000Z',
      },
    ],
  },
);
export type Post = Static<typeof Post>;

export const CreatePostRequest = Type.Object(
  {
    userId: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: largestId,
        description: "Whose post it is; by default the caller's",
      }),
    ),
    title: writtenText(titleCharacters),
    body: writtenText(bodyCharacters),
  },
  { examples: [{ title: 'Fog over the harbour', body: 'The ferries wait. ⛴️' }] },
);
export type CreatePostRequest = Static<typeof CreatePostRequest>;

export const UpdatePostRequest = Type.Object(
  {
    title: Type.Optional(writtenText(titleCharacters)),
    body: Type.Optional(writtenText(bodyCharacters)),
  },
  { examples: [{ title: 'Fog lifts over the harbour' }] },
);

/** The fields of a stored post that the API shows. */
export function toPost(stored: StoredPost): Post {
  const createdAt = isoTime(stored.createdAtMs);
  return {
    id: stored.id,
    userId: stored.userId,
    title: stored.title,
    body: stored.body,
    createdAt,
    updatedAt: stored.updatedAtMs === stored.createdAtMs ? createdAt : isoTime(stored.updatedAtMs),
  };
}

function writtenText(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    format: 'text',
    pattern: '[^\\p{White_Space}\\uFEFF]',
    'x-problem': 'must not be blank',
  });
}
