import { AppError } from '#kit/errors.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { pageRoutes } from '../page-routes.ts';
import { postDeletePage } from '../views/post-delete.ts';
import type { PageParts, Ticket } from './parts.ts';
import { mfaHeader, postIdOf, type Reader, type Readers } from './reader.ts';

type Parts = Pick<PageParts, 'access' | 'posts'>;

export function addDeletePages(routes: PageRoutes<Ticket>, readers: Readers, parts: Parts): void {
  routes.get(pageRoutes.deletePost, { access: readers('post', 'delete') }, (reader) => ask(reader, parts));
  routes.post(pageRoutes.deletePost, { access: readers('post', 'delete') }, (reader) =>
    remove(reader, parts),
  );
}

async function ask({ visit, may, call, frame }: Reader, { posts }: Parts, problem?: string): Promise<string> {
  const { post } = await posts.get(postIdOf(visit), call);
  return postDeletePage(frame(), { post, needsMfa: may.deleteNeedsMfa, problem });
}

async function remove(reader: Reader, parts: Parts) {
  const { visit, caller, call } = reader;
  const { access, posts } = parts;
  const header = visit.field('mfaVerified') === 'true' ? mfaHeader : [];
  const mfaVerified = access.isMfaVerified(caller, header);
  try {
    await access.authorize(caller, { resource: 'post', action: 'delete', mfaVerified }, call);
  } catch (error) {
    if (!(error instanceof AppError) || error.fields.reason !== 'MFA_REQUIRED') throw error;
    visit.reply.code(403);
    return ask(reader, parts, 'Tick the box to confirm it is you. Nothing is deleted yet.');
  }
  const id = postIdOf(visit);
  await posts.remove(id, call);
  return visit.redirect(pageRoutes.posts, { tone: 'good', text: `Post ${id} is deleted.` });
}
