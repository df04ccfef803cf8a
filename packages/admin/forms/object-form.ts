import { AppError, type Fields, notFound } from '@octavo/core';
import { card, errorSummary, formProblem, html, linkButton, notice } from '@octavo/web/html';
import type { FastifyReply } from 'fastify';
import { recordChanges } from '../changes/history.ts';
import { adminPage, type ModelVisit } from '../context.ts';
import type { Value } from '../field.ts';
import { keepingList } from '../lists/list-link.ts';
import type { ObjectForm } from '../model.ts';
import { titleOf } from '../registry.ts';
import { getObject } from '../table/objects.ts';
import { controlText } from './form.ts';
import { fieldControl } from './view.ts';

/** A further form on an object, such as the one that sets a password. */
export async function objectFormPage(context: ModelVisit, id: string): Promise<string> {
  const { form } = formOf(context);
  const nowMs = context.registry.clock.now();
  const texts = Object.entries(form.fields).map(([name, field]) => [
    name,
    controlText(field, field.initial(nowMs)),
  ]);
  return page(context, id, { texts: Object.fromEntries(texts), errors: {} });
}

/** Submits the form, or shows it again with its errors. */
export async function submitObjectForm(context: ModelVisit, id: string): Promise<string | FastifyReply> {
  const { registry, model, visit, actor } = context;
  const { form } = formOf(context);
  const { values: object } = await getObject(registry, model, id, actor);
  const errors: Record<string, string> = {};
  const values: Record<string, Value> = {};
  for (const [name, field] of Object.entries(form.fields)) {
    const parsed = field.parse(visit.field(name));
    if ('problem' in parsed) errors[name] = parsed.problem;
    else values[name] = parsed.value;
  }
  try {
    if (Object.keys(errors).length > 0)
      throw new AppError('validation_failed', 'Some fields are wrong.', { fields: errors });
    const text = await form.submit(id, values, actor);
    if (form.recordedAs) {
      const entry = {
        model: model.path,
        id,
        title: titleOf(model, object),
        action: form.recordedAs,
        fields: [],
      };
      await recordChanges(registry.database, [entry], {
        user: actor.user,
        nowMs: registry.clock.now(),
        via: 'admin',
      });
    }
    return visit.redirect(keepingList(context, `/admin/${model.path}/${encodeURIComponent(id)}/change/`), {
      tone: 'good',
      text,
    });
  } catch (error) {
    const { status, problem } = formProblem(error, {});
    visit.reply.code(status);
    const named = error instanceof AppError ? error.fields : {};
    const isNamed = Object.keys(named).length > 0;
    const texts = Object.fromEntries(Object.keys(form.fields).map((name) => [name, visit.field(name)]));
    return page(context, id, { texts, errors: named, ...(!isNamed && problem && { problem }) });
  }
}

function formOf({ model, user, visit }: ModelVisit): { name: string; form: ObjectForm } {
  const { form: name = '' } = visit.request.params as Record<string, string>;
  const form = Object.hasOwn(model.forms ?? {}, name) ? model.forms?.[name] : undefined;
  if (!form) throw notFound('the page', visit.request.url);
  if (!user.permissions.may(model.path, form.needs ?? 'change'))
    throw new AppError(
      'forbidden',
      `You do not have permission to ${form.needs ?? 'change'} ${model.plural}.`,
    );
  return { name, form };
}

async function page(
  context: ModelVisit,
  id: string,
  { texts, errors, problem }: { texts: Record<string, string>; errors: Fields; problem?: string },
): Promise<string> {
  const { registry, model, actor } = context;
  const { name, form } = formOf(context);
  const { values } = await getObject(registry, model, id, actor);
  const frame = context.frame();
  const object = `/admin/${model.path}/${encodeURIComponent(id)}`;
  const back = keepingList(context, `${object}/change/`);
  const labels = Object.fromEntries(Object.entries(form.fields).map(([each, { label }]) => [each, label]));
  const controls = Object.entries(form.fields).map(([each, field]) =>
    fieldControl({ name: each, field, label: field.label }, { texts, errors }),
  );
  return adminPage(frame, {
    title: form.label,
    parent: { href: back, label: titleOf(model, values) },
    main: html`${problem && notice('bad', problem)}${errorSummary(errors, labels)}
<form class="stack object" method="post" action="${keepingList(context, `${object}/${name}/`)}" novalidate>${frame.csrfField}${card(undefined, html`<div class="form">${form.help && html`<p>${form.help}</p>`}${controls}<div class="actions"><button>${form.label}</button>${linkButton(back, 'Go back', 'quiet')}</div></div>`)}</form>`,
  });
}
