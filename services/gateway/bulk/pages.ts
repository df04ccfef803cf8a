import { createHash } from 'node:crypto';
import type { MultipartFile } from '@fastify/multipart';
import type { FastifyReply } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { card, linkButton, notice, progress } from '#kit/html/blocks.ts';
import { csrfFieldName } from '#kit/html/csrf.ts';
import { field } from '#kit/html/form.ts';
import { count, formatNumber } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
import type { Client } from '#kit/rpc/index.ts';
import { Type } from '#kit/schema.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import type { PostServiceDefinition } from '#proto/posts/v1/posts.ts';
import type { PageSession, Visitor, Visitors } from '../access/index.ts';
import { CreatePostRequest } from '../posts/index.ts';
import { pageRoutes } from '../routes.ts';
import { type ColumnNames, fieldNames } from './assets/rows.js';
import { bulkBounds, checkRows, createPosts, type ParseRow, wholeRow } from './bulk.ts';
import { type ImportResult, importFile, parseImported, type RowError, type SaveRows } from './import-file.ts';

interface Saving {
  readonly posts: Client<PostServiceDefinition>;
  readonly parseRow: ParseRow;
}

const fileMegabytesMax = 256;
const fileBytesMax = fileMegabytesMax * 1024 * 1024;
/** The browser module sends at most 400,000 characters and one row of a file. */
const rowsBytesMax = 4 * 1024 * 1024;

/** Rows that the browser module parsed: the number of the first, and a key so that rows sent twice are saved once. */
const RowsRequest = Type.Object({
  key: Type.String({ pattern: '^[\\w-]{1,80}$' }),
  first: Type.Integer({ minimum: 1 }),
  posts: Type.Array(Type.Unknown(), { minItems: 1, maxItems: postLimits.bulk }),
});

export function addImportPages(
  routes: PageRoutes<PageSession>,
  { visitors, posts }: { visitors: Visitors; posts: Client<PostServiceDefinition> },
): void {
  const access = visitors('post', 'write');
  const saving = { posts, parseRow: parseImported(compileValidator(CreatePostRequest, wholeRow)) };
  routes.get(pageRoutes.importPosts, { access }, async ({ frame }) => importPage(frame()));
  routes.post(
    pageRoutes.importPosts,
    { access, accepts: 'multipart/form-data', bodyBytesMax: fileBytesMax },
    (visitor) => importUpload(visitor, saving),
  );
  routes.post(
    pageRoutes.importRows,
    { access, accepts: 'application/json', bodyBytesMax: rowsBytesMax, jsonBounds: bulkBounds },
    importRows(saving),
  );
}

/** One part of an import by the browser module. */
function importRows(saving: Saving): (visitor: Visitor) => Promise<FastifyReply> {
  const parseRequest = compileValidator(RowsRequest);
  return async (visitor) => {
    const { request, reply } = visitor.visit;
    const parsed = parseRequest(request.body);
    if (parsed.fields) {
      throw new AppError('invalid_input', 'The rows are not valid.', { fields: parsed.fields });
    }
    const { key, first, posts } = parsed.value;
    const digest = createHash('sha256')
      .update(JSON.stringify([first, posts]))
      .digest();
    const saved = await saveRows(visitor, saving, { key: `import-${key}`, digest })(posts, first);
    return reply.type('application/json; charset=utf-8').send(saved);
  };
}

/** A whole file sent by a form, for browsers without scripts. */
async function importUpload(visitor: Visitor, saving: Saving): Promise<string> {
  const { visit, frame } = visitor;
  const result = await readUpload(visitor, saving).catch((error: unknown) => {
    const { destroyed, complete } = visit.request.raw;
    if (complete || !destroyed) throw error;
    throw new AppError('canceled', 'The upload was interrupted.', { cause: error });
  });
  if (!result) {
    visit.reply.code(422);
    return importPage(frame(), { error: 'Choose a file first.' });
  }
  if (result.problem) visit.reply.code(result.created > 0 ? 207 : 422);
  else if (result.failed > 0) visit.reply.code(207);
  return importPage(frame(), { result, requestId: visit.request.id });
}

async function readUpload(visitor: Visitor, saving: Saving): Promise<ImportResult | undefined> {
  const { visit } = visitor;
  let isChecked = false;
  const columnNames: ColumnNames = {};
  for await (const part of visit.request.parts({ limits: { fileSize: fileBytesMax } })) {
    if (part.type === 'field' && part.fieldname === csrfFieldName) {
      visit.checkToken(part.value);
      isChecked = true;
    }
    if (part.type === 'field') readColumnName(columnNames, part);
    if (part.type !== 'file') continue;
    // In our form the token comes before the file. A form without it comes from elsewhere.
    if (!isChecked) visit.checkToken(undefined);
    if (!part.filename) part.file.resume();
    else return importPart(visitor, { ...part, columnNames }, saving);
  }
  return undefined;
}

/** Without scripts, a form has the names of the columns before the file. An empty name is the usual one. */
function readColumnName(
  names: ColumnNames,
  { fieldname, value }: { fieldname: string; value: unknown },
): void {
  const field = fieldNames.find((name) => columnField(name) === fieldname);
  if (field && typeof value === 'string' && value.trim() !== '') names[field] = value;
}

