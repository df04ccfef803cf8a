import { isoTime, type Static, Type } from '@octavo/core';
import { notBlank } from '@octavo/core/text';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { DeletedPost as StoredDeletedPost, Post as StoredPost } from '@octavo/protocols/posts/v1/posts';
import { versionsIn, versionTag } from '@octavo/web/rest';

/** JSON carries larger integers inexactly. */
export const idMax = Number.MAX_SAFE_INTEGER;

export const Id = Type.Integer({ minimum: 1, maximum: idMax });

/** The path parameters of an address about one post. */
export const PostParams = Type.Object({ id: Id });

/** Returns true if a text is the id of a post in an address. */
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

/** A deleted post as the API shows it. */
export const DeletedPost = Type.Object(
  {
    ...Post.properties,
    deletedAt: Type.String({ format: 'date-time' }),
    keptUntil: Type.String({
      format: 'date-time',
      description: 'End of the time in which it can be restored',
    }),
  },
  {
    title: 'DeletedPost',
    examples: [
      {
        id: 42,
        userId: 2,
        title: 'Fog over the harbor',
        body: 'The ferries wait. ⛴️',
        createdAt: '2026-01-31T08:15:00.000Z',
        updatedAt: '2026-01-31T08:15:00.000Z',
        deletedAt: '2026-02-01T09:00:00.000Z',
        keptUntil: '2026-03-03T09:00:00.000Z',
      },
    ],
  },
);
export type DeletedPost = Static<typeof DeletedPost>;

export const CreatePostRequest = Type.Object(
  {
    userId: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: idMax,
        description: 'User that the post belongs to; the caller by default',
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

/** A deleted post in the API's shape. */
export function toDeletedPost({ post, deletedAtMs, keptUntilMs }: StoredDeletedPost): DeletedPost {
  return { ...toPost(post), deletedAt: isoTime(deletedAtMs), keptUntil: isoTime(keptUntilMs) };
}

/** The entity tag of a post: its revision. */
export function entityTag(stored: StoredPost | undefined): string {
  return versionTag(sent(stored).revision, '');
}

/** The message. Throws without one, which the types of the protocol allow. */
function sent(stored: StoredPost | undefined): StoredPost {
  if (!stored) throw new Error('the posts service sent no post');
  return stored;
}

/**
 * The revisions that `If-Match` allows, as the posts service takes them: none if any will do. A list that no revision can match
 * becomes the revision 0, which no post has.
 */
export function allowedRevisions(ifMatch: string | undefined): number[] {
  const revisions = versionsIn(ifMatch, '');
  if (revisions === undefined) return [];
  return revisions.length > 0 ? [...revisions] : [0];
}

function visibleText(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    format: 'text',
    ...notBlank,
  });
}
