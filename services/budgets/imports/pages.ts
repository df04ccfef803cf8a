import { AppError } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import { readerLocale } from '@octavo/web/html';
import { FileText } from '@octavo/web/imports';
import type { PageRoutes } from '@octavo/web/pages';
import { csrfFieldName } from '@octavo/web/pages';
import { getBudget, listBudgets } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { rulesToApply } from '../rules/index.ts';
import {
  callerWithIdempotencyKey,
  idOf,
  type PageParts,
  type PageSession,
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
import { type Mapping, type Reading, type ReadOptions, rowFields } from './formats/reading.ts';
import { ImportRequest, parseImportRequest } from './import.ts';
import type { FileHead, Imports } from './imports.ts';
import { previewPage, uploadPage } from './pages-views.ts';
import { fieldBytesMax, fieldValue, fileBytesMax, receiveTaskFile } from './upload.ts';

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
async function receive({ visit, caller }: Visitor, { core, imports }: ImportPagesParts): Promise<string> {
  const id = await beginUpload(core, caller, 'import');
  try {
    const onFile = (fields: Readonly<Record<string, unknown>>) => visit.checkToken(fields[csrfFieldName]);
    const { fields, fileName } = await receiveTaskFile(
      visit.request,
      { core },
      { caller, taskId: id, onFile },
    );
    const budget = await getBudget(core, caller, String(fields.budget ?? ''));
    const head = await headOf(core, caller.owner, id);
    await imports.survey(one(head.bytes), { currency: budget.currency, guesses: true });
    const query = { budget: budget.id, name: fileName.slice(0, 200) };
    return hrefWith(pathOf(pageRoutes.importPreview, id), query);
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
  const query = visit.request.query as Readonly<Record<string, string | undefined>>;
  const options = { ...optionsIn((name) => query[name]), currency: budget.currency, guesses: true };
  const reading = await imports.survey(one(head.bytes), { ...options, locale: readerLocale() });
  const rows = await imports.parseHead(head, reading);
  const rules = await rulesToApply(core.db, caller.owner);
  const plan = { reading, budgetId: budget.id, dryRun: true, sizeBytes: 0, rules };
  const result = await imports.preview(core, caller, { plan, rows });
  const categorized = new Set(
    rows.flatMap((row) => ('expense' in row && row.expense.category !== null ? row.line : [])),
  );
  const { isWhole } = head;
  const name = parameter(visit, 'name');
  const lines = firstLines(head, reading);
  return previewPage(visitor, { id, budget, plan, lines, result, categorized, isWhole, name });
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
  const names = ['budget', 'name', ...optionNames, ...rowFields.map((field) => `map-${field}`)];
  const sent = names.map((name) => [name, visit.field(name)] as const).filter(([, text]) => text !== '');
  const fields: Readonly<Record<string, string | undefined>> = Object.fromEntries(sent);
  const preview = hrefWith(pathOf(pageRoutes.importPreview, id), Object.fromEntries(sent));
  if (visit.field('do') === 'preview') return visit.redirect(preview);
  const options = optionsIn((name) => fields[name]);
  const request = parseImportRequest({ budgetId: fields.budget, ...options });
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

/** The fields of the form that say how the file is read. */
const optionNames = Object.keys(ImportRequest.properties).filter(
  (name) => !['budgetId', 'mapping', 'dryRun', 'description'].includes(name),
);

/** The choices of the form; none when it was not sent yet. */
function optionsIn(sentAs: (name: string) => string | undefined): ReadOptions {
  const options = optionNames.flatMap((name) => {
    const text = sentAs(name);
    return text === undefined || text === '' ? [] : [[name, fieldValue(name, text)]];
  });
  const chosen = rowFields.map((field) => [field, sentAs(`map-${field}`) || []] as const);
  const mapping: Mapping = Object.fromEntries(chosen);
  const isMapped = chosen.some(([, column]) => typeof column === 'string');
  return { ...Object.fromEntries(options), ...(isMapped && { mapping }) };
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const shownLines = 30;

/** The first lines of a file as they stand. */
function firstLines({ bytes }: FileHead, { encoding }: Reading): string[] {
  const lines = new FileText(encoding).read(bytes).split('\n', shownLines);
  return lines.map((line) => line.slice(0, 300));
}
