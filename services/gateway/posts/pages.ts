import { AppError, notFound } from '@octavo/core';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { CallOptions, Client } from '@octavo/rpc';
import { card, count, type Frame, facts, type Html, html, layout, linkButton, time } from '@octavo/web/html';
import type { PageRoutes, Visit } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { link, pageRoutes, postPath } from '../routes.ts';
import { type PostSentiment, sentimentChart, toPostSentiment } from '../sentiment/index.ts';
import type { Integrations } from '../status/index.ts';
import type { Usernames } from '../users/index.ts';
import { isPostId, type Post, toPost } from './post.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly integrations: Integrations;
  readonly usernames: Usernames;
}

/** The page of a post. */
export function addPostPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { visitors } = parts;
  routes.get(pageRoutes.post, { access: visitors('post', 'read') }, (visitor) => showPost(visitor, parts));
}

/** The id in the address of a page. An id that is not a number is not found. */
export function postIdOf(visit: Visit<PageSession>): number {
  const { id = '' } = visit.request.params as { id?: string };
  if (!isPostId(id)) throw notFound('post', id);
  return Number(id);
}

async function showPost({ visit, may, call, frame }: Visitor, { posts, integrations, usernames }: Parts) {
  const id = postIdOf(visit);
  const isClassified = await integrations.isEnabled('inferenceServer');
  const [{ post }, sentiment] = await Promise.all([
    posts.getPost({ id }, call),
    isClassified ? sentimentOf(id, posts, call) : undefined,
  ]);
  const shown = toPost(post);
  const username = (await usernames.of([shown.userId], call)).get(shown.userId);
  return postPage(frame(), { post: shown, username, sentiment, isClassified, may });
}

/** Sentiment, or nothing if it is unknown: the page shows the post anyway. */
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

interface PostView {
  readonly post: Post;
  /** Absent if no account has the number of its user. */
  readonly username: string | undefined;
  readonly sentiment: PostSentiment | undefined;
  /** True if posts are classified at all. */
  readonly isClassified: boolean;
  readonly may: { readonly write: boolean; readonly delete: boolean };
}

function postPage(frame: Frame, { post, username, sentiment, isClassified, may }: PostView): string {
  return layout(frame, {
    title: post.title,
    styles: ['charts.css'],
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
          html`<a href="${link(pageRoutes.posts, { userId: post.userId })}" title="All posts of this user">${username ?? post.userId}</a>${username && html` <small class="muted">${post.userId}</small>`}`,
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
