import { AppError } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import {
  type Content,
  confirm,
  count,
  empty,
  type Frame,
  type Html,
  html,
  layout,
  linkButton,
  notice,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath } from '@octavo/web/pages';
import { clientAddress } from '@octavo/web/server';
import {
  appNeeded,
  type CodeRefusal,
  checkCode,
  codeField,
  type PageSession,
  secondFactorFor,
  type Visitor,
} from '../access/index.ts';
import { pageRoutes, postPath } from '../routes.ts';
import { userText } from '../users/index.ts';
import type { DeleteParts } from './pages-delete.ts';
import { canUndo, undoable } from './pages-deleted.ts';
import { isPostId, type Post, toPost } from './post.ts';

/** The pages that delete the posts that were selected in the list, after the same second factor as for one. */
export function addDeleteManyPages(routes: PageRoutes<PageSession>, parts: DeleteParts): void {
  const access = parts.visitors('post', 'delete');
  routes.get(pageRoutes.deletePosts, { access }, (visitor) => {
    const { id, back } = visitor.visit.request.query as { id?: unknown; back?: unknown };
    return askToDelete(visitor, parts, { ids: idsIn([id].flat()), back: String(back ?? '') });
  });
  routes.post(pageRoutes.deletePosts, { access }, (visitor) => deletePosts(visitor, parts));
}

/** The selected posts, and the page of the list to go back to. */
interface Selection {
  readonly ids: readonly number[];
  readonly back: string;
}

async function askToDelete(
  visitor: Visitor,
  { posts, authz, usernames }: DeleteParts,
  { ids, back: given, refusal = {} }: Selection & { refusal?: CodeRefusal },
): Promise<string> {
  const { visit, call, frame } = visitor;
  const back = ownPath(given);
  const found = (await Promise.all(ids.map((id) => findPost(id, { posts, call })))).filter((post) => !!post);
  if (found.length === 0) {
    visit.reply.code(422);
    return nothingSelectedPage(frame(), back, ids.length > 0);
  }
  const factor = await secondFactorFor(visitor, authz);
  if (factor === 'app') return framed(frame(), back, appNeeded('posts'));
  const uids = found.map(({ userId }) => userId);
  const names = await usernames.of(uids, call);
  const shown = frame();
  return framed(
    shown,
    back,
    confirm({
      title: `Delete ${count(found.length, 'post')}?`,
      text: `This deletes these posts and removes them from the analysis. ${canUndo}`,
      action: pageRoutes.deletePosts,
      csrfField: shown.csrfField,
      fields: html`<input type="hidden" name="back" value="${back}">
${found.length < ids.length && notice('info', 'Some of the posts were deleted in the meantime.')}
<ul class="going">${found.map((post) => line(post, userText(post.userId, names)))}</ul>${factor === 'code' && codeField(refusal.error)}`,
      problem: refusal.problem,
      deed: `Delete ${count(found.length, 'post')}`,
      cancelHref: back,
    }),
  );
}

async function deletePosts(visitor: Visitor, parts: DeleteParts) {
  const { visit, call } = visitor;
  const ids = idsIn(visit.values('id'));
  const back = ownPath(visit.field('back'));
  const refusal =
    ids.length > 0
      ? await checkCode(visitor, { authz: parts.authz, remoteAddress: clientAddress(visit.request) })
      : undefined;
  if (refusal || ids.length === 0) return askToDelete(visitor, parts, { ids, back, refusal });
  const outcomes = await Promise.allSettled(
    ids.map((id) => parts.posts.deletePost({ id, ifRevisions: [] }, call)),
  );
  const problems = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  const failed = problems.filter((error) => !isGone(error));
  const deleted = ids.length - problems.length;
  if (failed.length > 0 && deleted === 0) throw failed[0];
  if (failed.length > 0) {
    const text = `${count(deleted, 'post')} deleted. ${count(failed.length, 'post')} could not be deleted. Try again in a moment.`;
    return visit.redirect(back, { tone: 'bad', text });
  }
  const gone = problems.length > 0 ? ` ${count(problems.length, 'post')} had been deleted before.` : '';
  const restorable = ids.filter((_, index) => outcomes[index]?.status === 'fulfilled');
  return visit.redirect(back, undoable(visitor, `${count(deleted, 'post')} deleted.${gone}`, restorable));
}

/** Returns each valid id once, and at most as many as a page of the list has. */
function idsIn(given: readonly unknown[]): number[] {
  const ids = given.filter((id) => typeof id === 'string' && isPostId(id)).map(Number);
  return [...new Set(ids)].slice(0, postLimits.pageSize);
}

async function findPost(
  id: number,
  { posts, call }: Pick<DeleteParts, 'posts'> & Pick<Visitor, 'call'>,
): Promise<Post | undefined> {
  try {
    return toPost((await posts.getPost({ id }, call)).post);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found';
}

function line({ id, title }: Post, user: string): Html {
  return html`<li><input type="hidden" name="id" value="${id}"><a href="${postPath('post', id)}">${title}</a>
<small class="muted">${id}, of ${user}</small></li>`;
}

function nothingSelectedPage(frame: Frame, back: string, areGone: boolean): string {
  return framed(
    frame,
    back,
    empty({
      icon: 'list',
      title: areGone ? 'These posts no longer exist' : 'No posts are selected',
      text: areGone
        ? 'Someone has deleted them.'
        : 'Select posts in the list, then choose “Delete selected”.',
      actions: linkButton(back, 'Back to the list'),
    }),
  );
}

function framed(frame: Frame, back: string, main: Content): string {
  return layout(frame, { title: 'Delete posts', parent: { href: back, label: 'Posts' }, main });
}
