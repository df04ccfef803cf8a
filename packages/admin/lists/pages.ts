import { AppError } from '@octavo/core';
import {
  attributes,
  type Content,
  count,
  empty,
  field as fieldBlock,
  formatNumber,
  type Html,
  html,
  icon,
  linkButton,
  menu,
  notice,
  type Column as TableColumn,
  table,
  truncate,
} from '@octavo/web/html';
import type { FastifyReply } from 'fastify';
import { adminPage, capitalized, type ModelVisit, queryOf } from '../context.ts';
import type { Choice, Field, Values } from '../field.ts';
import type { BulkAction, ListPage, Model, TableModel } from '../model.ts';
import { canImport, idOf } from '../registry.ts';
import { choicesOf, exactTotalMax, findChoices, referencedTitles } from '../table/list.ts';
import { listObjects } from '../table/objects.ts';
import { dateLinks } from './date-links.ts';
import { fromList } from './list-link.ts';
import { ListState, pageRows, periods, sortNameOf } from './state.ts';

/** The list of a model: search, filters, dates, sorted columns, bulk actions and pages. */
export async function listPage(context: ModelVisit, problem?: string): Promise<string | FastifyReply> {
  const { registry, model, actor, may } = context;
  const state = new ListState(model, queryOf(context), registry.clock.now());
  const page = await listObjects(registry, model, state.query, actor);
  // The last row of the last page was deleted.
  const last = Math.ceil(page.total / pageRows);
  if (page.rows.length === 0 && !page.isCapped && last > 0 && last < state.page)
    return context.visit.redirect(state.href({ p: last > 1 ? String(last) : undefined }));
  const titles = model.kind === 'table' ? await referencedTitles(registry, model, page.rows) : new Map();
  const parts = { state, page, titles };
  const plural = capitalized(model.plural);
  return adminPage(context.frame(), {
    title: plural,
    ...(model.description && { lead: model.description }),
    actions: html`${more(context, state)}${may.add && linkButton(fromList(`/admin/${model.path}/add/`, state), html`${icon('plus')}Add ${model.label}`, 'primary')}`,
    main: html`${problem && notice('bad', problem)}${state.notices.map((text) => notice('warn', text))}
${await filterForm(context, state)}${await dateLinks(registry, model, state)}${sortLine(model, state)}
${page.rows.length === 0 ? nothing(context, parts) : rowsForm(context, parts)}${pages(parts)}`,
  });
}

