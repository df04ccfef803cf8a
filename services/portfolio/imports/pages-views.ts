import {
  type Content,
  card,
  checkbox,
  count,
  field,
  formatNumber,
  type Html,
  html,
  linkButton,
  notice,
  stats,
  table,
  truncate,
} from '@octavo/web/html';
import {
  encodingField,
  fileForm,
  importForm,
  mappingFields,
  problemTable,
  type RowProblem,
} from '@octavo/web/import-pages';
import { aboveNote } from '@octavo/web/imports';
import type { Imported, Kind } from '../records.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { money, type Visitor } from '../site.ts';
import type { ImportPlan } from '../store/import.ts';
import type { RecordChange } from '../store/import-changes.ts';
import { type FileGuess, importFieldsOf } from './fields.ts';
import { type ImportResult, type Options, type Preview, uploadBytesMax } from './pages-run.ts';

const rowsShown = 5;
const changesShown = 50;
const textShown = 200;

const titles: Readonly<Record<Kind, string>> = {
  team: 'People',
  investments: 'Investments',
  sectors: 'Sectors',
};

export function uploadPage(visitor: Visitor, error?: string): string {
  return visitor.render({
    title: 'Import',
    lead: 'Import people, investments and sectors from a file, all or nothing.',
    modules: ['imports.js'],
    main: fileForm({
      action: pageRoutes.import,
      csrfField: visitor.visit.frame().csrfField,
      label: 'File',
      fields: encodingField(),
      help: html`JSON with <code>team</code>, <code>investments</code> and <code>sectors</code>, or CSV of one of them; at most 5 MB. You see a preview before anything is saved.`,
      accept: '.json,.csv,application/json,text/csv',
      bytesMax: uploadBytesMax,
      error,
    }),
  });
}

interface PreviewView {
  readonly id: string;
  readonly name: string;
  readonly guess: FileGuess;
  readonly options: Options;
  readonly preview: Preview;
}

export function previewPage(visitor: Visitor, { id, name, guess, options, preview }: PreviewView): string {
  const note = aboveNote(guess.above);
  const isWrong = preview.message !== undefined;
  const total = isWrong ? 0 : preview.plan.added + preview.plan.changed;
  const label = options.replaces
    ? `Replace everything by ${count(total, 'record')}`
    : `Import ${count(total, 'record')}`;
  const query = visitor.visit.request.url.replace(/^[^?]*/, '');
  return visitor.render({
    title: name || 'Import',
    lead: 'Nothing has been saved yet.',
    parent: { href: pageRoutes.import, label: 'Import' },
    modules: ['imports.js'],
    main: html`<div class="stack">${isWrong && notice('bad', preview.message.slice(0, 500), { title: 'The file cannot be imported like this' })}${importForm(
      {
        action: `${pathOf(pageRoutes.importFile, id)}${query}`,
        csrfField: visitor.visit.frame().csrfField,
        fields: html`${note !== undefined && notice('info', note)}${readingCard(guess, options)}${!isWrong && planned(preview, options)}`,
        label: isWrong || total + preview.plan.removed === 0 ? undefined : label,
      },
    )}${isWrong && problemsCard(preview.problems)}${!isWrong && html`${changesCard(preview.plan)}${firstRows(preview.records)}`}</div>`,
  });
}

function readingCard({ isList, header }: FileGuess, options: Options): Html {
  const current = options.kind as Kind | undefined;
  const kindField = field({
    name: 'kind',
    label: 'The file has',
    type: 'select',
    value: current ?? '',
    choices: current ? Object.entries(titles) : [['', 'Choose'], ...Object.entries(titles)],
  });
  return card(
    'How to read it',
    html`<div class="stack"><div class="fields">${isList && kindField}${
      current &&
      header.length > 0 &&
      html`<input type="hidden" name="mapped" value="${current}">${mappingFields(importFieldsOf(current, header), options.mapping ?? {}, header)}`
    }${current === 'investments' && amountFields(options, header)}</div>${checkbox({ name: 'replaces', label: 'Delete records that are not in the file', checked: options.replaces })}
<div class="actions"><button class="secondary" name="do" value="preview">Update preview</button></div></div>`,
  );
}

/** Choices of the decimal sign, and of the currency of amounts without one. */
function amountFields({ decimal, currency, mapping }: Options, header: readonly string[]): Content {
  const signs = field({
    name: 'decimal',
    label: 'Amounts are written',
    type: 'select',
    value: decimal ?? '',
    choices: [
      ['', 'As the file shows'],
      ['.', '1,234.50'],
      [',', '1.234,50'],
    ],
  });
  const hasColumn = header.length > 0 && mapping?.currency !== undefined;
  const others = field({ name: 'currency', label: 'Other amounts are in', value: currency ?? 'USD' });
  return html`${signs}${!hasColumn && others}`;
}

