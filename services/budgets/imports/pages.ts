import { AppError } from '#kit/base/errors.ts';
import type { FormProblem } from '#kit/html/components/form-problem.ts';
import { csrfFieldName } from '#kit/html/pages/csrf.ts';
import type { PageRoutes } from '#kit/html/pages/pages.ts';
import { mappingIn } from '#kit/imports/views.ts';
import { getBudget, listBudgets } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { rulesToApply } from '../rules/index.ts';
import {
  callerWithIdempotencyKey,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  type Visitor,
} from '../site/page-context.ts';
import { hrefWith } from '../site/views.ts';
import {
  abandonUpload,
  beginUpload,
  completeUpload,
  readTaskFile,
  requireUpload,
  type Tasks,
} from '../tasks/index.ts';
import { bestReading, guessColumns, importFields, type Mapping } from './formats/guess.ts';
import { columnNames, formatOf, unreadable } from './formats/parser.ts';
import { type ImportFormat, rowFields } from './formats/row.ts';
import { parseImportRequest } from './import.ts';
import type { FileHead, Imports } from './imports.ts';
import { previewPage, uploadPage } from './pages-views.ts';
import { fieldBytesMax, fileBytesMax, receiveTaskFile } from './upload.ts';

export interface ImportPagesParts extends PageParts {
  readonly tasks: Tasks;
  readonly imports: Imports;
}

const budgetsMax = 500;

/** A file is uploaded, then previewed with a mapping until it fits, then imported by a task. */
export function addImportPages(routes: PageRoutes<PageSession>, parts: ImportPagesParts): void {
  const { core, visitors: access } = parts;
  const showUpload = async (visitor: Visitor, problem?: FormProblem) => {
    const { items: budgets } = await listBudgets(core, visitor.caller, { limit: budgetsMax });
    return uploadPage(visitor, { budgets, budgetId: parameter(visitor.visit, 'budget'), problem });
  };
  routes.get(pageRoutes.import, { access }, (visitor) => showUpload(visitor));
  routes.post(
    pageRoutes.import,
    { access, accepts: 'multipart/form-data', bodyBytesMax: fileBytesMax + fieldBytesMax },
    (visitor) =>
      submit(visitor.visit, {
        work: () => receive(visitor, parts),
        done: (href) => visitor.visit.redirect(href),
        again: (problem) => showUpload(visitor, problem),
      }),
  );
  routes.get(pageRoutes.importPreview, { access }, (visitor) => showPreview(visitor, parts));
  routes.post(pageRoutes.importPreview, { access }, (visitor) => decide(visitor, parts));
}

/** Keeps the file, and returns the address of its preview. */
async function receive({ visit, caller }: Visitor, { core }: ImportPagesParts): Promise<string> {
  const id = await beginUpload(core, caller, 'import');
  try {
    const onFile = (fields: Readonly<Record<string, unknown>>) => visit.checkToken(fields[csrfFieldName]);
    const { fields, fileName } = await receiveTaskFile(
      visit.request,
      { core },
      { caller, taskId: id, onFile },
    );
    const { bytes } = await headOf(core, caller.owner, id);
    const format = formatOf(bytes);
    if (!format) throw unreadable('is empty, or of no kind that can be read: CSV, OFX or QIF');
    const budget = String(fields.budget ?? '');
    await getBudget(core, caller, budget);
    return hrefWith(pathOf(pageRoutes.importPreview, id), { format, budget, name: fileName.slice(0, 200) });
  } catch (error) {
    await abandonUpload(core, caller, id);
    throw shownOnForm(error);
  }
}

/** A file that cannot be read is chosen again. */
function shownOnForm(error: unknown): unknown {
  if (!(error instanceof AppError) || (error.code !== 'unprocessable' && error.code !== 'too_large'))
    return error;
  return new AppError('validation_failed', error.message, { fields: { file: error.message } });
}

