import { digitsOf } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  card,
  count,
  field,
  formatNumber,
  type Html,
  html,
  notice,
  stats,
  table,
} from '@octavo/web/html';
import { fileForm, importForm } from '@octavo/web/import-pages';
import type { Budget } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { budgetFirst, day, money, problems } from '../site/views.ts';
import { errorTable, skippedTable } from '../tasks/index.ts';
import type { ImportResult, PreviewRow } from './import.ts';
import type { Planned } from './imports.ts';
import { linesAsTheyStand, mappingFields, readingFields, unclearNotes } from './pages-reading.ts';
import { fileBytesMax } from './upload.ts';

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
      ? budgetFirst('upload', 'Imported expenses belong to a budget.')
      : html`${problems(problem, labels)}${fileForm({
          action: pageRoutes.import,
          csrfField: visitor.csrfField,
          fields: field({
            name: 'budget',
            label: labels.budget,
            type: 'select',
            value: budgetId,
            choices: budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const),
          }),
          label: labels.file,
          error: problem?.errors.file,
          help: 'CSV with any columns, OFX or QFX, QIF, CAMT.053 or MT940; at most 50 MB. You see a preview before anything is added.',
          accept: '.csv,.tsv,.txt,.ofx,.qfx,.qif,.xml,.sta,.mt940,text/csv',
          bytesMax: fileBytesMax,
        })}`;
  return visitor.render({
    title: 'Import',
    lead: 'Import expenses from your bank or another program. Importing the same file twice adds nothing twice.',
    modules: ['imports.js'],
    main,
  });
}

interface PreviewView {
  readonly id: string;
  readonly budget: Budget;
  readonly plan: Planned;
  /** The first lines of the file. */
  readonly lines: readonly string[];
  readonly result: ImportResult;
  /** Lines whose category is in the file; that of others is from a rule. */
  readonly categorized: ReadonlySet<number>;
  /** True if the preview is of the whole file. */
  readonly isWhole: boolean;
  readonly name: string;
}

export function previewPage(visitor: Visitor, view: PreviewView): Promise<string> {
  const { id, budget, plan, lines, result, categorized, isWhole, name } = view;
  const { created, duplicates, skipped, failed, total, errors, preview = [] } = result;
  const { reading } = plan;
  const isCsv = reading.format === 'csv';
  return visitor.render({
    title: name || 'Import',
    lead: `${reading.format.toUpperCase()} into ${budget.name}. Nothing was added yet.`,
    parent: { href: pageRoutes.import, label: 'Import' },
    main: html`<div class="stack">${importForm({
      action: pathOf(pageRoutes.importPreview, id),
      csrfField: visitor.csrfField,
      fields: html`${onceField()}
<input type="hidden" name="format" value="${reading.format}"><input type="hidden" name="budget" value="${budget.id}"><input type="hidden" name="name" value="${name}">
${card(
  'How to read it',
  html`${unclearNotes(reading)}<div class="filters">${isCsv && mappingFields(reading, lines)}${readingFields(reading)}
<div class="actions"><button class="secondary" name="do" value="preview">Update preview</button></div></div>`,
)}
${stats([
  { label: 'To be added', value: formatNumber(created) },
  { label: 'Already imported', value: formatNumber(duplicates) },
  { label: 'Skipped', value: formatNumber(total - created - duplicates - failed) },
  { label: 'Failed', value: formatNumber(failed) },
])}${!isWhole && notice('info', `The file is large. These are the first ${count(total, 'row')} of it.`)}`,
      label: isWhole ? `Import ${count(created, 'expense')}` : 'Import the whole file',
    })}
${isCsv && linesAsTheyStand(reading, lines)}
<section><h2>The first rows</h2>${preview.length === 0 ? html`<p class="muted">No row is an expense yet. Check which column is which, and which amounts are expenses.</p>` : previewTable(preview, categorized)}<p class="muted">${plan.rules?.length ? html`Rows without a category get one by your <a href="${pageRoutes.rules}">rules</a>.` : html`<a href="${pageRoutes.newRule}">Add a rule</a> to give rows a category by their description.`}</p></section>
${errors.length > 0 && html`<section><h2>${count(failed, 'line')} cannot be read</h2>${errorTable(errors)}</section>`}
${skipped.length > 0 && html`<section><h2>Skipped</h2>${skippedTable(skipped)}</section>`}</div>`,
  });
}

function previewTable(rows: readonly PreviewRow[], categorized: ReadonlySet<number>): Html {
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
      {
        header: 'Category',
        kind: 'fit',
        cell: ({ line, category }) =>
          html`${category} ${category !== null && !categorized.has(line) && badge('info', 'by rule')}`,
      },
      {
        header: 'State',
        kind: 'fit',
        cell: ({ isDuplicate }) => isDuplicate && badge('plain', 'already imported'),
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
