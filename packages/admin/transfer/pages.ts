import { AppError, newSecret } from '@octavo/core';
import {
  type Content,
  count,
  formatNumber,
  type Html,
  html,
  linkButton,
  notice,
  stats,
  table,
} from '@octavo/web/html';
import { encodingField, encodingIn, fileForm, problemTable, receiveUpload } from '@octavo/web/import-pages';
import { aboveNote, lettersNote, textOfFile } from '@octavo/web/imports';
import { csrfFieldName } from '@octavo/web/pages';
import type { FastifyReply } from 'fastify';
import { adminPage, capitalized, demand, type ModelVisit } from '../context.ts';
import type { TableModel } from '../model.ts';
import { changesList } from '../pages/history.ts';
import { canImport, fileColumns } from '../registry.ts';
import {
  columnLabel,
  type ImportPlan,
  importAll,
  importRowsMax,
  type PlannedChange,
  planImport,
  plannedShown,
  readImport,
} from './import.ts';

export const importBytesMax = 5 * 1024 * 1024;
const lifetimeMs = 60 * 60_000;

/** The form that takes a file. */
export async function importPage(context: ModelVisit, problem?: string): Promise<string> {
  const model = importable(context);
  const frame = context.frame();
  const columns = fileColumns(model);
  return adminPage(frame, {
    title: `Import ${model.plural}`,
    modules: ['imports.js'],
    parent: { href: `/admin/${model.path}/`, label: capitalized(model.plural) },
    main: html`${problem && notice('bad', problem, { title: 'Nothing was imported' })}${fileForm({
      action: `/admin/${model.path}/import/`,
      csrfField: frame.csrfField,
      label: 'File',
      fields: encodingField(),
      help: html`CSV or JSON, at most ${formatNumber(importRowsMax)} rows and 5 MB. You see what would happen before anything is saved.
The columns are ${columns.map((name, index) => html`${index > 0 && ', '}<code>${columnLabel(model, name)}</code>`)}, by these names or those of an export. Columns with a default may be missing. Rows with <code>${columnLabel(model, model.key)}</code> change that ${model.label}, rows without add one.`,
      accept: '.csv,.json,text/csv,application/json',
      bytesMax: importBytesMax,
    })}`,
  });
}

/** Renders the rows that the file would add and change, with a button that imports them. */
export async function previewImport(context: ModelVisit): Promise<string> {
  const model = importable(context);
  const { registry, actor, visit } = context;
  try {
    const { name, content, note } = await readUpload(context);
    const file = readImport(model, name, content);
    const plan = await planImport(registry, model, file, actor);
    const upload = plan.errors.length === 0 ? await keepUpload(context, { name, content }) : undefined;
    if (plan.errors.length > 0) visit.reply.code(422);
    return previewPage(context, plan, { upload, notes: [note, aboveNote(file.above)] });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_input') throw error;
    visit.reply.code(422);
    return importPage(context, error.message);
  }
}

/** Imports the file that was previewed. */
export async function confirmImport(context: ModelVisit): Promise<string | FastifyReply> {
  const model = importable(context);
  const { registry, actor, visit } = context;
  const upload = await takeUpload(context);
  if (!upload) {
    visit.reply.code(409);
    return importPage(context, 'This file was imported already, or its preview is older than an hour.');
  }
  try {
    const plan = await importAll(registry, model, readImport(model, upload.name, upload.content), actor);
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

async function readUpload({
  visit,
}: ModelVisit): Promise<{ name: string; content: string; note: string | undefined }> {
  let encoding: string | undefined;
  const { file } = await receiveUpload(visit.request, {
    bytesMax: importBytesMax,
    onFile: (fields) => {
      visit.checkToken(fields[csrfFieldName]);
      encoding = encodingIn(fields.encoding);
    },
    keep: async (chunks, name) => {
      const { text: content, letters } = textOfFile(Buffer.concat(await Array.fromAsync(chunks)), encoding);
      return { name, content, note: encoding === undefined ? lettersNote(letters) : undefined };
    },
  });
  if (!file) throw new AppError('invalid_input', 'Choose a file first.');
  return file;
}

async function keepUpload(
  { registry, model, user }: ModelVisit,
  { name, content }: { name: string; content: string },
): Promise<string> {
  const id = newSecret();
  const nowMs = registry.clock.now();
  await registry.database.write(async ({ kysely }) => {
    await kysely.deleteFrom('admin_upload').where('expires_at_ms', '<=', nowMs).execute();
    const row = { id, user_id: user.id, model: model.path, name, content, expires_at_ms: nowMs + lifetimeMs };
    await kysely.insertInto('admin_upload').values(row).execute();
  });
  return id;
}

/** Takes the file away, so that sending the form twice imports it once. */
async function takeUpload({ registry, model, user, visit }: ModelVisit) {
  return registry.database.kysely
    .deleteFrom('admin_upload')
    .where('id', '=', visit.field('upload').replaceAll('\0', ''))
    .where('user_id', '=', user.id)
    .where('model', '=', model.path)
    .where('expires_at_ms', '>', registry.clock.now())
    .returning(['name', 'content'])
    .executeTakeFirst();
}

interface Previewed {
  /** The upload that can be imported like this. */
  readonly upload: string | undefined;
  /** Sentences on how the file was read. */
  readonly notes: readonly (string | undefined)[];
}

function previewPage(context: ModelVisit, plan: ImportPlan, { upload, notes }: Previewed): string {
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
    styles: ['charts.css'],
    main: html`${notes.map((note) => note !== undefined && notice('info', note))}${tiles}${plan.errors.length > 0 && errorTable(plan)}${plan.errors.length === 0 && planned(plan)}
${
  upload !== undefined &&
  hasWork &&
  html`<form class="stack" method="post" action="${base}/import/confirm/">${frame.csrfField}<input type="hidden" name="upload" value="${upload}">
<div class="actions"><button>Import: ${summaryOf(model, plan)}</button>${linkButton(`${base}/`, 'Go back')}</div></form>`
}
${upload !== undefined && !hasWork && notice('info', 'The file matches the stored data, so there is nothing to import.')}`,
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
  return html`${notice('bad', 'Correct the file and choose it again. Files are imported as a whole or not at all.', { title: 'The file cannot be imported' })}
<section class="card">${problemTable('Rows with errors', errors)}</section>`;
}

/** Rows that would be added, then those that would be changed. */
function planned({ added, additions, changes }: ImportPlan): Content {
  return html`<div class="stack">${plannedTable({ caption: 'To be added', idHeader: 'Row', rows: additions, total: added })}
${plannedTable({ caption: 'To be changed', idHeader: 'ID', rows: changes.slice(0, plannedShown), total: changes.length })}</div>`;
}

interface PlannedTable {
  readonly caption: string;
  readonly idHeader: string;
  readonly rows: readonly PlannedChange[];
  readonly total: number;
}

function plannedTable({ caption, idHeader, rows, total }: PlannedTable): Content {
  if (total === 0) return undefined;
  const shown = table({
    caption,
    columns: [
      { header: idHeader, kind: 'fit', cell: ({ id }: PlannedChange) => id },
      { header: 'Name', cell: ({ title }) => title },
      { header: 'Fields', cell: ({ fields }) => changesList(fields) },
    ],
    rows,
  });
  const rest = total - rows.length;
  return html`<section class="card"><h2>${caption}</h2>${shown}${rest > 0 && html`<p class="muted">And ${formatNumber(rest)} more.</p>`}</section>`;
}
