import { strToU8, zipSync } from 'fflate';
import { pdfFrom } from './testing-pdf.ts';

/** A cell of a table for tests, which may reach over columns and rows. */
export interface TestCell {
  readonly text: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** A table for tests. `headers` is the number of its rows that name columns. */
export interface TestTable {
  readonly headers: number;
  readonly rows: readonly (readonly (string | TestCell)[])[];
}

type Writer = (table: TestTable) => Uint8Array;

const cellOf = (cell: string | TestCell): Required<TestCell> => ({
  columns: 1,
  rows: 1,
  ...(typeof cell === 'string' ? { text: cell } : cell),
});

/** A cell with its place in the table. */
interface Placed extends Required<TestCell> {
  readonly row: number;
  readonly column: number;
}

function placed({ rows }: TestTable): Placed[] {
  const taken = new Set<string>();
  return rows.flatMap((cells, row) => {
    let column = 0;
    return cells.map((given) => {
      const cell = cellOf(given);
      while (taken.has(`${row} ${column}`)) column++;
      for (let y = 0; y < cell.rows; y++)
        for (let x = 0; x < cell.columns; x++) taken.add(`${row + y} ${column + x}`);
      return { ...cell, row, column };
    });
  });
}

/** Writes each place of a table: a cell where it begins, or what continues it to the right or below. */
function grid(table: TestTable, write: (cell: Placed, right: number, below: number) => string): string[] {
  const cells = placed(table);
  const width = Math.max(...cells.map(({ column, columns }) => column + columns));
  return table.rows.map((_, row) =>
    Array.from({ length: width }, (_, column) => {
      const cell = cells.find(
        (each) =>
          row >= each.row &&
          row < each.row + each.rows &&
          column >= each.column &&
          column < each.column + each.columns,
      );
      return cell
        ? write(cell, column - cell.column, row - cell.row)
        : write({ text: '', columns: 1, rows: 1, row, column }, 0, 0);
    }).join(''),
  );
}

function htmlTable({ headers, rows }: TestTable): string {
  const lines = rows.map((cells, index) => {
    const name = index < headers ? 'th' : 'td';
    const written = cells.map(cellOf).map(({ text, columns, rows: below }) => {
      const spans = `${columns > 1 ? ` colspan="${columns}"` : ''}${below > 1 ? ` rowspan="${below}"` : ''}`;
      return `<${name}${spans}>${text}</${name}>`;
    });
    return `<tr>${written.join('')}</tr>`;
  });
  return `<table>${lines.join('')}</table>`;
}

const word: Writer = (table) => {
  const rows = grid(table, ({ text, columns, rows: below }, right, down) => {
    if (right > 0) return '';
    const merge = below > 1 ? `<w:vMerge${down === 0 ? ' w:val="restart"' : ''}/>` : '';
    const properties = `<w:tcPr>${columns > 1 ? `<w:gridSpan w:val="${columns}"/>` : ''}${merge}</w:tcPr>`;
    return `<w:tc>${properties}<w:p><w:r><w:t>${down > 0 ? '' : text}</w:t></w:r></w:p></w:tc>`;
  });
  const lines = rows.map(
    (row, index) => `<w:tr>${index < table.headers ? '<w:trPr><w:tblHeader/></w:trPr>' : ''}${row}</w:tr>`,
  );
  return wordOf(`<w:tbl>${lines.join('')}</w:tbl><w:p/>`);
};

/** A Word file of this body, and of more parts by their names. */
export function wordOf(body: string, parts: Readonly<Record<string, string>> = {}): Uint8Array {
  const namespace =
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"';
  const package_ = 'http://schemas.openxmlformats.org/package/2006';
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="r${id}" Type="${office}/${type}" Target="${target}"/>`;
  const related = Object.keys(parts).map((name, index) => relation(index, name, `${name}.xml`));
  const relations = (all: string) =>
    strToU8(`<Relationships xmlns="${package_}/relationships">${all}</Relationships>`);
  return zipSync({
    '[Content_Types].xml': strToU8(`<Types xmlns="${package_}/content-types"/>`),
    '_rels/.rels': relations(relation(1, 'officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': relations(related.join('')),
    'word/document.xml': strToU8(`<w:document ${namespace}><w:body>${body}</w:body></w:document>`),
    ...Object.fromEntries(
      Object.entries(parts).map(([name, content]) => [
        `word/${name}.xml`,
        strToU8(`<w:${name} ${namespace}>${content}</w:${name}>`),
      ]),
    ),
  });
}

const nameOf = (row: number, column: number) => `${String.fromCharCode(65 + column)}${row + 1}`;

const spreadsheet: Writer = (table) => {
  const rows = grid(table, ({ text, row, column }, right, down) =>
    right > 0 || down > 0 || text === ''
      ? ''
      : `<c r="${nameOf(row, column)}" t="inlineStr"><is><t>${text}</t></is></c>`,
  );
  const merges = placed(table)
    .filter(({ columns, rows: below }) => columns > 1 || below > 1)
    .map(
      ({ row, column, columns, rows: below }) =>
        `<mergeCell ref="${nameOf(row, column)}:${nameOf(row + below - 1, column + columns - 1)}"/>`,
    );
  const sheet = rows.map((row, index) => `<row r="${index + 1}">${row}</row>`).join('');
  return zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="Table"/></sheets></workbook>'),
    'xl/worksheets/sheet1.xml': strToU8(
      `<worksheet><sheetData>${sheet}</sheetData><mergeCells>${merges.join('')}</mergeCells></worksheet>`,
    ),
  });
};

const openDocument =
  (body: string): Writer =>
  (table) => {
    const rows = grid(table, ({ text, columns, rows: below }, right, down) =>
      right > 0 || down > 0
        ? '<table:covered-table-cell/>'
        : `<table:table-cell table:number-columns-spanned="${columns}" table:number-rows-spanned="${below}"><text:p>${text}</text:p></table:table-cell>`,
    ).map((row) => `<table:table-row>${row}</table:table-row>`);
    const header = `<table:table-header-rows>${rows.slice(0, table.headers).join('')}</table:table-header-rows>`;
    const written = `<table:table table:name="Table">${header}${rows.slice(table.headers).join('')}</table:table>`;
    return zipSync({
      'content.xml': strToU8(
        `<office:document-content><office:body><office:${body}>${written}</office:${body}></office:body></office:document-content>`,
      ),
    });
  };

const slides: Writer = (table) => {
  const rows = grid(table, ({ text, columns, rows: below }, right, down) => {
    const spans = `${columns > 1 && right === 0 ? ` gridSpan="${columns}"` : ''}${below > 1 && down === 0 ? ` rowSpan="${below}"` : ''}`;
    const merged = `${right > 0 ? ' hMerge="1"' : ''}${down > 0 ? ' vMerge="1"' : ''}`;
    const own = right === 0 && down === 0 ? `<a:r><a:t>${text}</a:t></a:r>` : '';
    return `<a:tc${spans}${merged}><a:txBody><a:p>${own}</a:p></a:txBody></a:tc>`;
  });
  const written = `<a:tbl><a:tblPr firstRow="1"/>${rows.map((row) => `<a:tr>${row}</a:tr>`).join('')}</a:tbl>`;
  return zipSync({
    'ppt/slides/slide1.xml': strToU8(
      `<p:sld><p:cSld><p:sp><p:txBody><a:p><a:r><a:t>Table</a:t></a:r></a:p></p:txBody></p:sp><p:graphicFrame>${written}</p:graphicFrame></p:cSld></p:sld>`,
    ),
  });
};

const pdfCell = { left: 72, top: 662, width: 120, height: 18 };

/** A table whose columns are aligned, without lines, as a page printed from a browser. */
const pdf: Writer = (table) => pdfTable(placed(table).map(pdfText));

/** A table whose cells have lines around them, with names in bold letters. */
const ruledPdf: Writer = (table) => {
  const { left, top, width, height } = pdfCell;
  const box = ({ row, column, rows, columns }: Placed) =>
    `${left - 5 + column * width} ${top - (row + rows) * height} ${columns * width} ${rows * height} re S`;
  const cells = placed(table).map((cell) => {
    // A text stands in the middle of the rows that it reaches over.
    const text = pdfText({ ...cell, row: cell.row + (cell.rows - 1) / 2 });
    return `${cell.row < table.headers ? text.replace('/F1', '/F2') : text}\n${box(cell)}`;
  });
  return pdfTable(cells);
};

function pdfText({ text, row, column }: Placed): string {
  const { left, top, width, height } = pdfCell;
  return `BT /F1 11 Tf ${left + column * width} ${top - 12 - row * height} Td (${text}) Tj ET`;
}

function pdfTable(cells: readonly string[]): Uint8Array {
  const above =
    'BT /F1 11 Tf 72 720 Td (The harbor keeps this list for all who use its basins and its cranes.) Tj ET';
  const content = [above, ...cells].join('\n');
  return pdfFrom([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>',
  ]);
}

/** Writes a table in each format, by the endings of files. */
export const tableWriters: Readonly<Record<string, Writer>> = {
  html: (table) => strToU8(`<p>Table</p>${htmlTable(table)}`),
  md: (table) => strToU8(`# Table\n\n${htmlTable(table)}\n`),
  docx: word,
  xlsx: spreadsheet,
  odt: openDocument('text'),
  ods: openDocument('spreadsheet'),
  pptx: slides,
  pdf,
  'ruled.pdf': ruledPdf,
};

/** Tables with all that makes them hard, and their rows as they should be read. */
export const testTables: readonly (TestTable & {
  readonly name: string;
  readonly read: readonly string[];
})[] = [
  {
    name: 'plain',
    headers: 1,
    rows: [
      ['Crane', 'Load', 'Head'],
      ['Boreas', '30 t', 'Siv Aas'],
      ['Notos', '12 t', 'Bo Lund'],
      ['Zephyr', '8 t', 'Ada Holm'],
    ],
    read: [
      'Crane: Boreas; Load: 30 t; Head: Siv Aas',
      'Crane: Notos; Load: 12 t; Head: Bo Lund',
      'Crane: Zephyr; Load: 8 t; Head: Ada Holm',
    ],
  },
  {
    name: 'a cell over two rows',
    headers: 1,
    rows: [
      ['Basin', 'Season', 'Price'],
      [{ text: 'Inner basin', rows: 2 }, 'Summer', '66 EUR'],
      ['Winter', '31 EUR'],
      ['Outer basin', 'Summer', '40 EUR'],
    ],
    read: [
      'Basin: Inner basin; Season: Summer; Price: 66 EUR',
      'Basin: Inner basin; Season: Winter; Price: 31 EUR',
      'Basin: Outer basin; Season: Summer; Price: 40 EUR',
    ],
  },
  {
    name: 'two rows of names',
    headers: 2,
    rows: [
      [
        { text: 'Boat', rows: 2 },
        { text: 'Price', columns: 2 },
        { text: 'Crew', columns: 2 },
      ],
      ['summer', 'winter', 'day', 'night'],
      ['Gull', '71', '52', '6', '3'],
      ['Tern', '64', '49', '5', '2'],
    ],
    read: [
      'Boat: Gull; Price / summer: 71; Price / winter: 52; Crew / day: 6; Crew / night: 3',
      'Boat: Tern; Price / summer: 64; Price / winter: 49; Crew / day: 5; Crew / night: 2',
    ],
  },
  {
    name: 'a cell over two columns',
    headers: 1,
    rows: [
      ['Yard', 'Monday', 'Tuesday'],
      ['Spruce', '7 to 15', '8 to 16'],
      ['Pine', { text: 'closed', columns: 2 }],
      ['Larch', '9 to 12', '9 to 13'],
    ],
    read: [
      'Yard: Spruce; Monday: 7 to 15; Tuesday: 8 to 16',
      'Yard: Pine; Monday: closed; Tuesday: closed',
      'Yard: Larch; Monday: 9 to 12; Tuesday: 9 to 13',
    ],
  },
  {
    name: 'empty cells',
    headers: 1,
    rows: [
      ['Tug', 'Master', 'Power', 'Note'],
      ['Spica', 'Siv Aas', '', 'in the yard'],
      ['Rigel', '', '900 kW', ''],
      ['Vega', 'Bo Lund', '700 kW', 'new'],
    ],
    read: [
      'Tug: Spica; Master: Siv Aas; Note: in the yard',
      'Tug: Rigel; Power: 900 kW',
      'Tug: Vega; Master: Bo Lund; Power: 700 kW; Note: new',
    ],
  },
];
