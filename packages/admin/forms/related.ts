import { bare, type Content, type Frame, type Html, html, icon } from '@octavo/web/html';
import { ownPath } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import { type AdminVisit, abilitiesOf, type ModelVisit, queryOf } from '../context.ts';
import type { Model } from '../model.ts';
import { titleOf } from '../registry.ts';
import { getObject } from '../table/objects.ts';

/** The form from which an object is added, to be picked there. */
export interface AddingFor {
  /** Address of that form. */
  readonly back: string;
  /** Field that refers to the new object. */
  readonly field: string;
  /** True if the form that adds the object is in a window of its own, which closes afterwards. */
  readonly isWindow: boolean;
}

const addressCharactersMax = 2_000;

/** The form for which this one adds an object, by its address or its hidden fields; undefined if it stands alone. */
export function addingFor(context: ModelVisit): AddingFor | undefined {
  const { visit } = context;
  const query = queryOf(context);
  const given = (name: string) =>
    (visit.request.method === 'POST' ? visit.field(name) : query.get(name)) ?? '';
  const [back, field] = [given('_back'), given('_field')];
  const isForm = /^\/admin\/\w+\/\w+\/(add|[^/?#]+\/change)\/(\?|$)/.test(back) && ownPath(back) === back;
  if (!isForm || back.length > addressCharactersMax || !/^[\w-]{1,100}$/.test(field)) return undefined;
  return { back, field, isWindow: given('_window') === '1' };
}

function parametersOf({ back, field, isWindow }: AddingFor): [name: string, value: string][] {
  return [['_back', back], ['_field', field], ...(isWindow ? [['_window', '1'] as [string, string]] : [])];
}

/** Hidden fields of a form that is to lead back. */
export function addingFields(adding: AddingFor | undefined): Content {
  const parameters = adding ? parametersOf(adding) : [];
  return parameters.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}

/** Address of a form with all that leads back from it. */
export function addressOf(path: string, adding: AddingFor | undefined): string {
  return adding ? `${path}?${new URLSearchParams(parametersOf(adding))}` : path;
}

/** Goes back to the form with the new object picked, or to the page that tells it to the window of that form. */
export function picked(
  { model, visit }: ModelVisit,
  adding: AddingFor,
  added: { id: string; text: string },
): FastifyReply {
  const { id, text } = added;
  if (adding.isWindow) return visit.redirect(`/admin/${model.path}/${encodeURIComponent(id)}/picked/`);
  const address = new URL(adding.back, 'http://localhost');
  address.searchParams.set(adding.field, id);
  return visit.redirect(`${address.pathname}${address.search}`, { tone: 'good', text });
}

/** The page at the end of a window: its module picks the object in the form that opened the window, and closes it. */
export async function pickedPage(context: ModelVisit, id: string): Promise<string> {
  const { registry, model, actor } = context;
  const { values } = await getObject(registry, model, id, actor);
  const title = titleOf(model, values);
  return windowPage(
    context.frame(),
    `The ${model.label} was added`,
    html`<p data-picked="${id}" data-title="${title}">“${title}” was added. Close this window to go on.</p>`,
  );
}

/** A page in a window of its own, without navigation. */
export function windowPage(frame: Frame, title: string, main: Content): string {
  const content = html`<div class="window stack"><h1>${title}</h1>${main}</div>`;
  return bare(frame, { title, main: content, styles: ['admin.css'], modules: ['admin.js'] });
}

/** The models to whose objects a form can refer, if the user may add some, with their labels by path. */
export function addableModels({
  registry,
  user,
}: Pick<AdminVisit, 'registry' | 'user'>): ReadonlyMap<string, string> {
  const mayAdd = (model: Model) => {
    const may = abilitiesOf(user, model);
    return may.add && may.view;
  };
  const models = registry.models.filter(mayAdd);
  return new Map(models.map(({ path, label }) => [path, label]));
}

/** The control of a reference with a link that adds an object to refer to. With JavaScript, it opens in a window of its own. */
export function withAddLink(
  control: Html,
  link: { path: string; label: string; field: string; back: string },
): Html {
  const { path, label, field, back } = link;
  const href = addressOf(`/admin/${path}/add/`, { back, field, isWindow: false });
  return html`<div class="related" data-related="${path}">${control}<a href="${href}" title="Add ${label}" data-add-related>${icon('plus')}<span>Add ${label}</span></a></div>`;
}
