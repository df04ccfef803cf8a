import { empty, linkButton } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { count, formatBytes, formatDuration, time } from '#kit/html/format.ts';
import { attributes, type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { Citation } from '../answers/index.ts';
import type { Document } from '../documents/index.ts';
import { defaultStrategy, type Source, strategies } from '../retrieval/index.ts';
import { pageRoutes, pathOf, routes } from '../routes.ts';
import type { Message, Session } from '../sessions/index.ts';
import type { TraceStep } from '../tools/index.ts';

const styles = ['chat.css'];

/** What an answer is kept with. */
interface Details {
  readonly sources?: readonly Source[];
  readonly citations?: readonly Citation[];
  readonly api_chain_trace?: readonly TraceStep[];
  readonly metadata?: {
    readonly mode: string;
    readonly model: string;
    readonly finish_reason: string;
    readonly strategy_used: string;
    readonly warnings: readonly string[];
    readonly unsupported: readonly { readonly start: number; readonly end: number }[];
    readonly latency_ms: { readonly total: number };
  };
}

export interface ChatView {
  readonly session: Session | undefined;
  readonly messages: readonly Message[];
  readonly documentCount: number;
}

/** A chat with the form for the next question. */
export function chatPage(frame: Frame, { session, messages, documentCount }: ChatView): string {
  return layout(frame, {
    title: session?.title ?? 'Ask your documents',
    ...(session
      ? { actions: sessionActions(session) }
      : { lead: 'Answers quote what you uploaded, with a link to each passage.' }),
    ...{ styles, modules: ['chat.js'] },
    main: html`<div class="chat" data-chat="${session?.id ?? ''}">
<div class="turns" data-turns>${messages.length > 0 ? turns(messages) : start(documentCount)}</div>
<p class="hidden" role="status" data-state></p>${composer(frame, session)}</div>`,
  });
}

function start(documentCount: number): Html {
  if (documentCount === 0) {
    return empty({
      ...{ icon: 'upload', title: 'No documents yet' },
      text: 'Upload a handbook, notes or a report, then ask about it.',
      actions: linkButton(pageRoutes.documents, 'Upload documents', 'secondary'),
    });
  }
  return empty({
    ...{ icon: 'comment', title: 'What do you want to know?' },
    text: `Your question is answered from ${count(documentCount, 'document')}.`,
  });
}

function sessionActions({ id }: Session): Html {
  return html`${linkButton(`${pathOf(routes.sessionExport, id)}?format=md`, 'Export', 'quiet')}
<a class="button quiet" href="${pathOf(pageRoutes.deleteChat, id)}" data-dialog>Delete</a>`;
}

function turns(messages: readonly Message[]): Html[] {
  return messages.map((message) =>
    message.role === 'user' ? html`<h2 class="question">${message.content}</h2>` : answer(message),
  );
}

function answer({ content, details }: Message): Html {
  const { sources = [], citations = [], api_chain_trace: trace = [], metadata } = details as Details;
  const warnings = metadata?.warnings ?? [];
  return html`<article class="answer"><div class="prose">${withLinks(content, sources, citations)}</div>
${metadata?.finish_reason === 'cancelled' && html`<p class="small muted">Stopped.</p>`}
${warnings.map((warning) => html`<p class="small muted">${icon('alert')} ${warning}</p>`)}
${sources.length > 0 && html`<details><summary>${count(sources.length, 'source')}</summary><ol class="sources">${sources.map(sourceItem)}</ol></details>`}
${trace.length > 0 && html`<details><summary>${count(trace.length, 'call')}</summary><ol class="trace">${trace.map(traceItem)}</ol></details>`}
${metadata && html`<p class="small muted">${metadata.mode === 'llm' ? metadata.model : 'Quoted without a model'} · ${strategyName(metadata.strategy_used)} · ${tookText(metadata.latency_ms.total)}${metadata.unsupported.length > 0 && ` · ${count(metadata.unsupported.length, 'sentence')} without a source`}</p>`}</article>`;
}

/** Markers become links to what they quote. */
function withLinks(text: string, sources: readonly Source[], citations: readonly Citation[]): Html[] {
  return text.split(/(\[A?\d+\])/).map((part, index, parts) => {
    const [, marker = ''] = /^\[(A?\d+)\]$/.exec(part) ?? [];
    const source = sources.find((each) => String(each.index) === marker);
    if (!source) return html`${part}`;
    const at = parts.slice(0, index).join('').length;
    const cited = citations.findLast(
      (each) => each.kind === 'document' && each.source_index === source.index && each.answer_start <= at,
    );
    const [from, to] =
      cited?.kind === 'document' ? [cited.quote_start, cited.quote_end] : [source.start, source.end];
    const label = `Source ${marker}: ${source.title}`;
    return html`<a class="cite" href="${passageHref(source.document_id, from, to)}" title="${label}" aria-label="${label}">${marker}</a>`;
  });
}

function sourceItem(source: Source): Html {
  return html`<li><a href="${passageHref(source.document_id, source.start, source.end)}">${source.title}</a>
<span class="muted">${source.section}${source.page !== null && `, page ${source.page}`}</span><p class="small">${source.snippet}</p></li>`;
}

function traceItem({
  tool,
  path,
  params,
  status,
  duration_ms,
  result_count,
  reason,
  error,
}: TraceStep): Html {
  const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return html`<li><code>${tool}</code> <span class="muted">${path}${query.size > 0 && `?${query}`}</span>
<p class="small muted">${reason} ${status === 'ok' ? count(result_count, 'record') : (error ?? status)}, ${tookText(duration_ms)}</p></li>`;
}

function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.max(1, Math.round(ms))} ms` : formatDuration(ms);
}

function strategyName(id: string): string {
  return strategies.find((strategy) => strategy.id === id)?.name ?? id;
}

function composer({ csrfField }: Frame, session: Session | undefined): Html {
  const options = strategies.map(
    ({ id, name }) =>
      html`<option value="${id}"${attributes({ selected: id === defaultStrategy })}>${name}</option>`,
  );
  return html`<form class="composer card" method="post" action="${pageRoutes.ask}" data-composer>${csrfField}
