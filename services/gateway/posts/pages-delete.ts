import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import type { Content } from '@octavo/web/html';
import { confirm, type Frame, layout } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import {
  appNeeded,
  type CodeRefusal,
  checkCode,
  codeField,
  type PageSession,
  secondFactorFor,
  type Visitor,
  type Visitors,
} from '../access/index.ts';
import { pageRoutes, postPath } from '../routes.ts';
import { type Usernames, userText } from '../users/index.ts';
import { postIdOf } from './pages.ts';
import { canUndo, undoable } from './pages-deleted.ts';
import { type Post, toPost } from './post.ts';

export interface DeleteParts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly usernames: Usernames;
}

/** The pages that delete a post. Who needs a second factor for it gives a code of their authenticator app. */
export function addDeletePages(routes: PageRoutes<PageSession>, parts: DeleteParts): void {
  const access = parts.visitors('post', 'delete');
  routes.get(pageRoutes.deletePost, { access }, (visitor) => askToDelete(visitor, parts));
  routes.post(pageRoutes.deletePost, { access }, (visitor) => deletePost(visitor, parts));
}

async function askToDelete(
  visitor: Visitor,
  { posts, authz, usernames }: DeleteParts,
  refusal: CodeRefusal = {},
) {
  const { visit, call, frame } = visitor;
  const post = toPost((await posts.getPost({ id: postIdOf(visit) }, call)).post);
  const user = userText(post.userId, await usernames.of([post.userId], call));
  const factor = await secondFactorFor(visitor, authz);
  if (factor === 'app') return appNeededPage(frame(), post);
  const fields = factor === 'code' ? codeField(refusal.error) : undefined;
  return deletePage(frame(), { post, user, fields, problem: refusal.problem });
}

async function deletePost(visitor: Visitor, parts: DeleteParts) {
  const { visit, call } = visitor;
  const refusal = await checkCode(visitor, {
    authz: parts.authz,
    remoteAddress: clientAddress(visit.request),
  });
  if (refusal) return askToDelete(visitor, parts, refusal);
  const id = postIdOf(visit);
  await parts.posts.deletePost({ id, ifRevisions: [] }, call);
  return visit.redirect(pageRoutes.posts, undoable(visitor, `Post ${id} is deleted.`, [id]));
}

interface DeleteView {
  readonly post: Post;
  readonly user: string;
  readonly fields: Content;
  readonly problem?: string | undefined;
}

function deletePage(frame: Frame, { post, user, fields, problem }: DeleteView): string {
  return layout(frame, {
    title: 'Delete post',
    parent: { href: postPath('post', post.id), label: `Post ${post.id}` },
    main: confirm({
      title: `Delete “${post.title}”?`,
      text: `This deletes post ${post.id} of user ${user} and removes it from the analysis. ${canUndo}`,
      action: postPath('deletePost', post.id),
      csrfField: frame.csrfField,
      fields,
      problem,
      deed: 'Delete post',
      cancelHref: postPath('post', post.id),
    }),
  });
}

function appNeededPage(frame: Frame, post: Post): string {
  return layout(frame, {
    title: 'Delete post',
    parent: { href: postPath('post', post.id), label: `Post ${post.id}` },
    main: appNeeded('posts'),
  });
}
