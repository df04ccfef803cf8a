import { AppError, type Fields } from '@octavo/core';
import { isBlank } from '@octavo/core/text';
import { postLimits } from '@octavo/protocols/posts/v1/limits';

export interface NewPost {
  readonly userId: number;
  readonly title: string;
  readonly body: string;
}

export interface Post extends NewPost {
  readonly id: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly revision: number;
}

/** Fields that an update may change. Absent fields stay. */
export interface PostChange {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}

/** A new post as it is stored under an id. */
export function createdPost({ userId, title, body }: NewPost, id: number, createdAtMs: number): Post {
  return { id, userId, title, body, createdAtMs, updatedAtMs: createdAtMs, revision: 1 };
}

/** Returns the problems of a new post, by field. */
export function problemsOf(post: NewPost): Fields | undefined {
  const problems = {
    ...(isUserId(post.userId)
      ? {}
      : { userId: `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}` }),
    ...textProblems(post),
  };
  return Object.keys(problems).length > 0 ? problems : undefined;
}

export function checkNewPost(post: NewPost): void {
  refuse(problemsOf(post));
}

/** Refuses all posts if one is invalid, and names each that is: `posts[17].title`. */
export function checkNewPosts(posts: readonly NewPost[]): void {
  if (posts.length > postLimits.bulk) refuse({ posts: `must have at most ${postLimits.bulk} items` });
  const problems: Record<string, string> = {};
  for (const [index, post] of posts.entries()) {
    for (const [field, problem] of Object.entries(problemsOf(post) ?? {})) {
      problems[`posts[${index}].${field}`] = problem;
    }
  }
  refuse(problems);
}

export function checkChange(change: PostChange): void {
  refuse(textProblems(change));
}

/** Refuses a change of a revision that the caller does not allow. None allowed means that any will do. */
export function checkRevision(post: Post, allowed: readonly number[]): void {
  if (allowed.length > 0 && !allowed.includes(post.revision)) throw hasChanged(post.id);
}

export function hasChanged(id: number): AppError {
  return new AppError('precondition_failed', `Post ${id} has changed in the meantime.`);
}

/** Returns the number of Unicode code points in a text. */
export function codePointsOf(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) pairs++;
  }
  return text.length - pairs;
}

/** Reason why a database cannot store a text. */
export function encodingProblem(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return undefined;
}

export function isUserId(userId: number): boolean {
  return Number.isSafeInteger(userId) && userId >= 1;
}

/** Throws `validation_failed` if there are problems. */
export function refuse(problems: Fields | undefined): void {
  const lines = Object.entries(problems ?? {}).map(([field, problem]) => `${field} ${problem}`);
  if (lines.length > 0) throw new AppError('validation_failed', lines.join('; '), { fields: problems ?? {} });
}

function textProblems(texts: PostChange): Fields | undefined {
  const title = texts.title === undefined ? undefined : textProblem(texts.title, postLimits.title);
  const body = texts.body === undefined ? undefined : textProblem(texts.body, postLimits.body);
  if (!title && !body) return undefined;
  return { ...(title && { title }), ...(body && { body }) };
}

function textProblem(text: string, max: number): string | undefined {
  const unusable = encodingProblem(text);
  if (unusable) return unusable;
  if (isBlank(text)) return 'must not be blank';
  if (text.length > max && codePointsOf(text) > max) return `must be at most ${max} characters`;
  return undefined;
}
