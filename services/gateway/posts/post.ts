import { isoTime } from '#kit/iso-time.ts';
import { type Static, Type } from '#kit/schema.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import type { Post as StoredPost } from '#proto/posts/v1/posts.ts';

/** JSON carries larger integers inexactly. */
export const idMax = Number.MAX_SAFE_INTEGER;

export const Id = Type.Integer({ minimum: 1, maximum: idMax });

/** The path parameters of an address about one post. */
export const PostParams = Type.Object({ id: Id });

/** Whether a text is the id of a post in an address. */
export function isPostId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= idMax;
}

/** A post as the API shows it. */
export const Post = Type.Object(
  {
    id: Id,
    userId: Id,
    title: Type.String({ maxLength: postLimits.title }),
    body: Type.String({ maxLength: postLimits.body }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  {
    title: 'Post',
    examples: [
      {
        id: 42,
        userId: 2,
        title: 'Fog over the harbor',
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
        maximum: idMax,
        description: 'The user the post belongs to; the caller by default',
      }),
    ),
    title: visibleText(postLimits.title),
    body: visibleText(postLimits.body),
  },
  { title: 'CreatePostRequest', examples: [{ title: 'Fog over the harbor', body: 'The ferries wait. ⛴️' }] },
);
export type CreatePostRequest = Static<typeof CreatePostRequest>;

export const UpdatePostRequest = Type.Object(
  {
    title: Type.Optional(visibleText(postLimits.title)),
    body: Type.Optional(visibleText(postLimits.body)),
  },
  { title: 'UpdatePostRequest', examples: [{ title: 'Fog lifts over the harbor' }] },
);
export type UpdatePostRequest = Static<typeof UpdatePostRequest>;

/** A post in the API's shape. */
export function toPost(stored: StoredPost | undefined): Post {
  const { id, userId, title, body, createdAtMs, updatedAtMs } = sent(stored);
  const createdAt = isoTime(createdAtMs);
  const updatedAt = updatedAtMs === createdAtMs ? createdAt : isoTime(updatedAtMs);
  return { id, userId, title, body, createdAt, updatedAt };
}

/** The entity tag of a post: its revision, as a strong validator (RFC 9110 section 8.8.3). */
export function entityTag(stored: StoredPost | undefined): string {
  return `"${sent(stored).revision}"`;
}

/** In the types of the protocol, every message may be absent. */
function sent(stored: StoredPost | undefined): StoredPost {
  if (!stored) throw new Error('the posts service sent no post');
  return stored;
}

/**
 * The revisions that `If-Match` allows; none if it sets no condition. A list that no revision can match becomes the
 * revision 0, which no post has. Weak tags never match (RFC 9110 section 13.1.1).
 */
export function allowedRevisions(ifMatch: string | undefined): number[] {
  if (ifMatch === undefined || ifMatch.trim() === '*') return [];
  const tags = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  const revisions = tags.flatMap((tag) => /^"([1-9]\d{0,15})"$/.exec(tag)?.[1] ?? []);
  return revisions.length > 0 ? revisions.map(Number) : [0];
}

function visibleText(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    format: 'text',
    // Not only white space, control and format characters.
    pattern: '[^\\p{White_Space}\\p{Cc}\\p{Cf}]',
    'x-problem': 'must not be blank',
  });
}
