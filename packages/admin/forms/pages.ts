import { AppError, type Fields, notFound } from '@octavo/core';
import { type Content, errorSummary, formProblem, html, linkButton, notice } from '@octavo/web/html';
import type { FastifyReply } from 'fastify';
import { adminPage, capitalized, demand, type ModelVisit, queryOf } from '../context.ts';
import { keepingList, listOf } from '../lists/list-link.ts';
import type { ReadObject } from '../model.ts';
import { idOf, titleOf } from '../registry.ts';
import { findObject, getObject, saveChange } from '../table/objects.ts';
import type { SaveOutcome } from '../table/save.ts';
import { formatVersions, type Loaded } from '../table/versions.ts';
import { conflictView } from './conflict-view.ts';
import { type FormContext, type FormState, initialState, readForm } from './form.ts';
import { addableModels, addingFields, addingFor, addressOf, picked, windowPage } from './related.ts';
import { formFields, labelsOf, loadMenus } from './view.ts';

/** The form that adds an object. */
export async function addPage(context: ModelVisit): Promise<string> {
  demand(context, 'add');
  const form = formContext(context, undefined);
  return formPage(context, form, { state: initialState(form, queryOf(context)) });
}

/** The form of an object; for those who may only view it, without controls. */
export async function changePage(context: ModelVisit, id: string): Promise<string> {
  const loaded = await getObject(context.registry, context.model, id, context.actor);
  const form = formContext(context, loaded);
  return formPage(context, form, { state: initialState(form, queryOf(context)) });
}

/** Adds an object, or shows the form again with its errors. */
export function add(context: ModelVisit): Promise<string | FastifyReply> {
  demand(context, 'add');
  return save(context, undefined, undefined);
}

/** Changes an object. */
export async function change(context: ModelVisit, id: string): Promise<string | FastifyReply> {
  demand(context, 'change');
  const loaded = await getObject(context.registry, context.model, id, context.actor);
  return save(context, id, loaded);
}

function formContext({ registry, model, user }: ModelVisit, loaded: Loaded | undefined): FormContext {
  return { registry, model, user, loaded };
}

async function save(
  context: ModelVisit,
  id: string | undefined,
  loaded: Loaded | undefined,
): Promise<string | FastifyReply> {
  const { registry, model, visit, actor } = context;
  const form = formContext(context, loaded);
  const { state, change: submitted } = readForm(form, visit);
  if (Object.keys(state.errors).length > 0) return showErrors(context, form, { state, status: 422 });
  try {
    const outcome = await saveChange(registry, model, { ...submitted, id }, actor);
    if (outcome.kind === 'saved') return saved(context, outcome, id);
    if (outcome.kind === 'gone') throw notFound(model.label, id ?? '');
    visit.reply.code(409);
    const current = formContext(context, outcome.current);
    const conflict = await conflictView(context, current, state);
    return formPage(context, current, conflict);
  } catch (error) {
    const { status, errors, problem } = formProblem(error, {});
    const fields = error instanceof AppError && Object.keys(error.fields).length > 0 ? error.fields : errors;
    return showErrors(context, form, { state: { ...state, errors: fields }, status, problem });
  }
}

function showErrors(
  context: ModelVisit,
  form: FormContext,
  { state, status, problem }: { state: FormState; status: number; problem?: string | undefined },
): Promise<string> {
  context.visit.reply.code(status);
  const isFieldless = Object.keys(state.errors).length === 0;
  const message =
    isFieldless && problem ? notice('bad', problem, { title: 'Nothing has been saved yet' }) : undefined;
  return formPage(context, form, { state, message });
}

function saved(
  context: ModelVisit,
  outcome: SaveOutcome & { kind: 'saved' },
  id: string | undefined,
): FastifyReply {
  const { model, visit, may } = context;
  const base = `/admin/${model.path}`;
  const object = `${base}/${encodeURIComponent(outcome.id)}/change/`;
  const verb = id === undefined ? 'added' : outcome.isChanged ? 'changed' : 'not changed';
  const text = `The ${model.label} “${outcome.title}” was ${verb}.`;
  const adding = id === undefined ? addingFor(context) : undefined;
  if (adding) return picked(context, adding, { id: outcome.id, text });
  const next = visit.field('_continue')
    ? keepingList(context, object)
    : visit.field('_addanother') && may.add
      ? keepingList(context, `${base}/add/`)
      : listOf(context);
  return visit.redirect(next, { tone: outcome.isChanged ? 'good' : 'info', text });
}

