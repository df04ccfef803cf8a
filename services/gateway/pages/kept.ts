import type { Content } from '#kit/html/html.ts';
import type { Frame } from '#kit/html/layout.ts';
import type { Visit } from '#kit/html/visit.ts';
import { pageRoutes, postPath } from '../page-routes.ts';
import { editPostPage, newPostPage } from '../views/post-form.ts';
import type { Ticket } from './parts.ts';

/** What a form held that could not be taken, by field. */
export type Kept = Readonly<Record<string, string>>;

const prefix = 'kept.';

/** What of a form is worth keeping over a sign-in. */
export function keepable(fields: Readonly<Record<string, string | undefined>>): Kept {
  const names = ['title', 'body', 'userId', 'tag'];
  return Object.fromEntries(names.flatMap((name) => (fields[name] ? [[name, fields[name]]] : [])));
}

/** What the sign-in form brought along. */
export function keptIn(visit: Visit<Ticket>): Kept {
  const kept = Object.entries(visit.fields()).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(kept.map(([name, text = '']) => [name.slice(prefix.length), text]));
}

/** The form at an address with what was typed into it, and a word on why it is here again; nothing for other addresses. */
export function formWithKept(
  frame: () => Frame,
  { address, kept, message }: { address: string; kept: Kept; message: Content },
): string | undefined {
  const { title = '', body = '', userId, tag } = kept;
  const draft = { title, body, userId };
  if (address === pageRoutes.newPost) return newPostPage(frame(), { draft, message });
  const id = Number(/^\/posts\/(\d{1,16})\/edit$/.exec(address)?.[1]);
  if (address !== postPath('editPost', id) || tag === undefined) return undefined;
  return editPostPage(frame(), { id, tag, draft, message });
}
