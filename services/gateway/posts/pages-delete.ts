import { empty, linkButton } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { formProblem } from '#kit/html/form-problem.ts';
import type { Content } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import type { Client } from '#kit/rpc/index.ts';
import type { AuthServiceDefinition } from '#proto/authz/v1/authz.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { codeField, type PageSession, type Visitor, type Visitors } from '../access/index.ts';
import { pageRoutes, postPath } from '../routes.ts';
import { type Usernames, userText } from '../users/index.ts';
import { postIdOf } from './pages.ts';
import { type Post, toPost } from './post.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly usernames: Usernames;
}

/** The pages that delete a post. Who needs a second factor for it gives a code of their authenticator app. */
export function addDeletePages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const access = parts.visitors('post', 'delete');
  routes.get(pageRoutes.deletePost, { access }, (visitor) => askToDelete(visitor, parts));
  routes.post(pageRoutes.deletePost, { access }, (visitor) => deletePost(visitor, parts));
}

interface Refusal {
  readonly error?: string | undefined;
  readonly problem?: string | undefined;
}

async function askToDelete(visitor: Visitor, { posts, authz, usernames }: Parts, refusal: Refusal = {}) {
  const { visit, caller, may, call, frame } = visitor;
  const post = toPost((await posts.getPost({ id: postIdOf(visit) }, call)).post);
  const user = userText(post.userId, await usernames.of([post.userId], call));
  if (!may.deleteNeedsMfa) return deletePage(frame(), { post, user, fields: undefined });
  const { account } = await authz.getAccount({ uid: caller.uid }, call);
  if (!account?.totpEnabled) return appNeededPage(frame(), post);
  return deletePage(frame(), { post, user, fields: codeField(refusal.error), problem: refusal.problem });
}

async function deletePost(visitor: Visitor, parts: Parts) {
  const { visit, may, call } = visitor;
  const refusal = may.deleteNeedsMfa ? await checkCode(visitor, parts) : undefined;
  if (refusal) return askToDelete(visitor, parts, refusal);
  const id = postIdOf(visit);
  await parts.posts.deletePost({ id, ifRevisions: [] }, call);
  return visit.redirect(pageRoutes.posts, { tone: 'good', text: `Post ${id} is deleted.` });
}

/** What is wrong with the code; nothing if it is right. */
async function checkCode({ visit, caller, call, confirm }: Visitor, { authz }: Parts) {
  const code = visit.field('code');
  try {
    await authz.verifyTotp({ uid: caller.uid, code, remoteAddress: clientAddress(visit.request) }, call);
  } catch (thrown) {
    const { status, errors, problem } = formProblem(thrown, { INVALID_CODE: 'code' });
    visit.reply.code(status);
    return { error: errors.code, problem: problem ?? 'Nothing is deleted yet.' };
  }
  confirm();
  return undefined;
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
      text: `This deletes post ${post.id} of user ${user} and removes it from the analysis. You cannot undo it.`,
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
    main: empty({
      icon: 'lock',
      title: 'Set up an authenticator app first',
      text: 'To delete posts, you confirm that it is you with a code of an authenticator app on your phone. Your account has no app yet. It takes a minute.',
      actions: linkButton(pageRoutes.setUpApp, 'Set up the app', 'primary'),
    }),
  });
}