interface Parts {
  readonly state: ListState;
  readonly page: ListPage;
  readonly titles: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

function more({ model, may }: ModelVisit, state: ListState): Html {
  const base = `/admin/${model.path}`;
  const narrowed = state.href().split('?')[1];
  const exportHref = (format: string) => `${base}/export/?format=${format}${narrowed ? `&${narrowed}` : ''}`;
  const mayImport = canImport(model) && may.add && may.change;
  return menu('More', [
    { href: exportHref('csv'), label: 'Export as CSV' },
    { href: exportHref('json'), label: 'Export as JSON' },
    ...(mayImport ? [{ href: `${base}/import/`, label: 'Import' }] : []),
  ]);
}

async function filterForm({ registry, model }: ModelVisit, state: ListState): Promise<Content> {
  const filters = await Promise.all(
    (model.filters ?? []).map(async (declared) => {
      const name = typeof declared === 'string' ? declared : declared.name;
      const label = typeof declared === 'string' ? filterLabel(model.fields[name] as Field) : declared.label;
      const choices =
        typeof declared === 'string' ? await choicesFor(registry, model, name) : declared.choices;
      const value = state.chosen.get(name) ?? '';
      const all: Choice[] = [['', 'All'], ...(choices ?? [])];
      if (choices) return fieldBlock({ name, label, value, type: 'select', choices: all });
      return fieldBlock({ name, label, value, attributes: { inputmode: 'numeric', autocomplete: 'off' } });
    }),
  );
  if (filters.length === 0 && !canSearch(model)) return undefined;
  const kept = Object.entries(state.parameters()).filter(([name]) => name !== 'q' && !state.chosen.has(name));
  return html`<form class="filters" role="search" action="/admin/${model.path}/">${canSearch(model) && search(model, state)}${filters}
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="actions"><button class="secondary">Apply</button>${state.isNarrowed && linkButton(`/admin/${model.path}/`, 'Clear', 'quiet')}</div></form>`;
}

/** The label of a field; the days of an instant are those of UTC, while the list shows the reader's. */
function filterLabel({ label, control }: Field): string {
  return control.type === 'datetime' ? `${label} (UTC)` : label;
}

function canSearch(model: Model): boolean {
  return (model.search ?? []).length > 0 || (model.kind === 'table' && model.searchBy !== undefined);
}

function search(model: Model, { q }: ListState): Html {
  const names = (model.search ?? []).map((name) => (model.fields[name]?.label ?? name).toLowerCase());
  const placeholder = names.length > 0 ? `In ${names.join(', ')}` : 'Search';
  return fieldBlock({
    name: 'q',
    label: 'Search',
    value: q,
    type: 'search',
    attributes: { placeholder, maxlength: 500 },
  });
}

async function choicesFor(
  registry: ModelVisit['registry'],
  model: Model,
  name: string,
): Promise<readonly Choice[] | undefined> {
  const field = model.fields[name] as Field;
  const none: Choice[] = field.isRequired ? [] : [['none', 'None']];
  if (field.control.type === 'flag')
    return [
      ['true', 'Yes'],
      ['false', 'No'],
    ];
  if (field.control.type === 'choice') return [...field.control.choices, ...none];
  if (field.control.type === 'datetime') return [...periods, ...none];
  if (field.control.type !== 'reference') return undefined;
  const choices = await choicesOf(registry, registry.tableAt(field.control.model) as TableModel);
  return choices && [...choices, ...none];
}

/** The columns that the list is sorted by, each with a link to leave it out. */
function sortLine(model: Model, state: ListState): Content {
  if (state.sort.length === 0) return undefined;
  const items = state.sort.map((number) => {
    const label = headerOf(model, Math.abs(number) - 1);
    const rest = state.sort.filter((other) => other !== number).join('.');
    return html`<a class="chip" href="${state.href({ o: rest })}">${label}${icon(number < 0 ? 'down' : 'up')}<span class="hidden">, remove from the order</span></a>`;
  });
  return html`<div class="chips"><span class="muted">Sorted by</span>${items}</div>`;
}

function headerOf(model: Model, index: number): string {
  const column = model.columns[index];
  if (column === undefined) return '';
  if (typeof column !== 'string') return column.label;
  return fieldLabel(model, column);
}

function fieldLabel(model: Model, name: string): string {
  if (model.fields[name]) return model.fields[name].label;
  const set = model.kind === 'table' ? model.sets?.[name] : undefined;
  return set?.label ?? (name === model.key ? 'ID' : name);
}

function nothing({ model, may }: ModelVisit, { state }: Parts): Html {
  if (state.isNarrowed || state.page > 1)
    return empty({
      icon: 'search',
      title: `No matching ${model.plural}`,
      text:
        state.page > 1 ? 'The list ends before this page.' : 'Nothing matches the search and the filters.',
      actions: linkButton(`/admin/${model.path}/`, `Show all ${model.plural}`),
    });
  return empty({
    icon: 'inbox',
    title: `No ${model.plural} yet`,
    text: model.description ?? `Nothing has been added yet.`,
    actions: may.add && linkButton(`/admin/${model.path}/add/`, `Add ${model.label}`),
  });
}

/** The table, in a form with the bulk actions. */
function rowsForm(context: ModelVisit, parts: Parts): Html {
  const { model, visit } = context;
  const actions = actionsOf(context);
  const columns = [...(actions.length > 0 ? [selectColumn(model)] : []), ...columnsOf(context, parts)];
  const rows = table({ caption: capitalized(model.plural), columns, rows: parts.page.rows });
  if (actions.length === 0) return rows;
  return html`<form method="post" action="${parts.state.here}" data-select-rows>${visit.frame().csrfField}
<div class="bulk"><label class="hidden" for="field-action">Action</label><select id="field-action" name="action"><option value="">Action for selected</option>
${actions.map(([name, { label }]) => html`<option value="${name}">${label}</option>`)}</select><button class="secondary">Run</button>
<span class="muted" data-selected-count></span>${selectAll(parts)}</div>${rows}</form>`;
}

/** Selects everything that matches, where that is more than the page. */
function selectAll({ page }: Parts): Content {
  if (page.total <= pageRows && !page.isCapped) return undefined;
  const total = page.isCapped ? `more than ${formatNumber(exactTotalMax)}` : formatNumber(page.total);
  return html`<label class="check"><input type="checkbox" name="select_across" value="1"><span>All ${total} on all pages</span></label>`;
}

/** The bulk actions that the user may run, by name; `delete_selected` is for every model. */
export function actionsOf({ model, may, user }: ModelVisit): [string, BulkAction][] {
  const own = Object.entries((model.actions ?? {}) as Readonly<Record<string, BulkAction>>).filter(
    ([, { needs = 'change' }]) => user.permissions.may(model.path, needs),
  );
  const remove: [string, BulkAction] = [
    'delete_selected',
    { label: `Delete ${model.plural}`, isDangerous: true },
  ];
  return may.delete ? [...own, remove] : own;
}

/** Characters of a title in the name of its checkbox. */
const nameCharacters = 50;

function selectColumn(model: Model): TableColumn<Values> {
  return {
    header: 'Select',
    kind: 'select',
    cell: (values) =>
      html`<input type="checkbox" name="_selected_action" value="${idOf(model, values)}" aria-label="Select ${truncate(String(values[model.title] ?? idOf(model, values)), nameCharacters)}">`,
  };
}

function columnsOf({ model }: ModelVisit, { state, titles }: Parts): TableColumn<Values>[] {
  return model.columns.map((column, index) => {
    const sortName = sortNameOf(model, index);
    const isFirst = index === 0;
    const kind = isFirst ? 'main' : typeof column === 'string' ? kindOf(model.fields[column]) : column.kind;
    return {
      header: headerOf(model, index),
      ...(kind && { kind }),
      ...(sortName !== undefined && sortLink(state, index + 1)),
      cell: (values) => {
        const content =
          typeof column === 'string' ? cellOf({ model, name: column, titles }, values) : column.show(values);
        return isFirst ? objectLink({ model, state }, values, content) : content;
      },
    };
  });
}

function kindOf(field: Field | undefined): TableColumn<Values>['kind'] {
  return field?.kind;
}

function objectLink(
  { model, state }: { model: Model; state: ListState },
  values: Values,
  content: Content,
): Html {
  const id = encodeURIComponent(idOf(model, values));
  const isEmpty = content === '' || content === null || content === undefined;
  const href = fromList(`/admin/${model.path}/${id}/change/`, state);
  return html`<a href="${href}">${isEmpty ? idOf(model, values) : content}</a>`;
}

function cellOf(
  { model, name, titles }: { model: Model; name: string; titles: Parts['titles'] },
  values: Values,
): Content {
  const value = values[name] ?? null;
  const field = model.fields[name];
  if (!field) return Array.isArray(value) ? value.join(', ') : String(value ?? '');
  if (field.control.type === 'reference' && value !== null) {
    const href = `/admin/${field.control.model}/${encodeURIComponent(String(value))}/change/`;
    return html`<a class="clip" href="${href}">${titles.get(name)?.get(String(value)) ?? String(value)}</a>`;
  }
  const shown = field.show ? field.show(value) : field.format(value);
  return typeof shown === 'string' && shown.length > 60 && name !== model.columns[0]
    ? html`<span class="clip">${shown}</span>`
    : shown;
}

/** A click on the header sorts by the column first; another one turns it round. */
function sortLink(state: ListState, number: number): Pick<TableColumn<Values>, 'sortHref' | 'sorted'> {
  const current = state.sort.find((each) => Math.abs(each) === number);
  const others = state.sort.filter((each) => Math.abs(each) !== number);
  const next = current === undefined || state.sort[0] !== current ? (current ?? number) : -current;
  return {
    sortHref: state.href({ o: [next, ...others].slice(0, 3).join('.') }),
    sorted: current === undefined ? undefined : current < 0 ? 'desc' : 'asc',
  };
}

function pages({ state, page }: Parts): Content {
  const { total, isCapped, rows } = page;
  const known = state.page * pageRows;
  const from = (state.page - 1) * pageRows + 1;
  const range = rows.length === 0 ? 'None' : `${formatNumber(from)}–${formatNumber(from + rows.length - 1)}`;
  const all = isCapped ? `more than ${formatNumber(total)}` : formatNumber(total);
  const hasNext = isCapped ? rows.length === pageRows : known < total;
  const last = Math.ceil(total / pageRows);
  if (state.page === 1 && !hasNext)
    return rows.length > 0 && html`<p class="pager"><span>${count(total, 'row')}</span></p>`;
  const link = (label: string, to: number | undefined) =>
    html`<a class="button secondary"${attributes(to === undefined ? { 'aria-disabled': 'true' } : { href: state.href({ p: to === 1 ? undefined : String(to) }) })}>${label}</a>`;
  return html`<nav class="pager" aria-label="Pages"><span>${range} of ${all}</span><span class="actions">
${link('First', state.page > 1 ? 1 : undefined)}${link('Previous', state.page > 1 ? state.page - 1 : undefined)}
${link('Next', hasNext ? state.page + 1 : undefined)}${!isCapped && link('Last', state.page < last ? last : undefined)}</span></nav>`;
}

/** Objects that match the text typed into a reference field: `{"choices":[{"id":"12","title":"Eliot"}]}`. */
export async function sendChoices(context: ModelVisit): Promise<FastifyReply> {
  const { registry, model, visit } = context;
  if (model.kind !== 'table') throw new AppError('not_found', 'There is nothing at this address.');
  const state = new ListState(model, queryOf(context), registry.clock.now());
  const found = await findChoices(registry, model, state.query.words);
  return visit.reply
    .header('cache-control', 'no-store')
    .type('application/json')
    .send({ choices: found.map(([id, title]) => ({ id, title })) });
}