function columnField(name: string): string {
  return `${name}Column`;
}

async function importPart(
  visitor: Visitor,
  { filename, file, columnNames }: Pick<MultipartFile, 'filename' | 'file'> & { columnNames: ColumnNames },
  saving: Saving,
): Promise<ImportResult> {
  const result = await importFile({ name: filename, chunks: file, columnNames }, saveRows(visitor, saving));
  if (!file.truncated) return result;
  return { ...result, problem: `The file is larger than ${fileMegabytesMax} MB. The rest was not imported.` };
}

function saveRows(
  { caller, call }: Visitor,
  { posts, parseRow }: Saving,
  idempotency?: { key: string; digest: Buffer },
): SaveRows {
  return async (given, first) => {
    const { rows, errors } = checkRows({ posts: given }, parseRow);
    const { data } = await createPosts(posts, { rows, errors, uid: caller.uid, idempotency }, call);
    return { created: data.created, errors: data.errors.map((line) => rowError(line, first)) };
  };
}

/** `posts[17]: title: must be …` as the row's number in the file and the problem in words. */
function rowError(line: string, first: number): RowError {
  const [, index = '0', problem = line] = /^posts\[(\d+)\]: (.*)$/s.exec(line) ?? [];
  return { row: first + Number(index), message: problem.replace(/(^|; )(\w+): /g, '$1$2 ') };
}

interface ImportView {
  readonly result?: ImportResult;
  /** To quote if something went wrong. */
  readonly requestId?: string;
  /** What is wrong with the form itself. */
  readonly error?: string;
}

function importPage(frame: Frame, { result, requestId, error }: ImportView = {}): string {
  return layout(frame, {
    title: 'Import posts',
    parent: { href: pageRoutes.posts, label: 'Posts' },
    modules: ['import.js'],
    main: html`${result && resultNotice(result, requestId)}<div class="columns" data-import><div class="stack">${card(undefined, fileForm(frame, error))}
<template data-import-running>${runningCard()}</template><div data-import-preview></div><div class="stack" data-import-outcome aria-live="polite"></div>
${result && errorCard(result.errors)}</div>${formats()}</div>`,
  });
}

function fileForm(frame: Frame, error: string | undefined): Html {
  return html`<form class="form" method="post" action="${pageRoutes.importPosts}" enctype="multipart/form-data" data-drop>${frame.csrfField}
${columnFields()}${field({
  name: 'file',
  label: 'CSV or JSON file',
  type: 'file',
  error,
  help: 'You can also drop it here. Valid rows are saved. Invalid rows are listed with what is wrong.',
  attributes: { accept: '.csv,.json,.jsonl,.ndjson,text/csv,application/json', required: true },
})}
<div class="actions"><button>Import</button>${linkButton(pageRoutes.posts, 'Cancel', 'quiet')}</div></form>`;
}

/** Before the file, so that they have arrived when it is read. */
function columnFields(): Html {
  const texts = [
    field({ name: columnField('title'), label: 'Column of the title', attributes: { placeholder: 'title' } }),
    field({ name: columnField('body'), label: 'Column of the body', attributes: { placeholder: 'body' } }),
    field({
      name: columnField('userId'),
      label: 'Column of the user number',
      attributes: { placeholder: 'userId' },
    }),
  ];
  return html`<details data-import-columns><summary>The columns have other names</summary><div class="fields">${texts}</div></details>`;
}

function runningCard(): Html {
  return card(
    undefined,
    html`<div class="stack">${progress({ label: 'Reading', value: 0 })}
<div class="actions"><button type="button" class="secondary" data-import-cancel>Stop</button></div></div>`,
  );
}

function resultNotice({ created, failed, problem }: ImportResult, requestId?: string): Html {
  const counts = html`${count(created, 'post')} saved${failed > 0 && `, ${count(failed, 'row')} not saved`}.
<a href="${pageRoutes.posts}">Show the posts</a>`;
  const quote = html`<br><small>Request <code>${requestId}</code></small>`;
  if (problem) return notice('bad', html`${problem} ${counts}${quote}`, { title: 'The import ended early' });
  if (failed > 0) return notice('warn', counts, { title: 'Part of the file was imported' });
  return notice('good', counts);
}

function errorCard(errors: readonly RowError[]): Content {
  if (errors.length === 0) return undefined;
  return card(
    'Rows that were not saved',
    table({
      caption: 'Rows that were not saved',
      isSmall: true,
      columns: [
        { header: 'Row', kind: 'number', cell: (error: RowError) => formatNumber(error.row) },
        { header: 'What is wrong', cell: (error) => error.message },
      ],
      rows: errors,
    }),
  );
}

function formats(): Html {
  return card(
    'File format',
    html`<p>CSV whose first line names the columns. If you leave out <code>userId</code>, the posts are yours.</p>
<pre><code>title,body,userId
Fog over the harbor,The ferries wait.,7</code></pre>
<p>JSON: a list, an object with <code>posts</code>, or one object per line.</p>
<pre><code>[{ "title": "Fog over the harbor", "body": "The ferries wait." }]</code></pre>`,
  );
}
