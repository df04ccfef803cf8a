import { AppError } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import {
  type Column,
  count,
  empty,
  type Frame,
  type Html,
  html,
  layout,
  linkButton,
  pager,
  table,
  time,
} from '@octavo/web/html';
import type { Flash, PageRoutes } from '@octavo/web/pages';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { link, pageRoutes, postPath } from '../routes.ts';
import { type Usernames, userText } from '../users/index.ts';
import { type DeletedPost, isPostId, toDeletedPost } from './post.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly posts: Client<PostServiceDefinition>;
  readonly usernames: Usernames;
}

const pageSize = 20;
/** Longer lists of numbers do not fit into the cookie that holds the message. */
const undoLengthMax = 800;

/** Hint before posts are deleted. */
export const canUndo = 'It can be restored from the list of deleted posts for some time, by default 30 days.';

/** The message after posts were deleted, with an undo button for writers. */
export function undoable({ may }: Visitor, text: string, ids: readonly number[]): Flash {
  const value = ids.join(',');
  if (!may.write || ids.length === 0 || value.length > undoLengthMax) return { tone: 'good', text };
  return {
    tone: 'good',
    text,
    button: { label: 'Undo', action: pageRoutes.restorePosts, name: 'ids', value },
  };
}

/** The list of deleted posts, and the form that restores some. */
export function addDeletedPages(routes: PageRoutes<PageSession>, parts: Parts): void {
  const access = parts.visitors('post', 'write');
  routes.get(pageRoutes.deletedPosts, { access }, (visitor) => showDeleted(visitor, parts));
  routes.post(pageRoutes.restorePosts, { access }, (visitor) => restore(visitor, parts));
}

async function showDeleted({ visit, call, frame }: Visitor, { posts, usernames }: Parts): Promise<string> {
  const { page: given } = visit.request.query as { page?: unknown };
  const page = typeof given === 'string' && /^[1-9]\d{0,5}$/.test(given) ? Number(given) : 1;
  const { posts: found, total } = await posts.listDeletedPosts({ page, pageSize }, call);
  const deleted = found.map(toDeletedPost);
  const uids = deleted.map(({ userId }) => userId);
  const names = await usernames.of(uids, call);
  return deletedPage(frame(), { deleted, total, page, names });
}

async function restore({ visit, call }: Visitor, { posts }: Parts) {
  const ids = visit.field('ids').split(',').filter(isPostId).map(Number).slice(0, postLimits.pageSize);
  const outcomes = await Promise.allSettled(ids.map((id) => posts.restorePost({ id }, call)));
  const problems = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const failed = problems.find((error) => !(error instanceof AppError && error.code === 'not_found'));
  const restored = ids.length - problems.length;
  if (failed && restored === 0) throw failed;
  if (restored === 0) {
    const text = 'There is nothing to restore: it was restored before, or was deleted too long ago.';
    return visit.redirect(pageRoutes.deletedPosts, { tone: 'warn', text });
  }
  const [id = 0] = ids;
  const path = ids.length === 1 ? postPath('post', id) : pageRoutes.posts;
  const lost = problems.length > 0 ? ` ${count(problems.length, 'post')} could not be restored.` : '';
  return visit.redirect(path, {
    tone: lost ? 'warn' : 'good',
    text: `${count(restored, 'post')} restored.${lost}`,
  });
}

interface DeletedView {
  readonly deleted: readonly DeletedPost[];
  readonly total: number;
  readonly page: number;
  readonly names: ReadonlyMap<number, string>;
}

function deletedPage(frame: Frame, { deleted, total, page, names }: DeletedView): string {
  return layout(frame, {
    title: 'Deleted posts',
    lead: total > 0 ? `${count(total, 'post')}, the latest deleted first` : undefined,
    parent: { href: pageRoutes.posts, label: 'Posts' },
    main: html`${deleted.length > 0 ? table({ caption: 'Deleted posts', columns: columnsOf(frame, names), rows: deleted }) : nothing()}
${pager({ page, pageSize, total, href: (number) => link(pageRoutes.deletedPosts, { page: number }) })}`,
  });
}

function columnsOf(frame: Frame, names: ReadonlyMap<number, string>): Column<DeletedPost>[] {
  return [
    { header: 'Title', kind: 'main', cell: ({ title }) => title },
    { header: 'Number', kind: 'number', cell: ({ id }) => id },
    { header: 'User', kind: 'fit', cell: ({ userId }) => userText(userId, names) },
    { header: 'Deleted', kind: 'fit', cell: ({ deletedAt }) => time(deletedAt) },
    { header: 'Kept until', kind: 'fit', cell: ({ keptUntil }) => time(keptUntil) },
    { header: 'Actions', kind: 'row-actions', cell: ({ id }) => restoreForm(frame, id) },
  ];
}

function restoreForm({ csrfField }: Frame, id: number): Html {
  return html`<form method="post" action="${pageRoutes.restorePosts}">${csrfField}<input type="hidden" name="ids" value="${id}">
<button class="secondary" aria-label="Restore ${id}">Restore</button></form>`;
}

function nothing(): Html {
  return empty({
    icon: 'inbox',
    title: 'No deleted posts',
    text: 'A deleted post is kept here for a while, so that it can be restored.',
    actions: linkButton(pageRoutes.posts, 'Back to the posts'),
  });
}
