import type { Fields } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import {
  type Content,
  card,
  errorSummary,
  type Frame,
  field,
  type Html,
  html,
  layout,
  linkButton,
  notice,
  time,
} from '@octavo/web/html';
import { pageRoutes, postPath } from '../routes.ts';
import { userField, userFieldLabel } from '../users/index.ts';
import type { Post } from './post.ts';

/** Values of the form, unchanged. */
export interface PostDraft {
  readonly title: string;
  readonly body: string;
  readonly userId?: string | undefined;
}

interface PostFormView {
  readonly draft: PostDraft;
  readonly errors?: Fields;
  readonly message?: Content;
}

interface EditView extends PostFormView {
  readonly id: number;
  /** The version of the post that the visitor began with. Saving over another version is refused. */
  readonly tag: string;
  /** Version that another user saved in the meantime. */
  readonly theirs?: Post;
}

const labels = { title: 'Title', body: 'Body', userId: userFieldLabel };

interface NewView extends PostFormView {
  /** Names of users to pick from. */
  readonly names?: readonly string[];
}

export function newPostPage(frame: Frame, view: NewView): string {
  return layout(frame, {
    title: 'New post',
    parent: { href: pageRoutes.posts, label: 'Posts' },
    main: html`${view.message}${errorSummary(view.errors ?? {}, labels)}
<form class="form" method="post" action="${pageRoutes.newPost}" data-draft="new">${frame.csrfField}${texts(view)}
${userField({
  value: view.draft.userId,
  names: view.names ?? [],
  error: view.errors?.userId,
  help: 'The name of the user the post belongs to. Leave it empty to make the post yours.',
})}
${buttons('Create post', pageRoutes.posts)}</form>`,
  });
}

export function editPostPage(frame: Frame, view: EditView): string {
  const { id, tag, theirs, errors = {}, message } = view;
  return layout(frame, {
    title: theirs ? 'This post has changed' : 'Edit post',
    parent: { href: postPath('post', id), label: `Post ${id}` },
    main: html`${message}${theirs && conflictNotice()}${errorSummary(errors, labels)}<div class="${theirs ? 'columns' : ''}">
<form class="form" method="post" action="${postPath('editPost', id)}" data-draft="${id} ${tag}">${frame.csrfField}
<input type="hidden" name="tag" value="${tag}">${theirs && html`<h2>Your text</h2>`}${texts(view)}
${theirs ? conflictButtons(id) : buttons('Save', postPath('post', id))}</form>${theirs && theirVersion(theirs)}</div>`,
  });
}

/** Shows the form at an address again with the typed values; undefined if the address has no such form. */
export function restoreForm(
  frame: () => Frame,
  {
    address,
    fields,
    message,
  }: { address: string; fields: Readonly<Record<string, string>>; message: Content },
): string | undefined {
  const { title = '', body = '', userId, tag } = fields;
  const draft = { title, body, userId };
  if (address === pageRoutes.newPost) return newPostPage(frame(), { draft, message });
  const id = Number(/^\/posts\/(\d{1,16})\/edit$/.exec(address)?.[1]);
  if (address !== postPath('editPost', id) || tag === undefined) return undefined;
  return editPostPage(frame(), { id, tag, draft, message });
}

/** Problems as the API words them, for a visitor who filled in a form. */
export function problemsInWords(fields: Fields): Fields {
  const isEmpty = /^(is required|must not be blank|must be at least 1 character)/;
  return Object.fromEntries(
    Object.entries(fields).map(([name, problem]) => [
      name,
      isEmpty.test(problem) ? 'must not be empty' : problem,
    ]),
  );
}

function texts({ draft, errors = {} }: PostFormView): Html {
  return html`${field({
    name: 'title',
    label: labels.title,
    value: draft.title,
    error: errors.title,
    countMax: postLimits.title,
    attributes: { autocomplete: 'off', autofocus: draft.title === '' },
  })}
${field({
  name: 'body',
  label: labels.body,
  type: 'textarea',
  value: draft.body,
  error: errors.body,
  countMax: postLimits.body,
  attributes: { rows: 10 },
})}`;
}

function buttons(save: string, cancelHref: string): Html {
  return html`<div class="actions"><button>${save}</button>${linkButton(cancelHref, 'Cancel', 'quiet')}</div>`;
}

function conflictNotice(): Html {
  return notice(
    'warn',
    'Your text is not lost: it is below, next to the saved version. Copy over what you need, then save your version. It replaces theirs.',
    { title: 'Someone else saved this post while you were writing' },
  );
}

function conflictButtons(id: number): Html {
  return html`<div class="actions"><button>Save my version</button>${linkButton(postPath('post', id), 'Keep their version')}</div>`;
}

function theirVersion(post: Post): Html {
  return card(
    'Saved version',
    html`<p class="small muted">Changed ${time(post.updatedAt)}</p><h3>${post.title}</h3><p class="prose">${post.body}</p>`,
  );
}
