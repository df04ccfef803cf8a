import { encodeXML } from 'entities';
import { replacedBetween } from '../between.ts';
import type { Extracted } from '../blocks.ts';
import { extractMarkdown } from '../markdown.ts';

/** Signs in longer lines stay, since finding them would take too long. */
const lineLengthMax = 10_000;

/** Markdown with JSX, without what is code of its page. */
export function extractMdx(text: string): Extracted {
  let isCode = false;
  const lines = text.split('\n').filter((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    return isCode || !/^(?:import\s.+['"];?\s*$|export\s+(?:const|default|let|function)\b)/.test(line);
  });
  return extractMarkdown(replacedBetween(lines.join('\n'), ['{/*', '*/}'], () => ''));
}

/** Org: headings, lists, tables and blocks, as Markdown has them. */
export function extractOrg(text: string): Extracted {
  const matter: string[] = [];
  const lines: string[] = [];
  let isCode = false;
  const table = new TableWriter();
  const plain = replacedBetween(text, [':PROPERTIES:', ':END:'], () => '');
  for (const line of plain.split('\n')) {
    const [, key, value] = /^#\+(title|author|date|keywords|description):\s*(.+)$/i.exec(line) ?? [];
    if (key && value) matter.push(`${key.toLowerCase()}: ${JSON.stringify(value)}`);
    if (/^\s*#\+(?:begin|end)_(?:src|example)/i.test(line)) {
      isCode = !isCode;
      lines.push('```');
    } else if (isCode) lines.push(line);
    else if (/^\s*\|/.test(line)) {
      if (/^\s*\|[-+]+\|?\s*$/.test(line)) table.endHeader();
      else
        table.add(
          line
            .trim()
            .replace(/^\||\|$/g, '')
            .split('|')
            .map((cell) => ({ text: orgText(cell) })),
        );
    } else {
      lines.push(...table.take());
      if (!/^\s*#(?:\+|\s|$)/.test(line))
        lines.push(orgText(line).replace(/^\*+(?= )/, (stars) => '#'.repeat(Math.min(6, stars.length))));
    }
  }
  return extractMarkdown(withMatter(matter, [...lines, ...table.take()]));
}

function orgText(line: string): string {
  if (line.length > lineLengthMax) return line;
  return line
    .replace(/\[\[[^\]]+\]\[([^\]]+)\]\]/g, '$1')
    .replace(/\[\[([^\]]+)\]\]/g, '$1')
    .replace(/(?<=^|[\s("'])[=~]([^=~\n]+)[=~](?=$|[\s.,;:!?)"'])/g, '`$1`')
    .replace(/(?<=^|[\s("'])\+[^+\n]+\+(?=$|[\s.,;:!?)"'])/g, '')
    .replace(/(?<=^|[\s("'])\/([^/\n]+)\/(?=$|[\s.,;:!?)"'])/g, '$1');
}

/** AsciiDoc: headings, lists, tables and blocks, as Markdown has them. */
export function extractAsciiDoc(text: string): Extracted {
  const matter: string[] = [];
  const lines: string[] = [];
  let [fence, isTable]: [string | undefined, boolean] = [undefined, false];
  const table = new TableWriter();
  for (const line of text.split('\n')) {
    const [, key, value] = /^:(author|date|revdate|keywords|description):\s*(.+)$/.exec(line) ?? [];
    if (key && value && lines.length < headLines) matter.push(`${key}: ${JSON.stringify(value)}`);
    if (fence !== undefined) {
      if (line.trimEnd() === fence) fence = undefined;
      lines.push(fence === undefined ? '```' : line);
    } else if (/^(?:-{4,}|\.{4,}|\+{4,}|`{3,})$/.test(line.trimEnd())) {
      fence = line.trimEnd();
      lines.push('```');
    } else if (/^[|,:!]===$/.test(line.trimEnd())) {
      if (isTable) lines.push(...table.take());
      isTable = !isTable;
    } else if (isTable) addCells(table, line);
    else if (/^\[.*cols.*\]$|^\[.*header.*\]$/.test(line)) table.describe(line);
    else if (
      !/^(?:\/\/|\[.*\]$|:[\w-]+:|include::|image::|ifdef|endif|ifndef|={4,}$|\*{4,}$|_{4,}$|toc::)/.test(
        line,
      )
    )
      lines.push(asciiText(line));
  }
  return extractMarkdown(withMatter(matter, [...lines, ...table.take()]));
}

/** Lines at the start in which attributes of the document may stand. */
const headLines = 10;

function asciiText(line: string): string {
  if (line.length > lineLengthMax) return line;
  return line
    .replace(/^=+(?= )/, (signs) => '#'.repeat(signs.length))
    .replace(
      /^(\*+|\.+)(?= )/,
      (signs) => `${'  '.repeat(signs.length - 1)}${signs.startsWith('.') ? '1.' : '-'}`,
    )
    .replace(/footnote:\w*\[([^\]]*)\]/g, ' [$1]')
    .replace(/(?:link:)?(?:https?|mailto):?[^\s[\]]*\[([^\]]+)\]/g, (_, label: string) =>
      label.replace(/,.*$/, ''),
    )
    .replace(/<<[^,>]+,([^>]+)>>/g, '$1')
    .replace(/\[line-through\]#[^#]+#/g, '')
    .replace(/\^([^\s^]+)\^/g, '<sup>$1</sup>')
    .replace(/(?<=\w)~([^\s~]+)~/g, '<sub>$1</sub>');
}

/** Adds the cells of a line. A line without any goes on with the last one. */
function addCells(table: TableWriter, line: string): void {
  if (line.length > lineLengthMax) {
    table.extend(line);
    return;
  }
  if (line.trim() === '') {
    table.blank();
    return;
  }
  const parts = [
    ...line.matchAll(
      /(?:(\d+)?(?:\.(\d+))?\+)?[<^>.]*[a-z]?(?<!\\)\|([^|]*?)(?=(?:\s(?:\d+)?(?:\.\d+)?\+?[<^>.]*[a-z]?)?\||$)/g,
    ),
  ];
  if (parts.length === 0) {
    table.extend(asciiText(line.trim()));
    return;
  }
  table.addFlowing(
    parts.map(([, columns, rows, text = '']) => ({
      text: asciiText(text.trim()),
      ...(columns && { columns: Number(columns) }),
      ...(rows && { rows: Number(rows) }),
    })),
  );
}

interface WrittenCell {
  text: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** Writes a table as HTML, which Markdown may have. */
class TableWriter {
  #rows: WrittenCell[][] = [];
  #headers = 0;
  #width = 0;

  add(row: WrittenCell[]): void {
    this.#rows.push(row);
  }

  /** The rows so far name the columns. */
  endHeader(): void {
    if (this.#headers === 0) this.#headers = this.#rows.length;
  }

  /** Takes the number of columns and the header from a line of attributes. */
  describe(line: string): void {
    const columns = /cols="?([^"\]]+)"?/.exec(line)?.[1];
    const times = /^(\d+)\*/.exec(columns ?? '')?.[1];
    this.#width = times === undefined ? (columns?.split(',').length ?? 0) : Number(times);
    if (/header/.test(line)) this.#headers = 1;
  }

  /** Cells of a line, of which a row may have several lines. */
  addFlowing(cells: WrittenCell[]): void {
    const row = this.#rows.at(-1);
    const sum = (all: readonly WrittenCell[]) => all.reduce((total, { columns = 1 }) => total + columns, 0);
    if (this.#width === 0) this.#width = sum(cells);
    if (row && sum(row) + sum(cells) <= this.#width && cells.length < this.#width) row.push(...cells);
    else this.#rows.push(cells);
  }

  extend(text: string): void {
    const cell = this.#rows.at(-1)?.at(-1);
    if (cell) cell.text += ` ${text}`;
  }

  /** A blank line below the first row makes it names of columns. */
  blank(): void {
    if (this.#rows.length === 1) this.endHeader();
  }

  take(): string[] {
    if (this.#rows.length === 0) return [];
    const rows = this.#rows.map((cells, index) => {
      const name = index < this.#headers ? 'th' : 'td';
      const written = cells.map(
        ({ text, columns = 1, rows: below = 1 }) =>
          `<${name} colspan="${columns}" rowspan="${below}">${encodeXML(text.trim())}</${name}>`,
      );
      return `<tr>${written.join('')}</tr>`;
    });
    [this.#rows, this.#headers, this.#width] = [[], 0, 0];
    return ['', `<table>${rows.join('')}</table>`, ''];
  }
}

function withMatter(matter: readonly string[], lines: readonly string[]): string {
  return [...(matter.length > 0 ? ['---', ...matter, '---'] : []), ...lines].join('\n');
}
