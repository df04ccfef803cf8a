import { card, facts, linkButton } from '#kit/html/blocks.ts';
import { count, time } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import type { Post } from '../post.ts';
import { link } from '../routes.ts';
import type { PostSentiment } from '../sentiment.ts';
import { sentimentFigure } from './sentiment.ts';

export interface PostDetailView {
  readonly post: Post;
  /** How it was classified; absent where it is not yet, or cannot be told now. */
  readonly sentiment?: PostSentiment | undefined;
  /** Whether posts are classified at all. */
  readonly isClassified: boolean;
  readonly may: { readonly write: boolean; readonly delete: boolean };
}

export function postDetailPage(frame: Frame, view: PostDetailView): string {
  const { post, may } = view;
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
    )}${view.isClassified && card('Sentiment', sentimentOf(view))}</div></div>`,
  });
}

function sentimentOf({ sentiment }: PostDetailView): Html {
  if (!sentiment)
    return html`<p class="muted">Not classified yet. It takes a moment after a post is saved.</p>`;
  const { model, classifiedAt } = sentiment;
  return html`${sentimentFigure(sentiment)}
<p class="small muted">By the model ${model}, ${time(classifiedAt)}</p>`;
}