<input type="hidden" name="session" value="${session?.id ?? ''}"><label class="hidden" for="query">Question</label>
<textarea id="query" name="query" rows="2" required maxlength="4000" placeholder="Ask a question" autofocus></textarea>
<div class="actions"><label class="hidden" for="strategy">Strategy</label><select id="strategy" name="strategy">${options}</select>
<a class="button quiet" href="${pageRoutes.documents}">${icon('upload')} Documents</a>
<button type="button" class="secondary" data-stop hidden>Stop</button><button data-ask>Ask</button></div></form>`;
}

/** The documents, and the form that adds some. */
export function documentsPage(
  frame: Frame,
  { documents, total }: { documents: readonly Document[]; total: number },
): string {
  return layout(frame, {
    title: 'Documents',
    lead: total === 0 ? 'Answers are quoted from what you upload.' : count(total, 'document'),
    ...{ styles, modules: ['upload.js'] },
    main: html`<div class="stack">${uploadForm()}${documents.length > 0 && documentTable(documents)}</div>`,
  });
}

function uploadForm(): Html {
  return html`<form class="card form" method="post" action="${routes.upload}" enctype="multipart/form-data" data-upload>
<label for="file">Files</label><input type="file" id="file" name="file" multiple required aria-describedby="file-help">
<small id="file-help">PDF, Word, spreadsheets, Markdown, HTML, CSV, JSON, mail and plain text, up to 25 MB each and 10 at once.</small>
<p class="actions"><button>Upload</button></p><div data-uploads aria-live="polite"></div></form>`;
}

function documentTable(documents: readonly Document[]): Html {
  const row = (document: Document) =>
    html`<tr><th scope="row" class="main"><a href="${pathOf(pageRoutes.document, document.publicId)}">${document.title}</a><div class="small muted">${document.filename}</div></th>
<td class="number">${formatBytes(document.size)}</td><td class="fit">${document.status === 'indexed' ? count(document.chunkCount, 'passage') : document.status}</td>
<td class="fit">${time(document.createdAtMs)}</td>
<td class="fit"><a class="button quiet" href="${pathOf(pageRoutes.deleteDocument, document.publicId)}" data-dialog>Delete<span class="hidden"> ${document.title}</span></a></td></tr>`;
  return html`<div class="wide"><table class="table documents"><thead><tr><th scope="col">Title</th><th scope="col" class="number">Size</th><th scope="col">Indexed</th><th scope="col">Added</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
<tbody>${documents.map(row)}</tbody></table></div>`;
}

/** The text of a document with a passage marked. */
export function documentPage(
  frame: Frame,
  document: Document,
  { text, start: from, end: to }: { text: string; start: number; end: number },
): string {
  const isMarked = from < to;
  const [before, passage, after] = isMarked
    ? [text.slice(0, from), text.slice(from, to), text.slice(to)]
    : [text, '', ''];
  return layout(frame, {
    title: document.title,
    lead: document.filename,
    styles,
    parent: { href: pageRoutes.documents, label: 'Documents' },
    actions: linkButton(pathOf(routes.documentContent, document.publicId), 'Download'),
    main: html`<div class="card prose document">${before}${isMarked && html`<mark id="passage">${passage}</mark>`}${after}</div>`,
  });
}

/** Asks before something is deleted. */
export function deletePage(
  frame: Frame,
  {
    what,
    name,
    text,
    action,
    back,
  }: { what: string; name: string; text: string; action: string; back: string },
): string {
  const { csrfField } = frame;
  const question = confirm({
    ...{ title: `Delete “${name}”?`, text, action, csrfField },
    ...{ deed: `Delete ${what}`, cancelHref: back },
  });
  return layout(frame, { title: `Delete ${what}`, main: question });
}

function passageHref(document: string, from: number, to: number): string {
  return `${pathOf(pageRoutes.document, document)}?start=${from}&end=${to}#passage`;
}
