import type { Database } from '@octavo/data';
import {
  type Content,
  count,
  field,
  type Html,
  html,
  linkButton,
  pageNumber,
  pager,
  time,
} from '@octavo/web/html';
import type { Reader } from '../accounts/index.ts';
import { commentPath, pageRoutes, quotePath, signInPath } from '../routes.ts';
import type { Visitor } from '../site.ts';
import type { Tables } from '../tables.ts';
import { type Comment, commentTextMax, mayDelete } from './comment.ts';
import { listComments } from './store.ts';

const pageSize = 20;

export interface CommentsOptions {
  readonly quote: { readonly id: number; readonly comments: number };
  readonly csrfField: Html;
}

/** The comments on a quote, oldest first, with the form for a further one. */
export async function commentSection(
  database: Database<Tables>,
  { visit, reader }: Visitor,
  { quote, csrfField }: CommentsOptions,
): Promise<Html> {
  const total = quote.comments;
  const page = Math.min(pageNumber(visit.request.query, 'comments'), lastPage(total));
  const comments = await listComments(database, {
    quoteId: quote.id,
    limit: pageSize,
    offset: (page - 1) * pageSize,
  });
  const href = (number: number) => `${quotePath(pageRoutes.quote, quote.id)}?comments=${number}#comments`;
  return html`<section id="comments" aria-labelledby="comments-title"><h2 id="comments-title">${total === 0 ? 'No comments yet' : count(total, 'comment')}</h2>
${total > 0 && html`<ol class="comments">${comments.map((comment) => commentItem(comment, reader, csrfField))}</ol>${pager({ page, pageSize, total, href })}`}
${reader ? commentForm({ quote, csrfField }) : signInToComment(quote.id)}</section>`;
}

/** Address of a comment that was just added to a quote. */
export function newCommentPath(quote: CommentsOptions['quote'], id: number): string {
  const page = lastPage(quote.comments + 1);
  return `${quotePath(pageRoutes.quote, quote.id)}${page > 1 ? `?comments=${page}` : ''}#comment-${id}`;
}

function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / pageSize));
}

function commentItem(comment: Comment, reader: Reader | undefined, csrfField: Html): Html {
  const { id, quoteId, username, text, createdAtMs } = comment;
  return html`<li id="comment-${id}"><header><b>${username}</b>${time(createdAtMs)}${reader && mayDelete(comment, reader) && deleteForm(commentPath(pageRoutes.deleteComment, quoteId, id), csrfField)}</header><p>${text}</p></li>`;
}

function deleteForm(action: string, csrfField: Html): Html {
  return html`<form method="post" action="${action}">${csrfField}<button class="quiet">Delete</button></form>`;
}

/** The form for a comment. `draft` has the typed text and the error. */
export function commentForm(options: {
  quote: { readonly id: number };
  csrfField: Html;
  draft?: { readonly text: string; readonly error?: string | undefined };
}): Html {
  const { quote, csrfField, draft } = options;
  return html`<form class="form" method="post" action="${quotePath(pageRoutes.comments, quote.id)}" data-draft="comment ${quote.id}">${csrfField}
${field({
  name: 'text',
  label: 'Your comment',
  type: 'textarea',
  value: draft?.text ?? '',
  error: draft?.error,
  countMax: commentTextMax,
  attributes: { required: true, rows: 3 },
})}<button>Comment</button></form>`;
}

function signInToComment(quoteId: number): Content {
  const next = `${quotePath(pageRoutes.quote, quoteId)}#comments`;
  return html`<p>${linkButton(signInPath(next), 'Sign in to comment')}</p>`;
}
