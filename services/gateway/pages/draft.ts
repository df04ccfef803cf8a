import type { Fields } from '#kit/errors.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { PostDraft } from '../views/post-form.ts';
import type { Ticket } from './parts.ts';

/** What a reader typed into the form of a post. */
export function draftIn(visit: Visit<Ticket>): PostDraft {
  return { title: visit.field('title'), body: visit.field('body'), userId: visit.field('userId').trim() };
}

/** A number where the text is one, nothing where it is empty, else the text, for the schema to complain about. */
export function wholeNumber(text = ''): number | string | undefined {
  if (text === '') return undefined;
  return /^\d{1,16}$/.test(text) ? Number(text) : text;
}

/** Problems as the API words them, for whoever filled in a form. */
export function inWords(fields: Fields): Fields {
  const isEmpty = /^(is required|must not be blank|must be at least 1 character)/;
  return Object.fromEntries(
    Object.entries(fields).map(([name, problem]) => [
      name,
      isEmpty.test(problem) ? 'must have some text' : problem,
    ]),
  );
}
