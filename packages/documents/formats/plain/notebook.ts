import { unreadable } from '../../errors.ts';
import type { Block, Extracted } from '../blocks.ts';
import { extractHtml } from '../html.ts';
import { extractMarkdown } from '../markdown.ts';

interface Output {
  readonly text?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface NotebookCell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
  readonly outputs?: readonly Output[];
}

/** A notebook of Jupyter: its text, its code, and what the code printed. */
export function extractNotebook(text: string): Extracted {
  let notebook: { readonly cells?: unknown; readonly worksheets?: readonly { readonly cells?: unknown }[] };
  try {
    notebook = JSON.parse(text);
  } catch (cause) {
    throw unreadable('The notebook is not valid JSON.', cause);
  }
  const cells = notebook?.cells ?? notebook?.worksheets?.[0]?.cells;
  if (!Array.isArray(cells)) throw unreadable('The file is not a notebook.');
  return { blocks: (cells as readonly NotebookCell[]).flatMap(blocksOf) };
}

function blocksOf(cell: NotebookCell): Block[] {
  const source = joined(cell?.source);
  if (cell?.cell_type === 'markdown') return [...extractMarkdown(source).blocks];
  const outputs = Array.isArray(cell?.outputs) ? cell.outputs : [];
  return [{ text: source }, ...outputs.flatMap(shown)];
}

function shown({ text, data }: Output): Block[] {
  const html = joined(data?.['text/html']);
  if (/<table/i.test(html)) return [...extractHtml(html).blocks];
  return [{ text: joined(text) || joined(data?.['text/plain']) }];
}

/** Text in one piece or in lines. */
function joined(text: unknown): string {
  return [text]
    .flat()
    .filter((part) => typeof part === 'string')
    .join('');
}
