import { currencyCodes, digitsOf } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import {
  attributes,
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
import { nameInChoice } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { day, money, problems } from '../site/views.ts';
import { errorTable, skippedTable } from '../tasks/index.ts';
import type { ImportResult, PreviewRow } from './import.ts';
import { linesAsTheyStand, mappingFields, readingFields, unclearNotes } from './pages-reading.ts';
import type { Planned } from './progress.ts';
import { fileBytesMax } from './upload.ts';

interface UploadView {
  readonly budgets: readonly Budget[];
  /** Chosen at first. */
  readonly budgetId: string;
  /** Chosen at first, for rows that name none. */
  readonly currency: string;
  readonly problem: FormProblem | undefined;
}

const labels = { file: 'File', budget: 'Budget', currency: 'Currency' };

export function uploadPage(
  visitor: Visitor,
  { budgets, budgetId, currency, problem }: UploadView,
): Promise<string> {
  const main = html`${problems(problem, labels)}${fileForm({
    action: pageRoutes.import,
    csrfField: visitor.csrfField,
    fields: html`${field({
      name: 'budget',
      label: labels.budget,
      type: 'select',
      value: budgetId,
      choices: [
        ['', 'Unassigned, to be sorted later'],
        ...budgets.map((budget) => [budget.id, nameInChoice(budget)] as const),
      ],
    })}${field({
      name: 'currency',
      label: labels.currency,
      type: 'select',
      value: currency,
      choices: currencyCodes().map((code) => [code, code] as const),
      help: 'For rows without a currency. If you choose a budget, its currency counts.',
    })}`,
    label: labels.file,
    error: problem?.errors.file,
    help: 'CSV with any columns, OFX or QFX, QIF, CAMT.053 or MT940; at most 50 MB. You see a preview before anything is added.',
    accept: '.csv,.tsv,.txt,.ofx,.qfx,.qif,.xml,.sta,.mt940,text/csv',
    bytesMax: fileBytesMax,
  })}`;
  return visitor.render({
    title: 'Import',
    lead: 'Import expenses from your bank or another program. Rows that are already imported are skipped.',
    modules: ['imports.js'],
    main,
  });
}

interface PreviewView {
  readonly id: string;
  readonly budgets: readonly Budget[];
  readonly plan: Planned;
  /** The first lines of the file. */
  readonly lines: readonly string[];
  readonly result: ImportResult;
  /** Lines whose category is in the file; that of others is from a rule. */
  readonly categorized: ReadonlySet<number>;
  /** True if the preview is of the whole file. */
  readonly isWhole: boolean;
  readonly name: string;
  /** True if the columns are those of an earlier file. */
  readonly isRemembered: boolean;
}

export function previewPage(visitor: Visitor, view: PreviewView): Promise<string> {
  const { id, budgets, plan, lines, result, categorized, isWhole, name, isRemembered } = view;
  const {
    created,
    refunds = 0,
    incomes = 0,
    duplicates,
    matched = 0,
    skipped,
    failed,
    total,
    errors,
    preview = [],
  } = result;
  const { reading, budgetId } = plan;
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  const into = budgetId === null ? 'Unassigned' : (names.get(budgetId) ?? 'a budget');
  const isCsv = reading.format === 'csv';
  const isNothing = isWhole && created === 0;
  const isClear =
    created + duplicates + matched > 0 &&
    failed === 0 &&
    reading.unclear.length === 0 &&
    reading.confidence >= 0.8;
  return visitor.render({
    title: name || 'Import',
    lead: `${reading.format.toUpperCase()} into ${into}. Nothing was added yet.`,
    parent: { href: pageRoutes.import, label: 'Import' },
    modules: ['import-preview.js'],
    main: html`<div class="stack">${importForm({
      action: pathOf(pageRoutes.importPreview, id),
      csrfField: visitor.csrfField,
      fields: html`${onceField()}
<input type="hidden" name="format" value="${reading.format}"><input type="hidden" name="budget" value="${budgetId ?? ''}"><input type="hidden" name="currency" value="${reading.currency}"><input type="hidden" name="name" value="${name}">
${card(
  undefined,
  html`<div class="stack" data-preview="notes">${unclearNotes(reading)}${isRemembered && notice('info', 'The columns are read as in the last file that had the same names of columns.')}</div><details${attributes({ open: !isClear })}><summary><b>How it is read</b></summary><div class="stack">${isCsv && html`<fieldset class="part" data-preview="columns"><legend>Columns</legend><div class="filters">${mappingFields(reading, lines)}</div></fieldset>`}
<fieldset class="part" data-preview="reading"><legend>Dates, amounts and letters</legend><div class="filters">${readingFields(reading)}${matchField(plan)}${incomesField(plan)}</div></fieldset>
<div class="actions"><button class="secondary" name="do" value="preview">Update preview</button></div></div></details>`,
)}
<div data-preview="counts">${stats([
        { label: 'To be added', value: formatNumber(created) },
        ...(refunds > 0 ? [{ label: 'Of these, refunds', value: formatNumber(refunds) }] : []),
        ...(incomes > 0 ? [{ label: 'Of these, income', value: formatNumber(incomes) }] : []),
        { label: 'Already imported', value: formatNumber(duplicates) },
        ...(matched > 0 ? [{ label: 'Typed before', value: formatNumber(matched) }] : []),
        { label: 'Skipped', value: formatNumber(total - created - duplicates - matched - failed) },
        { label: 'Failed', value: formatNumber(failed) },
      ])}${!isWhole && notice('info', `The file is large. These are the first ${count(total, 'row')} of it.`)}${isNothing && notice('info', nothingOf(result))}</div>`,
      label: isNothing
        ? undefined
        : isWhole
          ? `Import ${count(created, incomes > 0 ? 'row' : 'expense')}`
          : 'Import the whole file',
    })}
<div class="stack" data-preview="rows">${isCsv && linesAsTheyStand(reading, lines)}
<section><h2>The first rows</h2>${preview.length === 0 ? html`<p class="muted">No row is an expense yet. Check which column is which, and which amounts are expenses.</p>` : previewTable(preview, categorized, budgetId === null ? names : undefined)}<p class="muted">${plan.ruleSet?.length ? html`Your <a href="${pageRoutes.rules}">rules</a> are applied: rows get a budget, a category and tags by them.` : html`<a href="${pageRoutes.newRule}">Add a rule</a> to give rows a budget, a category and tags by their description.`}</p></section>
${errors.length > 0 && html`<section><h2>${count(failed, 'line')} cannot be read</h2>${errorTable(errors)}</section>`}
${skipped.length > 0 && html`<section><h2>Skipped</h2>${skippedTable(skipped)}</section>`}</div></div>`,
  });
}

/** Says why a file adds nothing. */
function nothingOf({ duplicates, matched = 0, failed }: ImportResult): string {
  if (duplicates + matched > 0) return 'There is nothing to import: all expenses of this file are there.';
  return failed > 0
    ? 'There is nothing to import: no row could be read. Check above how the file is read.'
    : 'There is nothing to import: no row is an expense. Check above which column is which.';
}

function previewTable(
  rows: readonly PreviewRow[],
  categorized: ReadonlySet<number>,
  budgets: ReadonlyMap<string, string> | undefined,
): Html {
  const budget = {
    header: labels.budget,
    kind: 'plain' as const,
    cell: ({ budgetId, kind }: PreviewRow) =>
      kind === 'income' ? 'Income' : (budgetId && budgets?.get(budgetId)) || 'Unassigned',
  };
  return table<PreviewRow>({
    caption: 'The first rows of the file',
    rows,
    columns: [
      { header: 'Line', kind: 'number', cell: ({ line }) => formatNumber(line) },
      { header: 'Day', kind: 'plain', cell: ({ spentOn }) => day(spentOn) },
      {
        header: 'Expense',
        kind: 'main',
        cell: ({ description, notes, tags, account }) =>
          html`${description}${(notes || tags.length > 0) && html`<div>${tags.map((tag) => `#${tag} `)}${notes}</div>`}${account !== null && html`<div>Account …${account}</div>`}`,
      },
      {
        header: 'Category',
        kind: 'plain',
        cell: ({ line, category }) =>
          html`${category} ${category !== null && !categorized.has(line) && badge('info', 'by rule')}`,
      },
      ...(budgets ? [budget] : []),
      {
        header: 'State',
        kind: 'plain',
        cell: ({ isDuplicate, matches }) =>
          isDuplicate
            ? badge('plain', 'already imported')
            : matches &&
              html`${badge('info', 'typed before')}<div>${matches.description}, ${day(matches.spentOn)}</div>`,
      },
      {
        header: 'Amount',
        kind: 'amount',
        cell: ({ kind, amount, currency, originalAmount: paid, originalCurrency: paidIn }) =>
          html`${money(minorOf(kind === 'refund' ? -amount : amount, currency), currency)}${kind !== 'expense' && html`<div>${kind === 'refund' ? 'Refund' : 'Income'}</div>`}${paid !== null && paidIn !== null && html`<div>${money(minorOf(paid, paidIn), paidIn)}</div>`}`,
      },
    ],
  });
}

function matchField({ match }: Planned): Html {
  return field({
    name: 'match',
    label: 'Expenses you typed already',
    type: 'select',
    value: match ?? 'none',
    choices: [
      ['auto', 'are not added again'],
      ['none', 'are added once more'],
    ],
  });
}

function incomesField({ incomes }: Planned): Html {
  return field({
    name: 'incomes',
    label: 'Money that came in',
    type: 'select',
    value: incomes ?? 'skip',
    choices: [
      ['keep', 'is kept as income'],
      ['skip', 'is left out'],
    ],
  });
}

function minorOf(amount: number, currency: string): number {
  return Math.round(amount * 10 ** digitsOf(currency));
}