interface FormView {
  readonly state: FormState;
  readonly message?: Content;
}

async function formPage(
  context: ModelVisit,
  form: FormContext,
  { state, message }: FormView,
): Promise<string> {
  const { model, may } = context;
  const { loaded } = form;
  const isEditable = loaded ? may.change : may.add;
  const id = loaded && encodeURIComponent(idOf(model, loaded.values));
  const base = `/admin/${model.path}`;
  const adding = loaded ? undefined : addingFor(context);
  const address = id === undefined ? `${base}/add/` : `${base}/${id}/change/`;
  const action = adding ? address : keepingList(context, address);
  const add = { models: addableModels(context), back: addressOf(action, adding) };
  const menus = await loadMenus(form, state);
  const frame = context.frame();
  const fields = formFields(form, state, { menus, isEditable, add });
  const problems = html`${message}${errorSummary(state.errors as Fields, labelsOf(form, state))}`;
  if (adding) {
    const back = linkButton(adding.back, 'Go back', 'quiet');
    const main = html`${problems}<form class="stack object" method="post" action="${action}" novalidate>${frame.csrfField}${addingFields(adding)}${fields}
<div class="card save"><button name="_save" value="1">Save</button>${!adding.isWindow && back}</div></form>`;
    const title = `Add ${model.label}`;
    return adding.isWindow ? windowPage(frame, title, main) : adminPage(frame, { title, main });
  }
  return adminPage(frame, {
    title: loaded ? titleOf(model, loaded.values) : `Add ${model.label}`,
    parent: { href: listOf(context), label: capitalized(model.plural) },
    ...(loaded && { actions: await objectLinks(context, loaded) }),
    main: isEditable
      ? html`${problems}
<form class="stack object" method="post" action="${action}" novalidate>${frame.csrfField}${loaded && versionFields(state, form.registry.clock.now())}${fields}
<div class="card save"><button name="_save" value="1">Save</button>${may.add && html`<button class="secondary" name="_addanother" value="1">Save and add another</button>`}
<button class="secondary" name="_continue" value="1">Save and continue editing</button>${id !== undefined && may.delete && html`<a class="button quiet remove" href="${keepingList(context, `${base}/${id}/delete/`)}">Delete</a>`}</div></form>`
      : html`${notice('info', viewOnly(model))}<div class="stack object">${fields}</div>`,
  });
}

/** Message for objects that cannot be changed here, or not by this user. */
function viewOnly({ plural, can }: ModelVisit['model']): string {
  return can?.change !== false
    ? `You may view ${plural} but not change them.`
    : `${capitalized(plural)} are not changed here.`;
}

/** Renders the versions that the form was loaded with, so that changes by others are noticed. */
function versionFields({ versions }: FormState, nowMs: number): Content {
  return html`<input type="hidden" name="_version" value="${formatVersions(versions)}"><input type="hidden" name="_loaded_at" value="${nowMs}">`;
}

async function objectLinks(context: ModelVisit, { values }: Loaded): Promise<Content> {
  const { registry, model, user, actor } = context;
  const base = `/admin/${model.path}/${encodeURIComponent(idOf(model, values))}`;
  const forms = Object.entries(model.forms ?? {})
    .filter(([, { needs = 'change' }]) => user.permissions.may(model.path, needs))
    .map(([name, { label }]) => linkButton(keepingList(context, `${base}/${name}/`), label, 'quiet'));
  const read: ReadObject = async (path, key) =>
    (await findObject(registry, registry.model(path), String(key), actor))?.values;
  const links = (await model.links?.(values, read)) ?? [];
  return html`${links.map(({ href, label }) => linkButton(href, label, 'quiet'))}${forms}${linkButton(keepingList(context, `${base}/history/`), 'History')}`;
}
