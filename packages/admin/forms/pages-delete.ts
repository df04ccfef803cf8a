import { AppError } from '@octavo/core';
import { type Content, count, formatNumber, type Html, html, linkButton, notice } from '@octavo/web/html';
import type { FastifyReply } from 'fastify';
import { adminPage, capitalized, demand, type ModelVisit, queryOf } from '../context.ts';
import { keepingList, listOf } from '../lists/list-link.ts';
import { actionsOf, listPage } from '../lists/pages.ts';
import { ListState } from '../lists/state.ts';
import type { BulkAction } from '../model.ts';
import { titleOf } from '../registry.ts';
import type { Dependent } from '../table/delete.ts';
import type { Selection } from '../table/list.ts';
import { actOn, bulkMax, deleteObjects, dependents, getObject, selectedIds } from '../table/objects.ts';

/** Asks before an object is deleted, and names what goes with it. */
export async function deletePage(context: ModelVisit, id: string, problem?: string): Promise<string> {
  demand(context, 'delete');
  const { registry, model, actor, visit } = context;
  const { values } = await getObject(registry, model, id, actor);
  const object = `/admin/${model.path}/${encodeURIComponent(id)}`;
  const back = keepingList(context, `${object}/change/`);
  const title = `Delete “${titleOf(model, values)}”?`;
  const content = await consequences(
    context,
    { ids: [id] },
    `the ${model.label} “${titleOf(model, values)}”`,
  );
  return adminPage(context.frame(), {
    title,
    parent: { href: back, label: capitalized(model.label) },
    main: html`${problem && notice('bad', problem)}<div class="card form"><form class="stack" method="post" action="${keepingList(context, `${object}/delete/`)}">${visit.frame().csrfField}
<input type="hidden" name="post" value="yes">${content.text}
<div class="actions">${content.isPossible && html`<button class="danger">Delete ${model.label}</button>`}${linkButton(back, 'Go back')}</div></form></div>`,
  });
}

/** Deletes an object. */
export async function remove(context: ModelVisit, id: string): Promise<string | FastifyReply> {
  demand(context, 'delete');
  const { registry, model, actor, visit } = context;
  const { values } = await getObject(registry, model, id, actor);
  try {
    await checkPossible(context, { ids: [id] });
    await deleteObjects(registry, model, [id], actor);
  } catch (error) {
    const { message, status } = refusalOf(error);
    visit.reply.code(status);
    return deletePage(context, id, message);
  }
  const text = `The ${model.label} “${titleOf(model, values)}” was deleted.`;
  return visit.redirect(listOf(context), { tone: 'good', text });
}

/** Runs a bulk action from a list, after its page where it asks first. */
export async function bulk(context: ModelVisit): Promise<string | FastifyReply> {
  const { model, visit, registry, actor } = context;
  const name = visit.field('action');
  const action = actionsOf(context).find(([each]) => each === name)?.[1];
  if (!name) return again(context, 'Choose an action.');
  if (!action) throw new AppError('forbidden', 'You do not have permission for this action.');
  const state = new ListState(model, queryOf(context), registry.clock.now());
  const { words, filters } = state.query;
  const marked = [...new Set(visit.values('_selected_action'))];
  const selection: Selection =
    visit.field('select_across') === '1' ? { query: { words, filters } } : { ids: marked };
  const ids = await selectedIds(registry, model, selection, actor);
  if (ids.length === 0) return again(context, `Select ${model.plural} first.`);
  const asks = action.confirms || name === 'delete_selected';
  if (asks && visit.field('post') !== 'yes') return bulkPage(context, { name, action, selection, ids });
  try {
    const done = await run(context, { name, selection, ids });
    const text =
      name === 'delete_selected'
        ? `${countOf(context, done)} ${done === 1 ? 'was' : 'were'} deleted.`
        : `“${action.label}” was applied to ${countOf(context, done)}.`;
    return visit.redirect(state.here, { tone: 'good', text });
  } catch (error) {
    const { message, status } = refusalOf(error);
    visit.reply.code(status);
    return asks
      ? bulkPage(context, { name, action, selection, ids, problem: message })
      : again(context, message);
  }
}

async function run(
  context: ModelVisit,
  { name, selection, ids }: { name: string; selection: Selection; ids: readonly string[] },
): Promise<number> {
  const { registry, model, actor } = context;
  if (name !== 'delete_selected') return actOn(registry, model, { name, ids }, actor);
  await checkPossible(context, selection);
  return deleteObjects(registry, model, ids, actor);
}

/** The list, with an error above it. */
function again(context: ModelVisit, problem: string): Promise<string | FastifyReply> {
  if (context.visit.reply.statusCode < 400) context.visit.reply.code(422);
  return listPage(context, problem);
}

interface BulkView {
  readonly name: string;
  readonly action: BulkAction;
  readonly selection: Selection;
  readonly ids: readonly string[];
  readonly problem?: string;
}

