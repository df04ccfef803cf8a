import { isUtf8 } from 'node:buffer';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { card, linkButton, notice, stats } from '../html/blocks.ts';
import { csrfFieldName } from '../html/csrf.ts';
import { field } from '../html/form.ts';
import { count, formatNumber } from '../html/format.ts';
import { type Content, type Html, html } from '../html/html.ts';
import { table } from '../html/table.ts';
import { newSecret } from '../ids.ts';
import { adminPage, capitalized, demand, type ModelVisit } from './context.ts';
import {
  type ImportPlan,
  importAll,
  importRowsMax,
  type PlannedChange,
  planImport,
  readImport,
} from './import.ts';
import type { TableModel } from './model.ts';
import { canImport, fileColumns } from './site.ts';

/** A file has at most so many bytes. */
export const importBytesMax = 5 * 1024 * 1024;
const lifetimeMs = 60 * 60_000;
const shownMax = 50;

/** The form that takes a file. */
export async function importPage(context: ModelVisit, problem?: string): Promise<string> {
  const model = importable(context);
  const frame = context.frame();
  const columns = fileColumns(model);
  return adminPage(frame, {
    title: `Import ${model.plural}`,
    parent: { href: `/admin/${model.path}/`, label: capitalized(model.plural) },
    main: html`${problem && notice('bad', problem, { title: 'Nothing was imported' })}<form class="stack object" method="post" action="/admin/${model.path}/import/" enctype="multipart/form-data">${frame.csrfField}
${card(
  undefined,
  html`<div class="form">${field({ name: 'file', label: 'File', type: 'file', help: `CSV or JSON, in UTF-8, at most ${formatNumber(importRowsMax)} rows and 5 MB. You see what would happen before anything is saved.`, attributes: { accept: '.csv,.json,text/csv,application/json', required: true } })}
<div><p>The columns are ${columns.map((name, index) => html`${index > 0 && ', '}<code>${name}</code>`)}. Rows with <code>${model.key}</code> change that ${model.label}, rows without add one. An export has the same columns.</p></div>
<div class="actions"><button>Preview</button></div></div>`,
)}</form>`,
  });
}

/** What the file would add and change, with a button that does it. */
export async function previewImport(context: ModelVisit): Promise<string> {
  const model = importable(context);
  const { site, actor, visit } = context;
  try {
    const { name, content } = await readUpload(context);
    const plan = await planImport(site, model, readImport(model, name, content), actor);
    const upload = plan.errors.length === 0 ? await keepUpload(context, { name, content }) : undefined;
    if (plan.errors.length > 0) visit.reply.code(422);
    return previewPage(context, plan, upload);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    visit.reply.code(422);
    return importPage(context, error.message);
  }
}

/** Imports the file that was previewed. */
export async function confirmImport(context: ModelVisit): Promise<string | FastifyReply> {
  const model = importable(context);
  const { site, actor, visit } = context;
  const upload = await takeUpload(context);
  if (!upload) {
    visit.reply.code(409);
    return importPage(context, 'This file was imported already, or its preview is older than an hour.');
  }
  try {
    const plan = await importAll(site, model, readImport(model, upload.name, upload.content), actor);
    const text = `${capitalized(summaryOf(model, plan))}.`;
    return visit.redirect(`/admin/${model.path}/`, { tone: 'good', text });
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    visit.reply.code(409);
    return importPage(context, error.message);
  }
}

function importable(context: ModelVisit): TableModel {
  demand(context, 'add');
  demand(context, 'change');
  const { model } = context;
  if (!canImport(model)) throw new AppError('not_found', `${capitalized(model.plural)} cannot be imported.`);
  return model;
}

async function readUpload({ visit }: ModelVisit): Promise<{ name: string; content: string }> {
  let isChecked = false;
  for await (const part of visit.request.parts({ limits: { fileSize: importBytesMax } })) {
    if (part.type === 'field' && part.fieldname === csrfFieldName) {
      visit.checkToken(part.value);
      isChecked = true;
    }
    if (part.type !== 'file') continue;
    if (!isChecked) visit.checkToken(undefined);
    const bytes = await part.toBuffer();
    if (part.filename) return { name: part.filename.replaceAll('\0', ''), content: textOf(bytes) };
  }
  throw new AppError('invalid_input', 'Choose a file first.');
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes) || bytes.includes(0)) throw new AppError('invalid_input', 'The file is not UTF-8 text.');
  return bytes.toString('utf8');
}

