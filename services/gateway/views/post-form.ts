import type { Fields } from '#kit/errors.ts';
import { card, linkButton, notice } from '#kit/html/blocks.ts';
import { errorSummary, field } from '#kit/html/form.ts';
import { time } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import { bodyCharacters, type Post, titleCharacters } from '../post.ts';

/** What a reader typed, as typed. */
export interface PostDraft {
  readonly title: string;
  readonly body: string;
  readonly userId?: string;
}

export interface PostFormView {
  readonly draft: PostDraft;
  readonly errors?: Fields;
  readonly message?: Content;
}

export interface EditView extends PostFormView {
  readonly id: number;
  /** The state of the post that the reader began with; saving over another one is refused. */
  readonly tag: string;
  /** What somebody else saved meanwhile. */
  readonly theirs?: Post;
}

const labels = { title: 'Title', body: 'Body', userId: 'User number' };

export function newPostPage(frame: Frame, view: PostFormView): string {
  return layout(frame, {
    title: 'New post',
    parent: { href: pageRoutes.posts, label: 'Posts' },
    main: html`${view.message}${errorSummary(view.errors ?? {}, labels)}
<form class="form" method="post" action="${pageRoutes.newPost}" data-draft="new">${frame.csrfField}${texts(view)}
${field({
  name: 'userId',
  label: labels.userId,
  value: view.draft.userId,
  error: view.errors?.userId,
  help: 'Whose post it is. Leave it empty to make it yours.',
  attributes: { inputmode: 'numeric', class: 'short' },
})}
${buttons('Create post', pageRoutes.posts)}</form>`,
  });
}

export function editPostPage(frame: Frame, view: EditView): string {
  const { id, tag, theirs, errors = {}, message } = view;
  return layout(frame, {
    title: theirs ? 'This post has changed meanwhile' : 'Edit post',
    parent: { href: postPath('post', id), label: `Post ${id}` },
    main: html`${message}${theirs && conflictNotice()}${errorSummary(errors, labels)}<div class="${theirs ? 'columns' : ''}">
<form class="form" method="post" action="${postPath('editPost', id)}" data-draft="${id} ${tag}">${frame.csrfField}
<input type="hidden" name="tag" value="${tag}">${theirs && html`<h2>Your text</h2>`}${texts(view)}
${theirs ? conflictButtons(id) : buttons('Save', postPath('post', id))}</form>${theirs && theirVersion(theirs)}</div>`,
  });
}

function texts({ draft, errors = {} }: PostFormView): Html {
  return html`${field({
    name: 'title',
    label: labels.title,
    value: draft.title,
    error: errors.title,
    countMax: titleCharacters,
    attributes: { autocomplete: 'off', autofocus: draft.title === '' },
  })}
${field({
  name: 'body',
  label: labels.body,
  type: 'textarea',
  value: draft.body,
  error: errors.body,
  countMax: bodyCharacters,
  attributes: { rows: 10 },
})}`;
}

function buttons(save: string, cancelHref: string): Html {
  return html`<div class="actions"><button>${save}</button>${linkButton(cancelHref, 'Cancel', 'quiet')}</div>`;
}

function conflictNotice(): Html {
  return notice(
    'warn',
    'Nothing of yours is lost: your text is below, beside what is saved now. Take over what you need, then save yours; it replaces theirs.',
    { title: 'Somebody else saved this post while you were writing' },
  );
}

function conflictButtons(id: number): Html {
  return html`<div class="actions"><button>Save mine over theirs</button>${linkButton(postPath('post', id), 'Keep theirs')}</div>`;
}

function theirVersion(post: Post): Html {
  return card(
    'Saved now',
    html`<p class="small muted">Changed ${time(post.updatedAt)}</p><h3>${post.title}</h3><p class="prose">${post.body}</p>`,
  );
}