async function bulkPage(
  context: ModelVisit,
  { name, action, selection, ids, problem }: BulkView,
): Promise<string> {
  const { model, visit, registry } = context;
  const state = new ListState(model, queryOf(context), registry.clock.now());
  const what = countOf(context, ids.length);
  const content =
    name === 'delete_selected'
      ? await consequences(context, selection, what)
      : { text: html`<p>This applies to ${what}.</p>`, isPossible: true };
  const marked =
    'ids' in selection
      ? ids.map((id) => html`<input type="hidden" name="_selected_action" value="${id}">`)
      : html`<input type="hidden" name="select_across" value="1">`;
  const isDangerous = action.isDangerous ?? false;
  return adminPage(context.frame(), {
    title: `${action.label}?`,
    parent: { href: state.here, label: capitalized(model.plural) },
    main: html`${problem && notice('bad', problem)}<div class="card form"><form class="stack" method="post" action="${state.here}">${visit.frame().csrfField}
<input type="hidden" name="action" value="${name}"><input type="hidden" name="post" value="yes">${marked}${content.text}${await firstTitles(context, ids)}
${ids.length >= bulkMax && html`<p class="muted">At most ${formatNumber(bulkMax)} at a time.</p>`}
<div class="actions">${content.isPossible && html`<button class="${isDangerous ? 'danger' : 'primary'}">${action.label}</button>`}${linkButton(state.here, 'Go back')}</div></form></div>`,
  });
}

/** The first of the objects by name. */
async function firstTitles({ registry, model, actor }: ModelVisit, ids: readonly string[]): Promise<Content> {
  const first = await Promise.all(
    ids.slice(0, shownMax).map((id) => getObject(registry, model, id, actor).catch(() => undefined)),
  );
  const titles = first.filter((loaded) => loaded !== undefined).map(({ values }) => titleOf(model, values));
  const rest = ids.length - shownMax;
  return html`<ul class="counts">${titles.map((title) => html`<li>${title}</li>`)}${rest > 0 && html`<li class="muted">and ${formatNumber(rest)} more</li>`}</ul>`;
}

const shownMax = 10;

function countOf({ model }: ModelVisit, number: number): string {
  return count(number, model.label, model.plural);
}

/** Returns the objects that a deletion also deletes, keeps without a reference, or fails on. */
async function consequences(
  context: ModelVisit,
  selection: Selection,
  what: string,
): Promise<{ text: Html; isPossible: boolean }> {
  const found = await dependents(context.registry, context.model, selection);
  const known = found.filter(({ words }) => words !== undefined);
  const gone = known.filter(({ effect }) => effect === 'cascade');
  const cleared = known.filter(({ effect }) => effect === 'clear');
  const problems = problemsOf(context, found);
  return {
    isPossible: problems.length === 0,
    text: html`${problems.map((text) => notice('bad', text))}<p>This deletes ${what}${gone.length > 0 ? ', and with it:' : '. Nothing else is deleted.'}</p>
${gone.length > 0 && html`<ul class="counts">${gone.map(line)}</ul>`}
${cleared.length > 0 && html`<p>These stay, but no longer refer to it:</p><ul class="counts">${cleared.map(line)}</ul>`}`,
  };
}

function line({ words, count: number }: Dependent): Content {
  return html`<li>${count(number, ...(words ?? internals))}</li>`;
}

/** Words for blocking rows of tables that have no name for readers. */
const internals = ['further row', 'further rows'] as const;

/** Reasons against a deletion: what refers to the objects, and what the user may not delete. */
function problemsOf({ user }: ModelVisit, found: readonly Dependent[]): string[] {
  const refused = found.filter(({ effect }) => effect === 'refuse');
  const forbidden = found.filter(
    ({ effect, model }) => effect === 'cascade' && model && !user.permissions.may(model.path, 'delete'),
  );
  return [
    ...refused.map(
      ({ count: number, words = internals }) =>
        `${capitalized(words[1])} still refer to it (${formatNumber(number)}): delete them first.`,
    ),
    ...forbidden.map(({ words = internals }) => `You do not have permission to delete ${words[1]}.`),
  ];
}

async function checkPossible(context: ModelVisit, selection: Selection): Promise<void> {
  const [problem] = problemsOf(context, await dependents(context.registry, context.model, selection));
  if (problem !== undefined) throw new AppError('conflict', problem);
}

function refusalOf(error: unknown): { message: string; status: number } {
  if (
    !(error instanceof AppError) ||
    !['conflict', 'forbidden', 'validation_failed', 'invalid_input'].includes(error.code)
  )
    throw error;
  const text = `${capitalized(error.message)}${/[.!?]$/.test(error.message) ? '' : '.'}`;
  return { message: text, status: error.code === 'forbidden' ? 403 : 409 };
}
