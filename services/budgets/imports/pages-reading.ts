import { labelsOf } from '@octavo/core';
import { CsvScanner } from '@octavo/core/text';
import { field, formatNumber, type Html, html, notice, table } from '@octavo/web/html';
import { type DayOrder, dayOrders, encodings, readDay } from '@octavo/web/imports';
import { expenseFields } from '../expenses/index.ts';
import { longDay } from '../site/views.ts';
import { type Reading, type RowField, rowFields } from './formats/reading.ts';

const labels: Readonly<Record<RowField, string>> = {
  ...labelsOf(expenseFields),
  debit: 'Amount paid out',
  credit: 'Amount paid in',
  direction: 'Debit or credit',
  account: 'Account',
};

const sampleCharacters = 24;

/** A choice of the file's column for each field, with a sample of each column. They are sent as `map-NAME`. */
export function mappingFields(reading: Reading, lines: readonly string[]): Html {
  const samples = sampleOf(reading, lines);
  const choices = reading.names.map((name, place) => {
    const isPlain = name !== '' && reading.names.indexOf(name) === reading.names.lastIndexOf(name);
    const value = isPlain ? name : String(place + 1);
    const sample = (samples[place] ?? '').trim().slice(0, sampleCharacters);
    const shown = isPlain && reading.header !== null ? name : `Column ${place + 1} ${name}`.trim();
    return [value, sample === '' ? shown : `${shown} (${sample})`] as const;
  });
  const money = reading.columns.amount ? ['amount'] : ['amount', 'debit', 'credit'];
  const isUsual = (name: RowField) =>
    ['spentOn', 'description', ...money].includes(name) || reading.columns[name] !== undefined;
  const fieldOf = (name: RowField) => {
    const [place] = reading.columns[name] ?? [];
    const value = place === undefined ? '' : (choices[place]?.[0] ?? '');
    const isRequired = name === 'spentOn' || name === 'description';
    const none = [['', isRequired ? 'Choose a column' : 'None']] as const;
    return field({
      name: `map-${name}`,
      label: labels[name],
      type: 'select',
      value,
      choices: isRequired && value !== '' ? choices : [...none, ...choices],
    });
  };
  const others = rowFields.filter((name) => !isUsual(name)).map(fieldOf);
  return html`${rowFields.filter(isUsual).map(fieldOf)}<details class="more"><summary>Other columns</summary><div class="fields">${others}</div></details>`;
}

/** The cells of the first row. */
function sampleOf({ separator, header, skippedLines }: Reading, lines: readonly string[]): readonly string[] {
  const scanner = new CsvScanner(undefined, separator);
  const first = header ?? skippedLines.at(-1) ?? 0;
  const records = [...scanner.push(`${lines.join('\n')}\n`), ...scanner.end()];
  return (
    records.flatMap((record) =>
      record.line > first && record.problem === undefined ? [record.cells] : [],
    )[0] ?? []
  );
}

const separators = [
  [',', 'commas'],
  [';', 'semicolons'],
  ['tab', 'tabs'],
  ['|', 'vertical lines'],
] as const;

/** Choices of the way the file is read. */
export function readingFields(reading: Reading): Html {
  const { format, header, skippedLines, dateFormat, decimal, sign, separator, columns, unclear } = reading;
  const isCsv = format === 'csv';
  const select = (
    name: string,
    label: string,
    value: string,
    choices: readonly (readonly [string, string])[],
  ) => field({ name, label, type: 'select', value, choices });
  const encoding = encodings.includes(reading.encoding) ? encodings : [reading.encoding, ...encodings];
  const example = unclear.find(({ option }) => option === 'dateFormat')?.example;
  const above = header === null ? (skippedLines.at(-1) ?? 0) : header - 1;
  return html`${
    isCsv &&
    columns.amount &&
    !columns.direction &&
    select('sign', 'Expenses are', sign, [
      ['positive', 'positive amounts'],
      ['negative', 'negative amounts'],
    ])
  }
${
  (isCsv || format === 'qif') &&
  html`${select('dateFormat', example === undefined ? 'Dates are' : `${example} is`, dateFormat, [
    ['ymd', orderInWords('ymd', '2026-12-31', example)],
    ['mdy', orderInWords('mdy', '12/31/2026', example)],
    ['dmy', orderInWords('dmy', '31.12.2026', example)],
  ])}${select('decimal', 'Amounts are', decimal, [
    ['.', '1,234.50'],
    [',', '1.234,50'],
  ])}`
}
${
  isCsv &&
  html`${select(
    'separator',
    'Cells are between',
    separator === '\t' ? 'tab' : separator,
    separators.some(([sign]) => sign === separator) || separator === '\t'
      ? separators
      : [['', separator], ...separators],
  )}${select('header', 'Names of columns', String(header !== null), [
    ['true', 'in the first line that is read'],
    ['false', 'not in the file'],
  ])}${field({ name: 'skipLines', label: 'Lines above the table', type: 'number', value: String(above) })}`
}
${select(
  'encoding',
  'Encoding',
  reading.encoding,
  encoding.map((each) => [each, each] as const),
)}`;
}

/** An order of dates by what it makes of one of the file, else by an example. */
function orderInWords(order: DayOrder, usual: string, example: string | undefined): string {
  const read = example === undefined ? undefined : readDay(example, order);
  return read === undefined ? usual : longDay(read);
}

/** Notes on all that could mean two things. */
export function unclearNotes({ unclear, dateFormat, decimal, confidence, encoding }: Reading): Html {
  const notes = unclear.map(({ option, example }) => {
    if (option === 'decimal')
      return html`Amounts such as ${example} could mean two things. They are read with “${decimal}” as the decimal sign: change it below if that is wrong.`;
    const chosen = readDay(example, dateFormat) ?? '';
    const days = new Set([chosen, ...dayOrders.flatMap((order) => readDay(example, order) ?? [])]);
    return html`${[...days].map(longDay).join(' or ')}? ${example} is read as ${longDay(chosen)}. Change the order of dates below if that is wrong.`;
  });
  const isUnsure = confidence < 0.8;
  return html`${notes.map((text) => notice('warn', text))}${isUnsure && notice('info', `The letters are read as ${encoding}, which is a guess. Choose another encoding below if names look wrong.`)}`;
}

/** The first lines of the file as they stand, with what each is. */
export function linesAsTheyStand({ header, skippedLines }: Reading, lines: readonly string[]): Html {
  const first = header ?? skippedLines.at(-1) ?? 0;
  const rows = lines.slice(0, Math.max(first + 3, 4)).map((text, index) => ({ line: index + 1, text }));
  const stateOf = (line: number) => (line === header ? 'names' : line <= first ? 'left out' : '');
  return html`<section><h2>The file as it stands</h2>${table<(typeof rows)[number]>({
    caption: 'The first lines of the file',
    rows,
    columns: [
      { header: 'Line', kind: 'number', cell: ({ line }) => formatNumber(line) },
      { header: 'Text', kind: 'main', cell: ({ text }) => html`<code>${text}</code>` },
      { header: 'Read as', kind: 'fit', cell: ({ line }) => stateOf(line) },
    ],
  })}</section>`;
}
