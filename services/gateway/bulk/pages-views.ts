import type { Fields } from '@octavo/core';
import {
  type Content,
  card,
  count,
  type Frame,
  formatNumber,
  type Html,
  html,
  layout,
  linkButton,
  notice,
  table,
} from '@octavo/web/html';
import { encodingField, fileForm, importForm, mappingFields, problemTable } from '@octavo/web/import-pages';
import type { Mapping } from '@octavo/web/imports';
import { importPath, pageRoutes } from '../routes.ts';
import { importFields } from './import-fields.ts';
import type { ImportResult } from './imported-files.ts';

/** The largest file that can be imported. */
export const fileBytesMax = 256 * 1024 * 1024;
const rowsShown = 5;
const charactersShown = 120;

export function importPage(frame: Frame, error?: string): string {
  const form = fileForm({
    action: pageRoutes.importPosts,
    csrfField: frame.csrfField,
    label: 'CSV or JSON file',
    help: 'At most 256 MB. You can also drop it here. You see a preview before anything is saved.',
    accept: '.csv,.json,.jsonl,.ndjson,text/csv,application/json',
    bytesMax: fileBytesMax,
    error,
    cancelHref: pageRoutes.posts,
  });
  return page(
    frame,
    'Import posts',
    html`<div class="columns"><div class="stack">${form}</div>${formats()}</div>`,
  );
}

/** The start of a file, as it would be imported. */
export interface Preview {
  readonly id: string;
  readonly name: string;
  /** Columns of a CSV file. */
  readonly header: readonly string[];
  readonly mapping: Mapping;
  /** Encoding that was chosen, and the one that the file tells. */
  readonly encodings: { readonly chosen: string | undefined; readonly told: string };
  readonly rows: readonly PreviewRow[];
  /** True if the rows are all there are. */
  readonly isWhole: boolean;
  /** Reason why the file cannot be imported like this. */
  readonly problem: string | undefined;
  /** Sentences on how it was read. */
  readonly notes: readonly string[];
}

interface PreviewRow {
  readonly number: number;
  readonly post: Readonly<Record<string, unknown>>;
  /** Author as the file names it, unless by a number. */
  readonly author?: string | undefined;
  readonly fields?: Fields | undefined;
}

export function previewPage(frame: Frame, preview: Preview): string {
  const { id, name, rows, isWhole, problem, notes } = preview;
  const wrong = rows.flatMap(({ number, fields }) =>
    fields ? [{ row: number, message: inWords(fields) }] : [],
  );
  const columns = readingCard(preview);
  const label = isWhole ? `Import ${count(rows.length - wrong.length, 'post')}` : 'Import the whole file';
  const seen = isWhole ? count(rows.length, 'row') : `the first ${count(rows.length, 'row')}`;
  const form = importForm({
    action: importPath('importFile', id),
    csrfField: frame.csrfField,
    fields: html`<input type="hidden" name="name" value="${name}"><p class="muted">Nothing has been saved yet.</p>${columns}`,
    label: problem === undefined || rows.length > 0 ? label : undefined,
  });
  return page(
    frame,
    name || 'Import posts',
    html`<div class="stack">${problem !== undefined && notice('warn', problem)}${notes.map((note) => notice('info', note))}${form}
${rows.length > 0 && card('The first rows', previewTable(rows.slice(0, rowsShown)))}
${wrong.length > 0 && card(`${formatNumber(wrong.length)} of ${seen} cannot be saved`, problemTable('Rows that cannot be saved', wrong.slice(0, 20)))}</div>`,
  );
}

function readingCard({ mapping, header, encodings: { chosen, told } }: Preview): Html {
  return card(
    'How to read it',
    html`<div class="stack"><div class="fields">${header.length > 0 && mappingFields(importFields, mapping, header)}${encodingField(chosen, told)}</div>
<div class="actions"><button class="secondary" name="do" value="preview">Update preview</button></div></div>`,
  );
}

function previewTable(rows: readonly PreviewRow[]): Html {
  return table<PreviewRow>({
    caption: 'The first rows of the file',
    columns: [
      { header: 'Row', kind: 'number', cell: ({ number }) => formatNumber(number) },
      {
        header: 'Post',
        kind: 'main',
        cell: ({ post }) => html`${shortened(post.title)}<div>${shortened(post.body)}</div>`,
      },
      { header: 'Author', cell: ({ post, author = post.userId }) => shortened(author) },
    ],
    rows,
  });
}

function shortened(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > charactersShown ? `${text.slice(0, charactersShown)}…` : text;
}

function inWords(fields: Fields): string {
  const problems = Object.entries(fields);
  return problems.map(([name, problem]) => (name === 'row' ? problem : `${name} ${problem}`)).join('; ');
}

/** An import that has begun and has no result. */
export function interruptedPage(frame: Frame, { id, name }: { id: string; name: string }): string {
  const text = html`It was stopped or cut off, or it still runs in another tab. Posts that were saved stay. To continue is safe: no
post is saved twice.`;
  return page(
    frame,
    name || 'Import posts',
    html`<div class="stack">${notice('warn', text, { title: 'This import has not ended' })}${continueForm(frame, id)}</div>`,
  );
}

function continueForm({ csrfField }: Frame, id: string): Html {
  return importForm({ action: importPath('importFile', id), csrfField, label: 'Continue the import' });
}

interface ResultView {
  readonly id: string;
  readonly result: ImportResult;
  /** Id to quote if something went wrong. */
  readonly requestId?: string;
}

export function resultPage(frame: Frame, { id, result, requestId }: ResultView): string {
  const { failed, problems, canContinue } = result;
  const shown = problems.length < failed && `These are the first ${formatNumber(problems.length)}. `;
  return page(
    frame,
    'Import posts',
    html`<div class="stack">${resultNotice(result, requestId)}${canContinue && continueForm(frame, id)}
${
  problems.length > 0 &&
  card(
    'Rows that were not saved',
    html`<p class="muted">${shown}Download all of them with their problems, correct them, and import that file.</p>
<p class="actions">${!canContinue && linkButton(importPath('importFailed', id), 'Download these rows')}</p>${problemTable('Rows that were not saved', problems)}`,
  )
}
<p class="actions">${linkButton(pageRoutes.importPosts, 'Import another file')}</p></div>`,
  );
}

function resultNotice({ created, failed, problem }: ImportResult, requestId?: string): Html {
  const counts = html`${count(created, 'post')} saved${failed > 0 && `, ${count(failed, 'row')} not saved`}.
<a href="${pageRoutes.posts}">Show the posts</a>`;
  const quote = requestId !== undefined && html`<br><small>Request <code>${requestId}</code></small>`;
  if (problem !== undefined)
    return notice('bad', html`${problem} ${counts}${quote}`, { title: 'The import stopped early' });
  if (failed > 0) return notice('warn', counts, { title: 'Part of the file was imported' });
  return notice('good', counts);
}

function page(frame: Frame, title: string, main: Content): string {
  const parent =
    title === 'Import posts'
      ? { href: pageRoutes.posts, label: 'Posts' }
      : { href: pageRoutes.importPosts, label: 'Import posts' };
  return layout(frame, { title, parent, modules: ['imports.js'], main });
}

function formats(): Html {
  return card(
    'File format',
    html`<p>CSV whose first line names the columns. An author is the name or the number of a user. Posts without one are yours.</p>
<pre><code>title,body,author
Fog over the harbor,The ferries wait.,alice</code></pre>
<p>JSON: a list, an object with <code>posts</code>, or one object per line.</p>
<pre><code>[{ "title": "Fog over the harbor", "body": "The ferries wait." }]</code></pre>`,
  );
}
