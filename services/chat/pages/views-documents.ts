import {
  badge,
  type Column,
  count,
  empty,
  type Frame,
  field,
  filters,
  formatBytes,
  type Html,
  html,
  icon,
  layout,
  linkButton,
  notice,
  progress,
  table,
  time,
} from '@octavo/web/html';
import { type Document, isWithin, limits, mayChange } from '../documents/index.ts';
import { visibilityOf } from '../library.ts';
import { pageRoutes, pathOf, routes } from '../routes.ts';

import {
  formerlySharedNotice,
  type Readers,
  readersOf,
  type UploadReaders,
  uploadReaders,
  visibilityForm,
} from './views-visibility.ts';

const styles = ['chat.css'];

export interface DocumentsView extends UploadReaders {
  readonly documents: readonly Document[];
  readonly total: number;
  readonly q: string;
  /** The address of the next page. */
  readonly next: string | undefined;
  /** Outcome for the files that a form without JavaScript sent. */
  readonly uploaded?: UploadedView | undefined;
  /** Names of people, by their owners. */
  readonly names: ReadonlyMap<string, string>;
  /** Number of documents that everybody could read before the upgrade, for an administrator to decide. */
  readonly formerlyShared: number;
  /** Numbers of documents, and of those that this version has read. */
  readonly readings: { readonly total: number; readonly read: number };
  readonly vectors: VectorProgress | undefined;
}

/** Numbers of passages, and of those that are found by their meaning. */
export interface VectorProgress {
  readonly chunks: number;
  readonly embedded: number;
  /** Reason why it does not go on, as a sentence. */
  readonly problem: string | undefined;
}

export interface UploadedView {
  readonly added: readonly string[];
  readonly known: readonly string[];
  readonly failed: readonly { readonly filename: string; readonly message: string }[];
}

/** The documents, and the form that adds some. */
export function documentsPage(frame: Frame, view: DocumentsView): string {
  const { documents, total, q, next, uploaded, formerlyShared, readings, vectors } = view;
  const isSearched = q !== '';
  const search = filters({
    action: pageRoutes.documents,
    search: field({ name: 'q', label: 'Search documents', type: 'search', value: q }),
    clearHref: isSearched ? pageRoutes.documents : undefined,
  });
  const none = isSearched
    ? empty({
        icon: 'search',
        title: 'No matching documents',
        text: 'Try another word.',
        actions: linkButton(pageRoutes.documents, 'Show all documents'),
      })
    : html`<p class="muted">Nothing was uploaded yet.</p>`;
  return layout(frame, {
    title: 'Documents',
    lead: 'Answers quote the documents that you upload here.',
    styles,
    modules: ['upload.js', 'upload-folder.js'],
    main: html`<div class="stack">${formerlyShared > 0 && formerlySharedNotice(frame, formerlyShared, view)}${uploadForm(frame, view)}${uploaded && uploadNotices(uploaded)}
<div class="stack" data-vectors>${readings.read < readings.total && readingProgress(readings)}${vectors && vectorProgress(vectors)}</div>
<div data-listing>${(total > 20 || isSearched) && search}${documents.length > 0 ? documentTable(frame, view) : none}
${next && html`<p class="actions">${linkButton(next, 'Older documents')}</p>`}</div></div>`,
  });
}

function readingProgress({ total, read }: DocumentsView['readings']): Html {
  return progress({
    label: 'Reading documents again after the upgrade',
    value: read,
    max: total,
    detail: `${read} of ${count(total, 'document')}; the others are found as they were read before.`,
  });
}

function vectorProgress({ chunks, embedded, problem }: VectorProgress): Html {
  return progress({
    label: 'Learning what the passages mean',
    value: embedded,
    max: chunks,
    detail: `${embedded} of ${count(chunks, 'passage')}; the others are found by their words.${problem === undefined ? '' : ` ${problem}`}`,
  });
}

function uploadForm({ csrfField }: Frame, view: DocumentsView): Html {
  return html`<form class="card form" method="post" action="${pageRoutes.documents}" enctype="multipart/form-data" data-drop data-upload="${routes.upload}" data-bytes-max="${limits.fileBytesMax}">${csrfField}
<div class="field"><label for="file">Files</label><input type="file" id="file" name="file" multiple required aria-describedby="file-help">
<p class="help" id="file-help"><span>PDF, Word, spreadsheets, slides, Markdown, HTML, CSV, JSON, mail and plain text, up to 25 MB each<noscript>, 10 at a time</noscript>.<span data-drop-help hidden> You can drop them here.</span></span></p></div>
<div class="field" data-folder hidden><label for="folder">Or a whole folder</label><input type="file" id="folder" webkitdirectory aria-describedby="folder-help">
<p class="help" id="folder-help">Uploads new and changed files, except hidden ones, and tags them with the name of the folder.</p></div>
${uploadReaders(view)}
<p class="actions"><button>Upload</button></p><ul class="uploads" data-uploads aria-live="polite"></ul></form>`;
}

function uploadNotices({ added, known, failed }: UploadedView): Html {
  return html`${added.length > 0 && notice('good', `Added: ${added.join(', ')}`)}
${known.length > 0 && notice('info', `There already: ${known.join(', ')}`)}
${failed.map(({ filename, message }) => notice('bad', message, filename === '' ? {} : { title: filename }))}`;
}

