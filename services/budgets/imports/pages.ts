import { AppError } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import { readerLocale } from '@octavo/web/html';
import { FileText } from '@octavo/web/imports';
import type { PageRoutes } from '@octavo/web/pages';
import { csrfFieldName } from '@octavo/web/pages';
import { type Budget, listBudgets } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { usualCurrency } from '../expenses/index.ts';
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
import { rememberedFor } from './mappings.ts';
import { previewPage, uploadPage } from './pages-views.ts';
import { currenciesOf } from './targets.ts';
import { fieldBytesMax, fieldValue, fileBytesMax, receiveTaskFile } from './upload.ts';

export interface ImportPagesParts extends PageParts {
  readonly tasks: Tasks;
  readonly imports: Imports;
}

const budgetsMax = 500;

/** A file is uploaded, then previewed with a mapping until it fits, then imported by a task. */
export function addImportPages(routes: PageRoutes<PageSession>, parts: ImportPagesParts): void {
  const { context, visitors: access } = parts;
  const showUpload = async (visitor: Visitor, problem?: FormProblem) => {
    const budgets = await targetsOf(context, visitor.caller);
    const currency = await usualCurrency(context, visitor.caller);
    return uploadPage(visitor, { budgets, budgetId: parameter(visitor.visit, 'budget'), currency, problem });
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

/** The budgets that rows may go to. */
async function targetsOf(context: Context, caller: Caller): Promise<Budget[]> {
  const { items } = await listBudgets(context, caller, { limit: budgetsMax });
  return items.filter(({ role }) => role !== 'viewer');
}

/** Keeps the file, and returns the address of its preview. */
async function receive({ visit, caller }: Visitor, { context, imports }: ImportPagesParts): Promise<string> {
  const id = await beginUpload(context, caller, 'import');
  try {
    const onFile = (fields: Readonly<Record<string, unknown>>) => visit.checkToken(fields[csrfFieldName]);
    const { fields, fileName } = await receiveTaskFile(
      visit.request,
      { context },
      { caller, taskId: id, onFile },
    );
    const target = targetOf((name) => fields[name]);
    const { currency, anyCurrency } = await currenciesOf(context, caller, target);
    const head = await headOf(context, caller.owner, id);
    await imports.survey(one(head.bytes), { currency, anyCurrency, guesses: true });
    const query = { budget: target.budgetId ?? '', currency, name: fileName.slice(0, 200) };
    return hrefWith(pathOf(pageRoutes.importPreview, id), query);
  } catch (error) {
    await abandonUpload(context, caller, id);
    throw shownOnForm(error);
  }
}

/** A file that cannot be read is chosen again. */
function shownOnForm(error: unknown): unknown {
  if (!(error instanceof AppError) || (error.code !== 'unprocessable' && error.code !== 'too_large'))
    return error;
  return new AppError('validation_failed', error.message, { fields: { file: error.message } });
}

async function headOf(context: PageParts['context'], owner: number, taskId: string): Promise<FileHead> {
  const [first, second] = await Array.fromAsync(
    firstTwo(readTaskFile(context, { owner, taskId, name: 'input' })),
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

async function showPreview(visitor: Visitor, { context, imports }: ImportPagesParts): Promise<string> {
  const { visit, caller } = visitor;
  const id = idOf(visit);
  await requireUpload(context, caller, id);
  const target = targetOf((name) => parameter(visit, name));
  const { currency, anyCurrency } = await currenciesOf(context, caller, target);
  const budgets = await targetsOf(context, caller);
  const head = await headOf(context, caller.owner, id);
  const query = visit.request.query as Readonly<Record<string, string | undefined>>;
  const sent = optionsIn((name) => query[name]);
  const choices = { currency, anyCurrency, guesses: true, locale: readerLocale() };
  const asGuessed = await imports.survey(one(head.bytes), { ...choices, ...sent });
  const remembered = sent.mapping ? undefined : await rememberedFor(context.db, caller.owner, asGuessed);
  const reading = remembered
    ? await imports.survey(one(head.bytes), { ...choices, ...remembered, ...sent })
    : asGuessed;
  const rows = await imports.parseHead(head, reading);
  const ruleSet = await rulesToApply(context.db, caller.owner);
  const match = query.match === 'none' ? ('none' as const) : ('auto' as const);
  const incomes = query.incomes === 'skip' ? ('skip' as const) : ('keep' as const);
  const plan = { reading, budgetId: target.budgetId, dryRun: true, match, incomes, sizeBytes: 0, ruleSet };
  const result = await imports.preview(context, caller, { plan, rows });
  const categorized = new Set(
    rows.flatMap((row) => ('expense' in row && row.expense.category !== null ? row.line : [])),
  );
  const { isWhole } = head;
  const name = parameter(visit, 'name');
  const lines = firstLines(head, reading);
  const isRemembered = remembered !== undefined;
  return previewPage(visitor, { id, budgets, plan, lines, result, categorized, isWhole, name, isRemembered });
}

/** Another preview, the import, or neither. */
async function decide(visitor: Visitor, { context, tasks, imports }: ImportPagesParts) {
  const { visit, caller } = visitor;
  const id = idOf(visit);
  if (visit.field('do') === 'cancel') {
    await requireUpload(context, caller, id);
    await abandonUpload(context, caller, id);
    return visit.redirect(pageRoutes.import);
  }
  const names = ['budget', 'currency', 'name', ...optionNames, ...rowFields.map((field) => `map-${field}`)];
  const sent = names.map((name) => [name, visit.field(name)] as const).filter(([, text]) => text !== '');
  const fields: Readonly<Record<string, string | undefined>> = Object.fromEntries(sent);
  const preview = hrefWith(pathOf(pageRoutes.importPreview, id), Object.fromEntries(sent));
  if (visit.field('do') === 'preview') return visit.redirect(preview);
  const options = optionsIn((name) => fields[name]);
  const request = parseImportRequest({ ...targetOf((name) => fields[name]), ...options });
  const file = readTaskFile(context, { owner: caller.owner, taskId: id, name: 'input' });
  try {
    const input = await imports.plan(context, caller, request, file);
    const description = fields.name ? `Import of ${fields.name}` : null;
    const task = await completeUpload(tasks, callerWithIdempotencyKey(visitor), id, { input, description });
    return visit.redirect(pathOf(pageRoutes.task, task.id));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unprocessable') throw error;
    return visit.redirect(preview, { tone: 'bad', text: error.message });
  }
}

/** The budget of an import, or the currency of one without. */
function targetOf(sentAs: (name: string) => unknown): { budgetId: string | null; currency?: string } {
  const [budgetId, currency] = [String(sentAs('budget') ?? ''), String(sentAs('currency') ?? '')];
  return budgetId === '' ? { budgetId: null, ...(currency && { currency }) } : { budgetId };
}

/** The fields of the form that say how the file is read. */
const optionNames = Object.keys(ImportRequest.properties).filter(
  (name) => !['budgetId', 'currency', 'mapping', 'dryRun', 'description'].includes(name),
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