async function keepUpload(
  { site, model, user }: ModelVisit,
  { name, content }: { name: string; content: string },
): Promise<string> {
  const id = newSecret();
  const nowMs = site.clock.now();
  await site.database.write(async ({ kysely }) => {
    await kysely.deleteFrom('admin_upload').where('expires_at_ms', '<=', nowMs).execute();
    const row = { id, user_id: user.id, model: model.path, name, content, expires_at_ms: nowMs + lifetimeMs };
    await kysely.insertInto('admin_upload').values(row).execute();
  });
  return id;
}

/** Takes the file away, so that sending the form twice imports it once. */
async function takeUpload({ site, model, user, visit }: ModelVisit) {
  return site.database.kysely
    .deleteFrom('admin_upload')
    .where('id', '=', visit.field('upload').replaceAll('\0', ''))
    .where('user_id', '=', user.id)
    .where('model', '=', model.path)
    .where('expires_at_ms', '>', site.clock.now())
    .returning(['name', 'content'])
    .executeTakeFirst();
}

function previewPage(context: ModelVisit, plan: ImportPlan, upload: string | undefined): string {
  const model = importable(context);
  const frame = context.frame();
  const base = `/admin/${model.path}`;
  const tiles = stats([
    { label: 'Added', value: formatNumber(plan.added) },
    { label: 'Changed', value: formatNumber(plan.changes.length) },
    { label: 'Not changed', value: formatNumber(plan.unchanged) },
    { label: 'Wrong', value: formatNumber(plan.errors.length) },
  ]);
  const hasWork = plan.added + plan.changes.length > 0;
  return adminPage(frame, {
    title: `Import ${model.plural}?`,
    lead: 'Nothing has been saved yet.',
    parent: { href: `${base}/import/`, label: 'Choose another file' },
    main: html`${tiles}${plan.errors.length > 0 && errorTable(plan)}${plan.changes.length > 0 && changeTable(plan.changes)}
${
  upload !== undefined &&
  hasWork &&
  html`<form class="stack" method="post" action="${base}/import/confirm/">${frame.csrfField}<input type="hidden" name="upload" value="${upload}">
<div class="actions"><button>Import: ${summaryOf(model, plan)}</button>${linkButton(`${base}/`, 'Go back')}</div></form>`
}
${upload !== undefined && !hasWork && notice('info', 'The file holds what is stored already.')}`,
  });
}

function summaryOf(model: TableModel, { added, changes }: ImportPlan): string {
  const parts = [
    ...(added > 0 ? [`${count(added, model.label, model.plural)} added`] : []),
    ...(changes.length > 0 ? [`${count(changes.length, model.label, model.plural)} changed`] : []),
  ];
  return parts.join(', ') || 'nothing changed';
}

function errorTable({ errors }: ImportPlan): Html {
  const rows = table({
    caption: 'Rows that are wrong',
    isSmall: true,
    columns: [
      { header: 'Row', kind: 'number', cell: ({ row }: ImportPlan['errors'][number]) => String(row) },
      { header: 'Problem', cell: ({ message }) => message },
    ],
    rows: errors,
  });
  return html`${notice('bad', 'Correct the file and choose it again. A file is imported as a whole or not at all.', { title: 'The file cannot be imported' })}
<section class="card">${rows}</section>`;
}

function changeTable(changes: readonly PlannedChange[]): Html {
  const lines = ({ fields }: PlannedChange): Content =>
    html`<ul class="changes">${fields.map(({ label, from, to }) => html`<li>${label}: <del>${from || '—'}</del> <span aria-hidden="true">→</span> <ins>${to || '—'}</ins></li>`)}</ul>`;
  const rows = table({
    caption: 'What would change',
    columns: [
      { header: 'ID', kind: 'fit', cell: ({ id }: PlannedChange) => id },
      { header: 'Name', cell: ({ title }) => title },
      { header: 'Changes', cell: lines },
    ],
    rows: changes.slice(0, shownMax),
  });
  const rest = changes.length - shownMax;
  return html`<section class="card">${rows}${rest > 0 && html`<p class="muted">And ${formatNumber(rest)} more.</p>`}</section>`;
}
