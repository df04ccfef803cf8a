import { card, linkButton, notice, progress } from '#kit/html/blocks.ts';
import { field } from '#kit/html/form.ts';
import { count, formatNumber } from '#kit/html/format.ts';
import { type Content, type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { pageRoutes } from '../page-routes.ts';

/** What became of an import. */
export interface ImportResult {
  readonly created: number;
  readonly failed: number;
  /** The first bad rows, by their number in the file from 1. */
  readonly errors: readonly RowError[];
  /** Why it ended before the end of the file. */
  readonly problem?: string | undefined;
}

export interface RowError {
  readonly row: number;
  readonly message: string;
}

export interface ImportView {
  readonly result?: ImportResult;
  /** To quote where something went wrong. */
  readonly requestId?: string;
  /** What is wrong with the form itself. */
  readonly error?: string;
}

export function importPage(frame: Frame, view: ImportView = {}): string {
  const { result, requestId, error } = view;
  return layout(frame, {
    title: 'Import posts',
    parent: { href: pageRoutes.posts, label: 'Posts' },
    modules: ['import.js'],
    main: html`${result && resultNotice(result, requestId)}<div class="columns" data-import><div class="stack">${card(undefined, fileForm(frame, error))}
<template data-import-running>${runningCard()}</template><div class="stack" data-import-outcome aria-live="polite"></div>
${result && errorCard(result.errors)}</div>${formats()}</div>`,
  });
}

function fileForm(frame: Frame, error: string | undefined): Html {
  return html`<form class="form" method="post" action="${pageRoutes.importPosts}" enctype="multipart/form-data">${frame.csrfField}
${field({
  name: 'file',
  label: 'CSV or JSON file',
  type: 'file',
  error,
  help: 'Good rows are saved, bad ones are listed with what is wrong.',
  attributes: { accept: '.csv,.json,.jsonl,.ndjson,text/csv,application/json', required: true },
})}
<div class="actions"><button>Import</button>${linkButton(pageRoutes.posts, 'Cancel', 'quiet')}</div></form>`;
}

function runningCard(): Html {
  return card(
    undefined,
    html`<div class="stack">${progress({ label: 'Reading', value: 0 })}
<div class="actions"><button type="button" class="secondary" data-import-cancel>Stop</button></div></div>`,
  );
}

function resultNotice({ created, failed, problem }: ImportResult, requestId?: string): Html {
  const figures = html`${count(created, 'post')} saved${failed > 0 && `, ${count(failed, 'row')} not`}.
<a href="${pageRoutes.posts}">See the posts</a>`;
  const quote = html`<br><small>Request <code>${requestId}</code></small>`;
  if (problem) return notice('bad', html`${problem} ${figures}${quote}`, { title: 'The import ended early' });
  if (failed > 0) return notice('warn', figures, { title: 'Part of the file was imported' });
  return notice('good', figures);
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
    'What the file looks like',
    html`<p>CSV, with a first line that names the columns. <code>userId</code> may be left out: the posts are then yours.</p>
<pre><code>title,body,userId
Fog over the harbour,The ferries wait.,7</code></pre>
<p>JSON, as a list, as one object with <code>posts</code>, or as one object a line.</p>
<pre><code>[{ "title": "Fog over the harbour", "body": "The ferries wait." }]</code></pre>`,
  );
}
