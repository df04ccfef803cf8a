import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import type { CallOptions } from '#kit/rpc/index.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import { CreatePostRequest } from '../post.ts';
import type { PostSentiment } from '../sentiment.ts';
import { postDetailPage } from '../views/post-detail.ts';
import { newPostPage } from '../views/post-form.ts';
import { draftIn, inWords, wholeNumber } from './draft.ts';
import { addEditPages } from './edit.ts';
import type { PageParts, Ticket } from './parts.ts';
import { type ForReaders, postIdOf, type Reader } from './reader.ts';

type Parts = Pick<PageParts, 'posts' | 'integrations'>;

export function addPostPages(routes: PageRoutes<Ticket>, forReaders: ForReaders, parts: Parts): void {
  const showNew = async ({ frame }: Reader) => newPostPage(frame(), { draft: { title: '', body: '' } });
  routes.get(pageRoutes.newPost, forReaders('post', 'write', showNew));
  routes.post(pageRoutes.newPost, forReaders('post', 'write', createPost(parts)));
  routes.get(
    pageRoutes.post,
    forReaders('post', 'read', async ({ visit, may, call, frame }) => {
      const id = postIdOf(visit);
      const [{ post }, sentiment] = await Promise.all([
        parts.posts.get(id, call),
        sentimentOf(parts, id, call),
      ]);
      const isClassified = parts.integrations.inferenceServer;
      return postDetailPage(frame(), { post, sentiment, isClassified, may });
    }),
  );
  addEditPages(routes, forReaders, parts);
}

/** A post is shown also where nobody can tell its sentiment. */
async function sentimentOf(
  { posts, integrations }: Parts,
  id: number,
  call: CallOptions,
): Promise<PostSentiment | undefined> {
  if (!integrations.inferenceServer) return undefined;
  try {
    return await posts.sentiment(id, call);
  } catch (error) {
    if (error instanceof AppError && ['not_found', 'unavailable', 'timeout'].includes(error.code))
      return undefined;
    throw error;
  }
}

function createPost({ posts }: Parts) {
  const readPost = compileValidator(CreatePostRequest);
  return async ({ visit, caller, call, frame }: Reader) => {
    const draft = draftIn(visit);
    const { title, body } = draft;
    const reading = readPost({ title, body, userId: wholeNumber(draft.userId) });
    if (reading.fields) {
      visit.reply.code(422);
      return newPostPage(frame(), { draft, errors: inWords(reading.fields) });
    }
    const { userId = caller.uid } = reading.value;
    const { post } = await posts.create({ userId, title, body }, call);
    return visit.redirect(postPath('post', post.id), { tone: 'good', text: 'The post is saved.' });
  };
}