async function headOf(core: PageParts['core'], owner: number, taskId: string): Promise<FileHead> {
  const [first, second] = await Array.fromAsync(
    firstTwo(readTaskFile(core, { owner, taskId, name: 'input' })),
  );
  return { bytes: first ?? new Uint8Array(), isWhole: second === undefined };
}

async function* firstTwo<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  let left = 2;
  for await (const value of values) {
    yield value;
    left--;
    if (left === 0) return;
  }
}

async function showPreview(visitor: Visitor, { core, imports }: ImportPagesParts): Promise<string> {
  const { visit, caller } = visitor;
  const id = idOf(visit);
  await requireUpload(core, caller, id);
  const budget = await getBudget(core, caller, parameter(visit, 'budget'));
  const head = await headOf(core, caller.owner, id);
  const format = formatIn(parameter(visit, 'format'));
  const columns = format === 'csv' ? columnNames(head.bytes) : [];
  const mapping = mappingOf(visit, columns);
  const given = { sign: parameter(visit, 'sign'), dateFormat: parameter(visit, 'dateFormat') };
  const options = { format, mapping, currency: budget.currency };
  const { rows, sign, dateFormat } = await bestReading(imports, head, options, given);
  const rules = await rulesToApply(core.db, caller.owner);
  const plan = { format, mapping, sign, dateFormat, budgetId: budget.id, dryRun: true, sizeBytes: 0, rules };
  const result = await imports.preview(core, caller, { plan, rows });
  const categorized = new Set(
    rows.flatMap((row) => ('expense' in row && row.expense.category !== null ? row.line : [])),
  );
  const { isWhole } = head;
  const name = parameter(visit, 'name');
  return previewPage(visitor, { id, budget, plan, columns, result, categorized, isWhole, name });
}

/** Another preview, the import, or neither. */
async function decide(visitor: Visitor, { core, tasks, imports }: ImportPagesParts) {
  const { visit, caller } = visitor;
  const id = idOf(visit);
  if (visit.field('do') === 'cancel') {
    await requireUpload(core, caller, id);
    await abandonUpload(core, caller, id);
    return visit.redirect(pageRoutes.import);
  }
  const names = [
    'format',
    'budget',
    'name',
    'sign',
    'dateFormat',
    ...rowFields.map((field) => `map-${field}`),
  ];
  const fields = Object.fromEntries(names.map((name) => [name, visit.field(name)]));
  const preview = `${pathOf(pageRoutes.importPreview, id)}?${new URLSearchParams(fields)}`;
  if (visit.field('do') === 'preview') return visit.redirect(preview);
  const request = parseImportRequest({
    format: fields.format,
    budgetId: fields.budget,
    mapping: mappingIn(importFields, (name) => fields[name]),
    ...(fields.format === 'csv' && { sign: fields.sign }),
    ...(fields.dateFormat && { dateFormat: fields.dateFormat }),
  });
  const file = readTaskFile(core, { owner: caller.owner, taskId: id, name: 'input' });
  try {
    const input = await imports.plan(core, caller, request, file);
    const description = fields.name ? `Import of ${fields.name}` : null;
    const task = await completeUpload(tasks, callerWithIdempotencyKey(visitor), id, { input, description });
    return visit.redirect(pathOf(pageRoutes.task, task.id));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unprocessable') throw error;
    return visit.redirect(preview, { tone: 'bad', text: error.message });
  }
}

/** The columns that are chosen, else those that fit by their names. */
function mappingOf(visit: PageVisit, columns: readonly string[]): Mapping {
  const query = visit.request.query as Readonly<Record<string, string | undefined>>;
  const guessed = guessColumns(columns);
  const chosen = mappingIn(importFields, (name) => query[name]);
  if (!chosen) return guessed;
  const { spentOn, description, amount } = guessed;
  const known = Object.entries(chosen).filter(([, column]) => columns.includes(column));
  return { spentOn, description, amount, ...Object.fromEntries(known) };
}

function formatIn(text: string): ImportFormat {
  return text === 'ofx' || text === 'qif' ? text : 'csv';
}
