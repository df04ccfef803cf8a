import { badge, card, empty, linkButton, notice, stats } from '#kit/html/blocks.ts';
import { field } from '#kit/html/form.ts';
import type { FormProblem } from '#kit/html/form-problem.ts';
import { count, formatNumber } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { table } from '#kit/html/table.ts';
import type { Budget } from '../budgets/index.ts';
import { digitsOf } from '../currencies.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site.ts';
import { errorTable } from '../tasks/index.ts';
import { day, money, problems } from '../views.ts';
import type { ImportPlan, ImportResult, PreviewRow } from './import.ts';
import { type RowField, rowFields } from './row.ts';

interface UploadView {
  readonly budgets: readonly Budget[];
  /** Chosen at first. */
  readonly budgetId: string;
  readonly problem: FormProblem | undefined;
}

const labels = { file: 'File', budget: 'Budget' };

export function uploadPage(visitor: Visitor, { budgets, budgetId, problem }: UploadView): Promise<string> {
  const main =
    budgets.length === 0
      ? empty({
          icon: 'upload',
          title: 'Create a budget first',
          text: 'Imported expenses belong to a budget.',
          actions: linkButton(pageRoutes.newBudget, 'Create a budget', 'primary'),
        })
      : html`${problems(problem, labels)}<form class="card form" method="post" action="${pageRoutes.import}" enctype="multipart/form-data">${visitor.csrfField}
${field({ name: 'budget', label: labels.budget, type: 'select', value: budgetId, choices: budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const) })}
${field({
  name: 'file',
  label: labels.file,
  type: 'file',
  error: problem?.errors.file,
  help: 'CSV with any columns, OFX or QFX, or QIF; at most 50 MiB. You see what becomes of it before anything is added.',
  attributes: { required: true, accept: '.csv,.tsv,.txt,.ofx,.qfx,.qif,text/csv' },
})}
<div class="actions"><button>Continue</button></div></form>`;
  return visitor.render({
    title: 'Import',
    lead: 'Bring in what your bank or another program has. Importing a file twice adds nothing twice.',
    main,
  });
}

interface PreviewView {
  readonly id: string;
  readonly budget: Budget;
  readonly plan: ImportPlan;
  /** Those of a CSV file. */
  readonly columns: readonly string[];
  readonly result: ImportResult;
  /** Whether the preview is of the whole file. */
  readonly isWhole: boolean;
  readonly name: string;
}

export function previewPage(visitor: Visitor, view: PreviewView): Promise<string> {
  const { id, budget, plan, columns, result, isWhole, name } = view;
  const { created, duplicates, skipped, failed, total, errors, preview = [] } = result;
  const isCsv = plan.format === 'csv';
  return visitor.render({
    title: name || 'Import',
    lead: `${plan.format.toUpperCase()} into ${budget.name}. Nothing was added yet.`,
    parent: { href: pageRoutes.import, label: 'Import' },
    main: html`<div class="stack"><form class="stack" method="post" action="${pathOf(pageRoutes.importPreview, id)}">${visitor.csrfField}${onceField()}
<input type="hidden" name="format" value="${plan.format}"><input type="hidden" name="budget" value="${budget.id}"><input type="hidden" name="name" value="${name}">
${card(
  'How to read it',
  html`<div class="filters">${isCsv && mappingFields(plan, columns)}${readingFields(plan, isCsv)}
<div class="actions"><button class="secondary" name="do" value="preview">Update preview</button></div></div>`,
)}
${stats([
  { label: 'To be added', value: formatNumber(created) },
  { label: 'There before', value: formatNumber(duplicates) },
  { label: 'Skipped', value: formatNumber(skipped) },
  { label: 'Cannot be read', value: formatNumber(failed) },
])}${!isWhole && notice('info', `The file is large. These are the first ${count(total, 'row')} of it.`)}
<div class="actions"><button name="do" value="import">${isWhole ? `Import ${count(created, 'expense')}` : 'Import the whole file'}</button><button class="quiet" name="do" value="cancel">Choose another file</button></div></form>
<section><h2>The first rows</h2>${preview.length === 0 ? html`<p class="muted">No row is an expense yet. Check which column is which, and which amounts are expenses.</p>` : previewTable(preview)}</section>
${errors.length > 0 && html`<section><h2>${count(failed, 'line')} cannot be read</h2>${errorTable(errors)}</section>`}</div>`,
  });
}

const fieldNames: Readonly<Record<RowField, string>> = {
  spentOn: 'Day',
  description: 'Description',
  amount: 'Amount',
  currency: 'Currency',
  category: 'Category',
  tags: 'Tags',
  notes: 'Notes',
  externalId: 'ID at the bank',
};

const requiredFields: readonly RowField[] = ['spentOn', 'description', 'amount'];

function mappingFields({ mapping }: ImportPlan, columns: readonly string[]): Content {
  const named = [...new Set(columns.filter((name) => name !== ''))].map((name) => [name, name] as const);
  return rowFields.map((name) =>
    field({
      name: `map-${name}`,
      label: fieldNames[name],
      type: 'select',
      value: mapping[name] ?? '',
      choices: requiredFields.includes(name) ? named : [['', 'none'], ...named],
    }),
  );
}

function readingFields({ format, sign, dateFormat }: ImportPlan, isCsv: boolean): Html {
  return html`${
    isCsv &&
    field({
      name: 'sign',
      label: 'Expenses are',
      type: 'select',
      value: sign,
      choices: [
        ['positive', 'positive amounts'],
        ['negative', 'negative amounts'],
      ],
    })
  }
${
  format !== 'ofx' &&
  field({
    name: 'dateFormat',
    label: 'Dates are',
    type: 'select',
    value: dateFormat,
    choices: [
      ['ymd', '2026-12-31'],
      ['mdy', '12/31/2026'],
      ['dmy', '31.12.2026'],
    ],
  })
}`;
}

function previewTable(rows: readonly PreviewRow[]): Html {
  return table<PreviewRow>({
    caption: 'The first rows of the file',
    rows,
    columns: [
      { header: 'Line', kind: 'number', cell: ({ line }) => formatNumber(line) },
      { header: 'Day', kind: 'fit', cell: ({ spentOn }) => day(spentOn) },
      {
        header: 'Expense',
        kind: 'main',
        cell: ({ description, notes, tags }) =>
          html`${description}${(notes || tags.length > 0) && html`<div>${tags.map((tag) => `#${tag} `)}${notes}</div>`}`,
      },
      { header: 'Category', kind: 'fit', cell: ({ category }) => category },
      {
        header: 'State',
        kind: 'fit',
        cell: ({ isDuplicate }) => isDuplicate && badge('plain', 'there before'),
      },
      {
        header: 'Amount',
        kind: 'number',
        cell: ({ amount, currency }) => money(minorOf(amount, currency), currency),
      },
    ],
  });
}

function minorOf(amount: number, currency: string): number {
  return Math.round(amount * 10 ** digitsOf(currency));
}
