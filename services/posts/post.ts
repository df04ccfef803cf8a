import { AppError, type Fields } from '#kit/errors.ts';
import { fold } from './fold.ts';

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

/** What an update may change; what is absent stays. */
export interface PostChange {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}

export interface PostFilter {
  readonly userId?: number;
  /** Folded. */
  readonly term?: string;
}

export type PostOrder = 'id' | 'title' | 'updated';

/** A page of a list, by the rows before it. */
export interface PageRequest extends PostFilter {
  readonly order: PostOrder;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface Page {
  readonly posts: readonly Post[];
  readonly total: number;
}

export const postLimits = { title: 500, body: 10_000, search: 256, bulk: 1_000, pageSize: 100 } as const;

/** What is wrong with a post to be created, by field. */
export function problemsOf(post: NewPost): Fields | undefined {
  const problems = {
    ...(isUserId(post.userId)
      ? {}
      : { userId: `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}` }),
    ...textProblems(post),
  };
  return Object.keys(problems).length > 0 ? problems : undefined;
}

/** Refuses a post that cannot be kept. */
export function checkNewPost(post: NewPost): void {
  refuse(problemsOf(post));
}

/** Refuses a text that is not to be classified. */
export function checkText(text: string): void {
  const problem = text === '' ? 'must not be empty' : classifiable(text);
  if (problem) refuse({ text: problem });
}

export function checkChange(change: PostChange): void {
  refuse(textProblems(change));
}

/** Refuses all posts where one cannot be kept, naming each: `posts[17].title`. */
export function checkNewPosts(posts: readonly NewPost[]): void {
  const problems: Record<string, string> = {};
  for (const [index, post] of posts.entries()) {
    for (const [field, problem] of Object.entries(problemsOf(post) ?? {})) {
      problems[`posts[${index}].${field}`] = problem;
    }
  }
  refuse(problems);
}

/** The filter as the store takes it. Throws where it can match nothing that makes sense. */
export function readFilter(filter: { userId?: number | undefined; search?: string | undefined }): PostFilter {
  const { userId } = filter;
  const search = filter.search?.trim() ?? '';
  if (userId !== undefined && !isUserId(userId)) refuse({ userId: 'must be a whole number from 1' });
  const unusable = encodingProblem(search);
  if (unusable) refuse({ search: unusable });
  if (codePointsOf(search) > postLimits.search) {
    refuse({ search: `must be at most ${postLimits.search} characters` });
  }
  return { ...(userId === undefined ? {} : { userId }), ...(search === '' ? {} : { term: fold(search) }) };
}

/** The rows of a page, from 1. */
export function readPage(page: number, pageSize: number): Pick<PageRequest, 'offset' | 'limit'> {
  if (!Number.isSafeInteger(page) || page < 1) refuse({ page: 'must be a whole number from 1' });
  if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > postLimits.pageSize) {
    refuse({ pageSize: `must be a whole number from 1 to ${postLimits.pageSize}` });
  }
  return { offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER), limit: pageSize };
}

/** Refuses a change of a revision that is not among those the caller knows; none means that any will do. */
export function checkRevision(post: Post, allowed: readonly number[]): void {
  if (allowed.length > 0 && !allowed.includes(post.revision)) {
    throw hasChanged(post.id);
  }
}

export function hasChanged(id: number): AppError {
  return new AppError('precondition_failed', `post ${id} has changed meanwhile`);
}

/** How many Unicode code points a text has. */
export function codePointsOf(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) pairs++;
  }
  return text.length - pairs;
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
  if (!/[^\p{White_Space}\ufeff]/u.test(text)) return 'must not be blank';
  if (text.length > max && codePointsOf(text) > max) return `must be at most ${max} characters`;
  return undefined;
}

function classifiable(text: string): string | undefined {
  if (codePointsOf(text) > postLimits.body) return `must be at most ${postLimits.body} characters`;
  return encodingProblem(text);
}

/** What a database cannot keep. */
function encodingProblem(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  if (text.includes('\0')) return 'must not contain the character U+0000';
  return undefined;
}

function isUserId(userId: number): boolean {
  return Number.isSafeInteger(userId) && userId >= 1;
}

function refuse(problems: Fields | undefined): void {
  const lines = Object.entries(problems ?? {}).map(([field, problem]) => `${field} ${problem}`);
  if (lines.length > 0) throw new AppError('validation_failed', lines.join('; '), { fields: problems ?? {} });
}
