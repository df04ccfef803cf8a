import { AppError, type Fields, labelsOf, partsOf } from '@octavo/core';
import type { Database } from '@octavo/data';
import { serializer, serializerFields } from '@octavo/drf';
import { confirm, count, errorSummary, field, type Html, html, notice, site } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DayKeys } from '../daily/index.ts';
import { pageRoutes, quotePath, signInPath } from '../routes.ts';
import type { PageSession, Visitor, Visitors } from '../site.ts';
import type { Tables } from '../tables.ts';
import {
  type Attribution,
  contentNames,
  mayChange,
  maySee,
  type QuoteContent,
  type QuoteInput,
  quoteFields,
  withDefaults,
} from './quote.ts';
import { type CountedQuote, findCountedQuote } from './store.ts';
import { largestCategories } from './store-categories.ts';
import { findChange } from './store-changes.ts';
import { changeQuote, createQuote, deleteQuote, forbidden, type Rights } from './store-write.ts';
import { excerpt } from './views.ts';

export interface EditPagesParts {
  readonly visitors: Visitors;
  readonly database: Database<Tables>;
  readonly dayKeys: DayKeys;
  readonly isOpenEditing: boolean;
  readonly isModerated: boolean;
  readonly limitWrites: (request: FastifyRequest, reply: FastifyReply) => void;
}

const body = serializer(serializerFields(quoteFields));

const labels = { ...labelsOf(quoteFields), text: 'Quote' };

const categoriesSuggested = 100;

export function addEditPages(routes: PageRoutes<PageSession>, parts: EditPagesParts): void {
  const { visitors: access } = parts;
  const post = { access, proof: 'origin' } as const;
  routes.get(pageRoutes.newQuote, { access }, (visitor) => showNew(visitor, parts));
  routes.post(pageRoutes.newQuote, post, (visitor) => create(visitor, parts));
  routes.get(pageRoutes.editQuote, { access }, (visitor) => showEdit(visitor, parts));
  routes.post(pageRoutes.editQuote, post, (visitor) => change(visitor, parts));
  routes.get(pageRoutes.deleteQuote, { access }, (visitor) => showDelete(visitor, parts));
  routes.post(pageRoutes.deleteQuote, post, (visitor) => remove(visitor, parts));
}

type Typed = Readonly<Record<keyof QuoteContent, string>>;
type Answer = FastifyReply | string;

async function showNew(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(pageRoutes.newQuote));
  const typed = withDefaults({ text: '', author: '', category: '' });
  return formPage(visitor, parts, { typed, errors: {} });
}

async function create(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(pageRoutes.newQuote));
  visitor.checkToken();
  return saving(visitor, parts, async (input) => {
    const rights = { ...rightsOf(visitor, parts), dayKeys: parts.dayKeys };
    const { id, isPublished } = await createQuote(parts.database, input, rights);
    const text = isPublished ? 'Your quote was added.' : 'Thank you. Your quote waits for approval.';
    return visit.redirect(quotePath(pageRoutes.quote, id), { tone: 'good', text });
  });
}

async function showEdit(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  const quote = await changeable(visitor, parts);
  const pending = await findChange(parts.database, { quoteId: quote.id, userId: reader.id });
  return formPage(visitor, parts, {
    typed: { ...quote, ...pending },
    errors: {},
    quote,
    isPending: pending !== undefined,
  });
}

async function change(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  visitor.checkToken();
  const quote = await changeable(visitor, parts);
  return saving(
    visitor,
    parts,
    async (content) => {
      const rights = rightsOf(visitor, parts);
      const { isWaiting } = await changeQuote(parts.database, quote.id, content, rights);
      const text = isWaiting
        ? 'Thank you. Your change waits for approval. Until then, the quote stays as it is.'
        : 'The quote is changed.';
      return visit.redirect(quotePath(pageRoutes.quote, quote.id), { tone: 'good', text });
    },
    quote,
  );
}

async function showDelete(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  const quote = await changeable(visitor, parts);
  const frame = visitor.frame();
  return site(frame, {
    title: 'Delete a quote',
    main: html`<h1 class="title">Delete a quote</h1>${confirm({
      title: `Delete “${excerpt(quote.text, 60)}”?`,
      text: `Its ${count(quote.likes, 'like')} and ${count(quote.comments, 'comment')} go with it. This cannot be undone.`,
      action: quotePath(pageRoutes.deleteQuote, quote.id),
      csrfField: frame.csrfField,
      deed: 'Delete quote',
      cancelHref: quotePath(pageRoutes.quote, quote.id),
    })}`,
  });
}

async function remove(visitor: Visitor, parts: EditPagesParts): Promise<Answer> {
  const { visit, reader } = visitor;
  if (!reader) return visit.redirect(signInPath(visit.request.url));
  visitor.checkToken();
  const quote = await changeable(visitor, parts);
  await deleteQuote(parts.database, quote.id, rightsOf(visitor, parts));
  return visit.redirect(pageRoutes.home, { tone: 'good', text: 'The quote is deleted.' });
}

