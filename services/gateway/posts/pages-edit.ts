import { AppError, type Fields } from '@octavo/core';
import type { PostServiceDefinition, Post as StoredPost } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { notice } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { compileValidator } from '@octavo/web/validation';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { pageRoutes, postPath } from '../routes.ts';
import { noSuchUser, type Usernames } from '../users/index.ts';
import { postIdOf } from './pages.ts';
import { CreatePostRequest, entityTag, toPost, UpdatePostRequest } from './post.ts';
import { editPostPage, newPostPage, type PostDraft, problemsInWords } from './post-form.ts';

type Posts = Client<PostServiceDefinition>;

/** The pages that create and change a post. */
export function addEditPages(
  routes: PageRoutes<PageSession>,
  { visitors, posts, usernames }: { visitors: Visitors; posts: Posts; usernames: Usernames },
): void {
  const access = visitors('post', 'write');
  const parseNew = compileValidator(CreatePostRequest);
  const parseChange = compileValidator(UpdatePostRequest);
  routes.get(pageRoutes.newPost, { access }, async ({ frame, call }) =>
    newPostPage(frame(), { draft: { title: '', body: '' }, names: await usernames.choices(call) }),
  );
  routes.post(pageRoutes.newPost, { access }, async (visitor) => {
    const draft = draftOf(visitor);
    const { title, body } = draft;
    const { userId: name = '' } = draft;
    const uid = name === '' ? undefined : ((await usernames.uidOf(name, visitor.call)) ?? name);
    const parsed = parseNew({ title, body, userId: uid });
    if (!parsed.fields) return createPost(visitor, parsed.value, posts);
    visitor.visit.reply.code(422);
    const wrongUser = parsed.fields.userId && { userId: noSuchUser };
    const errors = { ...problemsInWords(parsed.fields), ...wrongUser };
    return newPostPage(visitor.frame(), { draft, errors, names: await usernames.choices(visitor.call) });
  });
  routes.get(pageRoutes.editPost, { access }, async ({ visit, call, frame }) => {
    const { post } = await posts.getPost({ id: postIdOf(visit) }, call);
    const { id, title, body } = toPost(post);
    return editPostPage(frame(), { id, tag: entityTag(post), draft: { title, body } });
  });
  routes.post(pageRoutes.editPost, { access }, async (visitor) => {
    const draft = draftOf(visitor);
    const { fields } = parseChange({ title: draft.title, body: draft.body });
    if (fields) return showErrors(visitor, draft, problemsInWords(fields));
    return savePost(visitor, draft, posts);
  });
}

function draftOf({ visit }: Visitor): PostDraft {
  return { title: visit.field('title'), body: visit.field('body'), userId: visit.field('userId').trim() };
}

async function createPost({ visit, caller, call }: Visitor, given: CreatePostRequest, posts: Posts) {
  const { userId = caller.uid, title, body } = given;
  const { post } = await posts.createPost({ post: { userId, title, body } }, call);
  return visit.redirect(postPath('post', toPost(post).id), { tone: 'good', text: 'The post is saved.' });
}

async function savePost(visitor: Visitor, draft: PostDraft, posts: Posts) {
  const { visit } = visitor;
  const id = postIdOf(visit);
  const current = await findPost(visitor, id, posts);
  if (!current) return showDeleted(visitor, draft);
  const change = changeOf(current, draft);
  if (change.title !== undefined || change.body !== undefined) {
    const isCurrent = entityTag(current) === visit.field('tag');
    const isSaved = isCurrent && (await updatePost(visitor, current, { change, posts }));
    if (!isSaved) return showConflict(visitor, draft, posts);
  }
  return visit.redirect(postPath('post', id), { tone: 'good', text: 'The post is saved.' });
}

/** False if the post has changed since it was read. */
async function updatePost(
  { call }: Visitor,
  { id, revision }: StoredPost,
  { change, posts }: { change: UpdatePostRequest; posts: Posts },
): Promise<boolean> {
  try {
    await posts.updatePost({ id, title: change.title, body: change.body, ifRevisions: [revision] }, call);
    return true;
  } catch (error) {
    if (isError(error, 'precondition_failed') || isError(error, 'not_found')) return false;
    throw error;
  }
}

async function findPost({ call }: Visitor, id: number, posts: Posts): Promise<StoredPost | undefined> {
  try {
    return (await posts.getPost({ id }, call)).post;
  } catch (error) {
    if (isError(error, 'not_found')) return undefined;
    throw error;
  }
}

/** Forms send every line break as "\n", so an unchanged text keeps the line breaks that are stored. */
function changeOf(post: StoredPost, draft: PostDraft): UpdatePostRequest {
  const asInForm = (text: string) => text.replace(/\r\n?/g, '\n');
  return {
    ...(asInForm(post.title) === draft.title ? {} : { title: draft.title }),
    ...(asInForm(post.body) === draft.body ? {} : { body: draft.body }),
  };
}

function showErrors({ visit, frame }: Visitor, draft: PostDraft, errors: Fields): string {
  visit.reply.code(422);
  return editPostPage(frame(), { id: postIdOf(visit), tag: visit.field('tag'), draft, errors });
}

async function showConflict(visitor: Visitor, draft: PostDraft, posts: Posts): Promise<string> {
  const id = postIdOf(visitor.visit);
  const theirs = await findPost(visitor, id, posts);
  if (!theirs) return showDeleted(visitor, draft);
  visitor.visit.reply.code(409);
  return editPostPage(visitor.frame(), { id, tag: entityTag(theirs), draft, theirs: toPost(theirs) });
}

function showDeleted({ visit, frame }: Visitor, draft: PostDraft): string {
  visit.reply.code(409);
  const message = notice('warn', 'Your text is below. You can save it as a new post.', {
    title: 'Someone deleted this post while you were writing',
  });
  return newPostPage(frame(), { draft, message });
}

function isError(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}
