import { AppError, notFound } from '#kit/errors.ts';
import { card, facts, linkButton } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { checkbox } from '#kit/html/form.ts';
import { count, time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { CallOptions, Client } from '#kit/rpc/index.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import { type Access, mfaHeader, type PageSession, type Visitor, type Visitors } from '../access/index.ts';
import { link, pageRoutes, postPath } from '../routes.ts';
import { type PostSentiment, sentimentChart, toPostSentiment } from '../sentiment/index.ts';
import type { Integrations } from '../status/index.ts';
import { idMax, type Post, toPost } from './post.ts';

interface Parts {
  readonly access: Access;
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
}

/** The page of a post, and the pages that delete it. */
export function addPostPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { visitors } = parts;
  routes.get(pageRoutes.post, { access: visitors('post', 'read') }, (visitor) => showPost(visitor, parts));
  routes.get(pageRoutes.deletePost, { access: visitors('post', 'delete') }, (visitor) =>
    askToDelete(visitor, parts),
  );
  routes.post(pageRoutes.deletePost, { access: visitors('post', 'delete') }, (visitor) =>
    deletePost(visitor, parts),
  );
}

/** The id in the address of a page. An id that is not a number is not found. */
export function postIdOf(visit: Visit<PageSession>): number {
  const { id = '' } = visit.request.params as { id?: string };
  if (!/^[1-9]\d{0,15}$/.test(id) || Number(id) > idMax) throw notFound('post', id);
  return Number(id);
}

async function showPost({ visit, may, call, frame }: Visitor, { posts, integrations }: Parts) {
  const id = postIdOf(visit);
  const isClassified = await integrations.isEnabled('inferenceServer');
  const [{ post }, sentiment] = await Promise.all([
    posts.getPost({ id }, call),
    isClassified ? sentimentOf(id, posts, call) : undefined,
  ]);
  return postPage(frame(), { post: toPost(post), sentiment, isClassified, may });
}

/** Nothing if it is unknown: the page shows the post anyway. */
async function sentimentOf(
  id: number,
  posts: Parts['posts'],
  call: CallOptions,
): Promise<PostSentiment | undefined> {
  try {
    return toPostSentiment(await posts.getPostSentiment({ id }, call));
  } catch (error) {
    const isUnknown =
      error instanceof AppError && ['not_found', 'unavailable', 'timeout'].includes(error.code);
    if (isUnknown) return undefined;
    throw error;
  }
}

async function askToDelete({ visit, may, call, frame }: Visitor, { posts }: Parts, problem?: string) {
  const { post } = await posts.getPost({ id: postIdOf(visit) }, call);
  return deletePage(frame(), { post: toPost(post), needsMfa: may.deleteNeedsMfa, problem });
}

async function deletePost(visitor: Visitor, parts: Parts) {
  const { visit, caller, call } = visitor;
  const { access, posts } = parts;
  const header = visit.field('mfaVerified') === 'true' ? mfaHeader : [];
  const mfaVerified = access.isMfaVerified(caller, header);
  try {
    await access.authorize(caller, { resource: 'post', action: 'delete', mfaVerified }, call);
  } catch (error) {
    if (!(error instanceof AppError) || error.fields.reason !== 'MFA_REQUIRED') throw error;
    visit.reply.code(403);
    return askToDelete(visitor, parts, 'Nothing is deleted yet. Check the box to confirm that it is you.');
  }
  const id = postIdOf(visit);
  await posts.deletePost({ id, ifRevisions: [] }, call);
  return visit.redirect(pageRoutes.posts, { tone: 'good', text: `Post ${id} is deleted.` });
}

interface PostView {
  readonly post: Post;
  readonly sentiment: PostSentiment | undefined;
  /** Whether posts are classified at all. */
  readonly isClassified: boolean;
  readonly may: { readonly write: boolean; readonly delete: boolean };
}

function postPage(frame: Frame, { post, sentiment, isClassified, may }: PostView): string {
  return layout(frame, {
    title: post.title,
    parent: { href: pageRoutes.posts, label: 'Posts' },
    actions: html`${may.delete && html`<a class="button quiet" href="${postPath('deletePost', post.id)}" data-dialog>Delete</a>`}
${may.write && linkButton(postPath('editPost', post.id), 'Edit', 'primary')}`,
    main: html`<div class="beside">${card(undefined, html`<p class="prose">${post.body}</p>`)}
<div class="stack">${card(
      'Details',
      facts([
        ['Number', post.id],
        [
          'User',
          html`<a href="${link(pageRoutes.posts, { userId: post.userId })}" title="All posts of this user">${post.userId}</a>`,
        ],
        ['Created', time(post.createdAt)],
        ['Changed', post.updatedAt === post.createdAt ? 'never' : time(post.updatedAt)],
        ['Length', count([...post.title, ...post.body].length, 'character')],
      ]),
    )}${isClassified && card('Sentiment', sentimentCard(sentiment))}</div></div>`,
  });
}

function sentimentCard(sentiment: PostSentiment | undefined): Html {
  if (!sentiment) return html`<p class="muted">Not classified yet. Check again in a moment.</p>`;
  const { model, classifiedAt } = sentiment;
  return html`${sentimentChart(sentiment)}
<p class="small muted">By the model ${model}, ${time(classifiedAt)}</p>`;
}

function deletePage(
  frame: Frame,
  { post, needsMfa, problem }: { post: Post; needsMfa: boolean; problem: string | undefined },
): string {
  return layout(frame, {
    title: 'Delete post',
    parent: { href: postPath('post', post.id), label: `Post ${post.id}` },
    main: confirm({
      title: `Delete “${post.title}”?`,
      text: `This deletes post ${post.id} of user ${post.userId} and removes it from the analysis. You cannot undo it.`,
      action: postPath('deletePost', post.id),
      csrfField: frame.csrfField,
      fields:
        needsMfa &&
        checkbox({ name: 'mfaVerified', label: 'I have just confirmed with my second factor that it is me' }),
      problem,
      deed: 'Delete post',
      cancelHref: postPath('post', post.id),
    }),
  });
}