/** Reads the form and saves it, or shows it again with its errors. */
async function saving(
  visitor: Visitor,
  parts: EditPagesParts,
  save: (content: QuoteInput) => Promise<Answer>,
  quote?: CountedQuote,
): Promise<Answer> {
  const { visit } = visitor;
  const fields = contentNames.map((name) => [name, visit.field(name)]);
  const typed = Object.fromEntries(fields) as Typed;
  try {
    parts.limitWrites(visit.request, visit.reply);
    return await save(await body.parse(typed));
  } catch (error) {
    const errors = errorsOf(error);
    if (!errors) throw error;
    visit.reply.code(400);
    return formPage(visitor, parts, { typed, errors, ...(quote && { quote }) });
  }
}

/** Returns the errors of the form's fields; undefined for another error. */
function errorsOf(error: unknown): Fields | undefined {
  if (!(error instanceof AppError)) return undefined;
  if (error.reason === 'DUPLICATE_QUOTE') return error.fields;
  if (error.code !== 'validation_failed' || error.details === undefined) return undefined;
  const details = error.details as Readonly<Record<string, readonly string[]>>;
  return Object.fromEntries(Object.entries(details).map(([name, sentences]) => [name, sentences.join(' ')]));
}

async function changeable(
  visitor: Visitor,
  { database, isOpenEditing }: EditPagesParts,
): Promise<CountedQuote> {
  const { visit, reader } = visitor;
  const { id = '' } = visit.request.params as { id?: string };
  const quote = /^\d{1,15}$/.test(id) ? await findCountedQuote(database, Number(id)) : undefined;
  if (!quote || !maySee(quote, reader)) throw new AppError('not_found', 'There is no quote at this address.');
  if (!mayChange(quote, reader, isOpenEditing)) throw forbidden();
  return quote;
}

function rightsOf({ reader, clock }: Visitor, { isOpenEditing, isModerated }: EditPagesParts): Rights {
  if (!reader) throw forbidden();
  return { writer: { ...reader, nowMs: clock.now(), via: 'page' }, isOpenEditing, isModerated };
}

interface FormView {
  readonly typed: Typed;
  readonly errors: Fields;
  /** The quote that is changed; absent for a new one. */
  readonly quote?: CountedQuote;
  /** True if the form shows a change that waits for approval. */
  readonly isPending?: boolean;
}

async function formPage(visitor: Visitor, { database }: EditPagesParts, view: FormView): Promise<string> {
  const { typed, errors, quote, isPending } = view;
  const frame = visitor.frame();
  const title = quote ? 'Change a quote' : 'Add a quote';
  const action = quote ? quotePath(pageRoutes.editQuote, quote.id) : pageRoutes.newQuote;
  const categories = await largestCategories(database, categoriesSuggested);
  const back = quote ? quotePath(pageRoutes.quote, quote.id) : pageRoutes.home;
  return site(frame, {
    title,
    main: html`<h1 class="title">${title}</h1>${errorSummary(errors, labels)}
${isPending && notice('info', 'This is your change, which waits for approval.')}
<form class="form" method="post" action="${action}" data-draft="quote ${quote?.id ?? 'new'}">${frame.csrfField}
${controls(typed, errors)}<datalist id="categories">${categories.map(({ name }) => html`<option value="${name}"></option>`)}</datalist>
<div class="actions"><button>${quote ? 'Save changes' : 'Add quote'}</button><a class="button quiet" href="${back}">Cancel</a></div></form>`,
  });
}

interface ControlOptions {
  readonly type?: 'textarea';
  readonly help?: string;
  readonly isCounted?: boolean;
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** The form's fields, in its order. */
const controlOptions: Readonly<Record<keyof QuoteContent, ControlOptions>> = {
  text: {
    type: 'textarea',
    help: 'Leave out the quotation marks. Line breaks are kept.',
    isCounted: true,
    attributes: { rows: 4 },
  },
  author: {},
  source: { help: 'Title of the work, with year or chapter.' },
  category: {
    help: 'Choose a category or add one.',
    attributes: { list: 'categories', autocomplete: 'off' },
  },
  attribution: {},
};

const meanings: Readonly<Record<Attribution, string | undefined>> = {
  unverified: undefined,
  verified: 'the source is checked',
  disputed: 'it is uncertain who said it',
  misattributed: 'another person said it',
};

function controls(typed: Typed, errors: Fields): Html {
  const names = Object.keys(controlOptions) as (keyof QuoteContent)[];
  return html`${names.map((name) => {
    const { labels: choices, hasDefault, schema } = partsOf(name, quoteFields[name]);
    const { isCounted = false, attributes, ...options } = controlOptions[name];
    const shared = { name, label: labels[name], value: typed[name], error: errors[name] };
    if (choices)
      return field({ ...shared, type: 'select', choices: Object.entries(choices).map(withMeaning) });
    const max = Number(schema.maxLength);
    return field({
      ...shared,
      ...options,
      label: hasDefault ? `${labels[name]} (optional)` : labels[name],
      ...(isCounted && { countMax: max }),
      attributes: { required: !hasDefault, ...(!isCounted && { maxlength: max }), ...attributes },
    });
  })}`;
}

function withMeaning([name, label]: readonly [string, string]): readonly [string, string] {
  const meaning = meanings[name as Attribution];
  return [name, meaning === undefined ? label : `${label}: ${meaning}`];
}
