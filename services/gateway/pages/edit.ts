import { AppError, type Fields } from '#kit/errors.ts';
import { notice } from '#kit/html/blocks.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import { type Post, UpdatePostRequest } from '../post.ts';
import type { PostChange, TaggedPost } from '../posts.ts';
import { editPostPage, newPostPage, type PostDraft } from '../views/post-form.ts';
import { draftIn, inWords } from './draft.ts';
import type { PageParts, Ticket } from './parts.ts';
import { type ForReaders, postIdOf, type Reader } from './reader.ts';

type Parts = Pick<PageParts, 'posts'>;

export function addEditPages(routes: PageRoutes<Ticket>, forReaders: ForReaders, parts: Parts): void {
  const readChange = compileValidator(UpdatePostRequest);
  const showEdit = async ({ visit, call, frame }: Reader) => {
    const { post, tag } = await parts.posts.get(postIdOf(visit), call);
    return editPostPage(frame(), { id: post.id, tag, draft: { title: post.title, body: post.body } });
  };
  const save = async (reader: Reader) => {
    const draft = draftIn(reader.visit);
    const { fields } = readChange({ title: draft.title, body: draft.body });
    if (fields) return withErrors(reader, draft, inWords(fields));
    return savePost(reader, draft, parts);
  };
  routes.get(pageRoutes.editPost, forReaders('post', 'write', showEdit));
  routes.post(pageRoutes.editPost, forReaders('post', 'write', save));
}

async function savePost(reader: Reader, draft: PostDraft, parts: Parts) {
  const { visit } = reader;
  const id = postIdOf(visit);
  const current = await getIfThere(id, reader, parts);
  if (!current) return goneMeanwhile(reader, draft);
  const change = changeOf(current.post, draft);
  if (Object.keys(change).length > 0) {
    const isSaved = current.tag === visit.field('tag') && (await update(current, change, reader, parts));
    if (!isSaved) return changedMeanwhile(reader, draft, parts);
  }
  return visit.redirect(postPath('post', id), { tone: 'good', text: 'The post is saved.' });
}

/** False where the post has changed between our look at it and now. */
async function update(
  current: TaggedPost,
  change: PostChange,
  { call }: Reader,
  { posts }: Parts,
): Promise<boolean> {
  try {
    await posts.update(current.post.id, change, { ...call, ifMatch: current.tag });
    return true;
  } catch (error) {
    if (isError(error, 'precondition_failed') || isError(error, 'not_found')) return false;
    throw error;
  }
}

async function getIfThere(id: number, { call }: Reader, { posts }: Parts): Promise<TaggedPost | undefined> {
  try {
    return await posts.get(id, call);
  } catch (error) {
    if (isError(error, 'not_found')) return undefined;
    throw error;
  }
}

/** A form cannot hold "\r\n" apart from "\n": a text that was not touched is left as it is stored. */
function changeOf(post: Post, draft: PostDraft): PostChange {
  const asInForm = (text: string) => text.replace(/\r\n?/g, '\n');
  return {
    ...(asInForm(post.title) === draft.title ? {} : { title: draft.title }),
    ...(asInForm(post.body) === draft.body ? {} : { body: draft.body }),
  };
}

function withErrors({ visit, frame }: Reader, draft: PostDraft, errors: Fields): string {
  visit.reply.code(422);
  return editPostPage(frame(), { id: postIdOf(visit), tag: visit.field('tag'), draft, errors });
}

async function changedMeanwhile(reader: Reader, draft: PostDraft, parts: Parts): Promise<string> {
  const id = postIdOf(reader.visit);
  const theirs = await getIfThere(id, reader, parts);
  if (!theirs) return goneMeanwhile(reader, draft);
  reader.visit.reply.code(409);
  return editPostPage(reader.frame(), { id, tag: theirs.tag, draft, theirs: theirs.post });
}

function goneMeanwhile({ visit, frame }: Reader, draft: PostDraft): string {
  visit.reply.code(409);
  const message = notice('warn', 'Your text is below. You can save it as a new post.', {
    title: 'Somebody deleted this post while you were writing',
  });
  return newPostPage(frame(), { draft, message });
}

function isError(error: unknown, code: AppError['code']): boolean {
  return error instanceof AppError && error.code === code;
}