function documentTable(frame: Frame, view: DocumentsView): Html {
  const { documents, viewer, library } = view;
  const readers: Column<Document>[] = library.hasSignIn
    ? [{ header: 'Visible to', kind: 'fit', cell: (document) => readersOf(document, view) }]
    : [];
  return table<Document>({
    caption: 'Documents, newest first',
    columns: [
      {
        header: 'Title',
        kind: 'main',
        cell: (document) => (isWithin(viewer.reach, document) ? titleLink(document) : document.filename),
      },
      ...readers,
      { header: 'Size', kind: 'amount', cell: ({ size }) => formatBytes(size) },
      {
        header: 'Indexed',
        kind: 'fit',
        cell: (document) => isWithin(viewer.reach, document) && indexed(document),
      },
      { header: 'Added', kind: 'plain', cell: ({ createdAtMs }) => time(createdAtMs) },
      { header: 'Actions', kind: 'row-actions', cell: (document) => actionsOf(frame, document, view) },
    ],
    rows: documents,
  });
}

function indexed({ status, chunkCount, error, warnings }: Document): Html {
  const told = warnings.length > 0 && html` ${badge('warn', count(warnings.length, 'warning'))}`;
  if (status === 'indexed') return html`${count(chunkCount, 'passage')}${told}`;
  if (status === 'failed') return html`${badge('bad', 'failed')}${error && html` <small>${error}</small>`}`;
  return badge('info', 'being read');
}

function titleLink({ publicId, title, filename }: Document): Html {
  return html`<a href="${pathOf(pageRoutes.document, publicId)}" title="${title}">${title}</a><div>${filename}</div>`;
}

/** Deletes a document, and shares one that has no page for its viewer. */
function actionsOf(frame: Frame, document: Document, view: DocumentsView): Html | undefined {
  const { viewer, library } = view;
  if (!mayChange(library, document, viewer.identity)) return undefined;
  const isRead = isWithin(viewer.reach, document);
  const { publicId, filename } = document;
  const title = isRead ? document.title : filename;
  return html`<div class="row-buttons">${!isRead && visibilityForm(frame, document, view)}${deleteLink(publicId, title)}</div>`;
}

function deleteLink(publicId: string, title: string): Html {
  return html`<a class="button quiet only-icon" href="${pathOf(pageRoutes.deleteDocument, publicId)}" title="Delete" data-dialog>${icon('trash')}<span class="hidden">Delete ${title}</span></a>`;
}

const readers = {
  private: 'visible to you only',
  everyone: 'visible to everyone',
  public: 'visible to everyone who is not signed in',
} as const;

/** The text of a document, and the passage of it that is marked. */
interface ShownPassage {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The page that it is on. */
  readonly page: number | undefined;
  /** The words of a passage that is not in the text anymore. */
  readonly lost: string | undefined;
}

/** The text of a document with a passage marked, below the picture of its page. */
export function documentPage(
  frame: Frame,
  document: Document,
  { text, start: from, end: to, page, lost, viewer, library }: Readers & ShownPassage,
): string {
  const isMarked = from < to;
  const [before, passage, after] = isMarked
    ? [text.slice(0, from), text.slice(from, to), text.slice(to)]
    : [text, '', ''];
  const { title, filename, size, pages, publicId, warnings } = document;
  const facts = [
    filename,
    formatBytes(size),
    ...(pages === null ? [] : [count(pages, 'page')]),
    ...(library.hasSignIn ? [readers[visibilityOf(document.libraryKey)]] : []),
  ];
  return layout(frame, {
    title,
    lead: facts.join(' · '),
    styles,
    parent: { href: pageRoutes.documents, label: 'Documents' },
    actions: html`${isMarked && linkButton('#passage', 'Go to the passage', 'quiet')}${visibilityForm(frame, document, { viewer, library })}${linkButton(pathOf(routes.documentContent, publicId), 'Download')}`,
    main: html`${warnings.length > 0 && warningNotice(warnings)}${lost && lostNotice(lost)}${page !== undefined && pagePicture(document, page, { from, to })}<div class="card prose document">${before}${isMarked && html`<mark id="passage">${passage}</mark>`}${after}</div>`,
  });
}

function warningNotice(warnings: readonly string[]): Html {
  const [first, ...others] = warnings;
  return notice(
    'warn',
    others.length === 0 ? first : html`<ul>${warnings.map((each) => html`<li>${each}</li>`)}</ul>`,
  );
}

function lostNotice(quote: string): Html {
  const title = 'The document was read again, and this passage is not in its text anymore';
  return notice('info', html`<p>“${quote}”</p>`, { title });
}

/** Its space is that of a page of A4, as the size of the page is not known before it is drawn. */
function pagePicture(
  { publicId, title }: Document,
  page: number,
  { from, to }: { from: number; to: number },
): Html {
  const src = `${pathOf(routes.documentPicture, publicId).replace(':page', String(page))}?start=${from}&end=${to}`;
  return html`<figure class="page-picture"><a href="${src}"><img src="${src}" width="1200" height="1697" loading="lazy" alt="Page ${page} of ${title}"></a><figcaption>Page ${page}</figcaption></figure>`;
}