function planned({ plan }: Preview & { readonly message?: undefined }, { replaces }: Options): Html {
  const { added, changed, removed, unchanged } = plan;
  return stats([
    { label: 'To be added', value: formatNumber(added) },
    { label: 'To be changed', value: formatNumber(changed) },
    ...(unchanged > 0 ? [{ label: 'Not changed', value: formatNumber(unchanged) }] : []),
    ...(replaces ? [{ label: 'To be removed', value: formatNumber(removed) }] : []),
  ]);
}

/** The records that would be changed, before and after. */
function changesCard({ changes }: ImportPlan): Content {
  if (changes.length === 0) return undefined;
  const rest = changes.length - changesShown;
  const labelOf = (kind: Kind, name: string) =>
    importFieldsOf(kind, []).find((each) => each.name === name)?.label ?? name;
  const rows = table<RecordChange>({
    caption: 'To be changed',
    rows: changes.slice(0, changesShown),
    columns: [
      { header: 'Name', kind: 'main', cell: ({ name }) => name },
      {
        header: 'Changes',
        cell: ({ kind, fields }) =>
          html`<ul class="changes">${fields.map(({ name, from, to }) => html`<li>${labelOf(kind, name)}: ${from && html`<del>${truncate(from, textShown)}</del> `}<ins>${truncate(to, textShown) || 'empty'}</ins></li>`)}</ul>`,
      },
    ],
  });
  return html`<section><h2>To be changed</h2>${rows}${rest > 0 && html`<p class="muted">And ${formatNumber(rest)} more.</p>`}</section>`;
}

function firstRows(records: Imported): Html[] {
  const section = (kind: Kind, total: number, rows: Html) =>
    html`<section><h2>${titles[kind]}: ${total > rowsShown ? `the first ${rowsShown} of ${formatNumber(total)}` : formatNumber(total)}</h2>${rows}</section>`;
  const { team, investments, sectors } = records;
  return [
    ...(team.length > 0
      ? [
          section(
            'team',
            team.length,
            rowsOf(team, ({ name, role }) => [name, role]),
          ),
        ]
      : []),
    ...(investments.length > 0
      ? [
          section(
            'investments',
            investments.length,
            rowsOf(investments, ({ company, sector, amount_minor, currency }) => [
              company,
              `${sector}, ${money(amount_minor, currency)}`,
            ]),
          ),
        ]
      : []),
    ...(sectors.length > 0
      ? [
          section(
            'sectors',
            sectors.length,
            rowsOf(sectors, ({ name, description }) => [name, description]),
          ),
        ]
      : []),
  ];
}

function rowsOf<R>(records: readonly R[], texts: (record: R) => readonly [string, string]): Html {
  return table<readonly [string, string]>({
    caption: 'The first records',
    rows: records.slice(0, rowsShown).map(texts),
    columns: [
      { header: 'Name', kind: 'main', cell: ([name]) => name },
      { header: 'Details', cell: ([, details]) => details },
    ],
  });
}

function problemsCard(problems: ReadonlyMap<string, string>): Content {
  if (problems.size === 0) return undefined;
  return card('Records with errors', problemTable('Records with errors', [...problems].map(rowProblem)));
}

/** `investments[3].sector` is the sector of the fourth investment. */
function rowProblem([name, problem]: readonly [string, string]): RowProblem {
  const [, kind, index, fieldName] = /^(team|investments|sectors)\[(\d+)\]\.?(.*)$/.exec(name) ?? [];
  if (kind === undefined) return { row: 0, message: `${name} ${problem}` };
  const label = importFieldsOf(kind as Kind, []).find((each) => fieldName?.startsWith(each.name))?.label;
  return {
    row: Number(index) + 1,
    message: `${titles[kind as Kind]}: ${label ?? fieldName ?? ''} ${problem}`,
  };
}

export function resultPage(visitor: Visitor, view: { name: string; result: ImportResult }): string {
  const { added, changed, removed } = view.result;
  return visitor.render({
    title: view.name || 'Import',
    lead: 'The file was imported.',
    parent: { href: pageRoutes.import, label: 'Import' },
    main: html`<div class="stack">${stats([
      { label: 'Added', value: formatNumber(added) },
      { label: 'Changed', value: formatNumber(changed) },
      ...(removed > 0 ? [{ label: 'Removed', value: formatNumber(removed) }] : []),
    ])}<p class="actions">${linkButton(pageRoutes.investments, 'See the investments', 'primary')}${linkButton(pageRoutes.import, 'Import another file', 'quiet')}</p></div>`,
  });
}
