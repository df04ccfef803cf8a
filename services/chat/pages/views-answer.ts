import type { Citation, Source } from '@octavo/reader';
import { attributes, count, formatDuration, type Html, html, icon } from '@octavo/web/html';
import { keepActions } from '@octavo/web/pages';
import { Marked } from 'marked';
import { strategies } from '../retrieval/index.ts';
import { detailsOf, type Message } from '../sessions/index.ts';
import type { TraceStep } from '../tools/index.ts';
import { markdownReader, type Node, plainNodes } from './assets/markdown.js';
import { passageHref, passagesView, shownPassages } from './views-passages.ts';

/** Further details stored with an answer. */
interface Details {
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

/** Forms beside an answer. */
export interface AnswerForms {
  /** Asks the same question once more. */
  again(question: Message): Html;
  /** Puts the question into the form, to change it. */
  edit(question: Message): Html;
  rate(answer: Message): Html;
}

const readMarkdown = markdownReader(Marked);

/** The turns of a chat: each question with its answer. */
export function turnsView(messages: readonly Message[], forms: AnswerForms): Html[] {
  return messages.flatMap((message, index) => {
    if (message.role === 'user') return [];
    const before = messages[index - 1];
    const question = before?.role === 'user' ? before : undefined;
    return html`<section class="turn" id="turn-${message.id}">${question && html`<h2 class="question">${question.content}</h2>`}
${answerView(message, html`${question && html`${forms.again(question)}${forms.edit(question)}`}${message.content !== '' && forms.rate(message)}`)}</section>`;
  });
}

function answerView(message: Message, actions: Html): Html {
  const { id, content, details } = message;
  const { api_chain_trace: trace = [], metadata } = details as Details;
  const { kind, sources, citations, language } = detailsOf(message);
  const passages = shownPassages(sources, citations);
  const others = sources.filter((source) => !passages.includes(source));
  const open = (metadata?.unsupported ?? []).map(({ start, end }) => content.slice(start, end));
  const place: Place = { turn: id, sources, citations, trace };
  const isWritten = metadata?.mode === 'llm';
  // The places that come closest are marked in the passages below.
  const isBelow = kind === 'closest' && citations.every((each) => each.kind === 'document');
  const text = isBelow ? content.slice(0, citations[0]?.answer_start).trimEnd() : content;
  const prose = proseOf(text, { isWritten, unsupported: open, markerView: (each) => citation(each, place) });
  const spoken = kind === 'closest' || kind === 'none' ? language : undefined;
  return html`<article class="answer"><div${attributes({ class: `prose${isWritten ? ' markdown' : ''}`, lang: spoken })}>${prose}</div>
${cutShort(metadata?.finish_reason, content)}
${(metadata?.warnings ?? []).map((warning) => html`<p class="notice warn">${icon('alert')} ${warning}</p>`)}
${passagesView(passages, { message: id, language })}
<div class="answer-foot">${content !== '' && keepActions({ text: content, what: 'the answer' })}${actions}${metadata && html`<span class="small muted">${origin(metadata)}</span>`}</div>
${others.length > 0 && html`<details><summary>${count(others.length, 'more passage')}</summary><ol class="sources">${others.map((source) => sourceItem(source, id))}</ol></details>`}
${trace.length > 0 && html`<details><summary>${count(trace.length, 'tool call')}</summary><ol class="trace">${trace.map((step) => traceItem(step, id))}</ol></details>`}</article>`;
}

function cutShort(reason: string | undefined, content: string): Html | undefined {
  const words =
    reason === 'cancelled'
      ? `Stopped${content === '' ? ' before anything was written' : ''}.`
      : reason === 'length' && 'The answer was cut, because it got too long.';
  return words ? html`<p class="muted">${words}</p>` : undefined;
}

interface Place {
  readonly turn: string;
  readonly sources: readonly Source[];
  readonly citations: readonly Citation[];
  readonly trace: readonly TraceStep[];
}

type Marker = Extract<Node, { marker: string }>;

/** Options for the text of an answer. */
export interface ProseOptions {
  /** True for the Markdown of a model. */
  readonly isWritten: boolean;
  /** Sentences that no source supports, which are marked. */
  readonly unsupported: readonly string[];
  markerView(marker: Marker): Html;
}

/** The text of an answer. */
export function proseOf(text: string, { isWritten, unsupported: given, markerView }: ProseOptions): Html[] {
  const open = given.map((each) => each.replace(/[*_`#]|\[A?\d+\]/g, '').trim());
  const nodes = isWritten ? readMarkdown(text).flatMap((block) => block.nodes) : plainNodes(text);
  return drawn(nodes, { open: open.filter((each) => each !== ''), markerView });
}

interface Drawing {
  readonly open: readonly string[];
  markerView(marker: Marker): Html;
}

function drawn(nodes: readonly Node[], drawing: Drawing): Html[] {
  return nodes.map((node) => {
    if (typeof node === 'string') return marked(node, drawing.open);
    if ('marker' in node) return drawing.markerView(node);
    const children = drawn(node.children, drawing);
    return node.tag === 'ol'
      ? html`<ol start="${node.start ?? 1}">${children}</ol>`
      : elements[node.tag](children);
  });
}

/** A text with the sentences marked that no source supports. A sentence may be in several texts, and a text may have several. */
function marked(text: string, open: readonly string[]): Html {
  const found = open
    .flatMap((sentence) => partIn(text, sentence) ?? [])
    .sort((one, other) => one.at - other.at);
  let from = 0;
  const parts = found.flatMap(({ at, end }) => {
    if (at < from) return [];
    const before = text.slice(from, at);
    from = end;
    return [html`${before}`, unsupported(text.slice(at, end))];
  });
  return html`${parts}${text.slice(from)}`;
}

/** The part of a text that is of a sentence: all of either, or the end of one and the beginning of the other. */
function partIn(text: string, sentence: string): { at: number; end: number } | undefined {
  const own = text.trim();
  const lead = text.indexOf(own);
  if (own.length > 2 && sentence.includes(own)) return { at: lead, end: lead + own.length };
  const at = text.indexOf(sentence);
  if (at >= 0) return { at, end: at + sentence.length };
  for (let length = Math.min(own.length, sentence.length) - 1; length >= overlapMin; length--) {
    if (own.endsWith(sentence.slice(0, length).trimEnd()))
      return { at: lead + own.length - sentence.slice(0, length).trimEnd().length, end: lead + own.length };
    if (own.startsWith(sentence.slice(-length))) return { at: lead, end: lead + length };
  }
  return undefined;
}

const overlapMin = 5;

function unsupported(text: string): Html {
  return html`<span class="unsupported" title="No source says this">${text}<span class="hidden"> (no source says this)</span></span>`;
}

type Elements = Readonly<
  Record<Exclude<Extract<Node, { tag: string }>['tag'], 'ol'>, (inner: Html[]) => Html>
>;

const elements: Elements = {
  p: (inner) => html`<p>${inner}</p>`,
  h3: (inner) => html`<h3>${inner}</h3>`,
  h4: (inner) => html`<h4>${inner}</h4>`,
  h5: (inner) => html`<h5>${inner}</h5>`,
  h6: (inner) => html`<h6>${inner}</h6>`,
  ul: (inner) => html`<ul>${inner}</ul>`,
  li: (inner) => html`<li>${inner}</li>`,
  blockquote: (inner) => html`<blockquote>${inner}</blockquote>`,
  pre: (inner) => html`<pre>${inner}</pre>`,
  code: (inner) => html`<code>${inner}</code>`,
  strong: (inner) => html`<strong>${inner}</strong>`,
  em: (inner) => html`<em>${inner}</em>`,
  del: (inner) => html`<del>${inner}</del>`,
  table: (inner) => html`<table>${inner}</table>`,
  thead: (inner) => html`<thead>${inner}</thead>`,
  tbody: (inner) => html`<tbody>${inner}</tbody>`,
  tr: (inner) => html`<tr>${inner}</tr>`,
  th: (inner) => html`<th scope="col">${inner}</th>`,
  td: (inner) => html`<td>${inner}</td>`,
  br: () => html`<br>`,
  hr: () => html`<hr>`,
};

/** A marker as a link to the passage that it quotes, or to the call that it is from. */
function citation({ marker, at }: Marker, place: Place): Html {
  const cited = place.citations.findLast(
    (each) =>
      each.answer_start <= at &&
      (each.kind === 'document' ? String(each.source_index) : `A${each.step}`) === marker,
  );
  const source = place.sources.find(({ index }) => String(index) === marker);
  if (source) {
    const [from, to] =
      cited?.kind === 'document' ? [cited.quote_start, cited.quote_end] : [source.start, source.end];
    return citeLink(passageHref(source.document_id, { start: from, end: to, message: place.turn }), marker, {
      label: `Source ${marker}: ${source.title}`,
      quote: cited?.quote,
    });
  }
  const step = place.trace.find((each) => `A${each.step}` === marker);
  if (!step) return html`[${marker}]`;
  const label = `Call ${step.step}: ${step.tool}`;
  return citeLink(`#${stepId(place.turn, step)}`, marker, { label, quote: cited?.quote });
}

function citeLink(
  href: string,
  marker: string,
  { label, quote }: { label: string; quote?: string | undefined },
): Html {
  const title = quote ? `${label}\n“${quote}”` : label;
  return html`<a class="cite" href="${href}" title="${title}" aria-label="${label}">${marker}</a>`;
}

function origin({
  mode,
  model,
  strategy_used,
  latency_ms,
  unsupported,
}: NonNullable<Details['metadata']>): string {
  const strategy = strategies.find(({ id }) => id === strategy_used)?.name ?? strategy_used;
  const open = unsupported.length > 0 ? [`${count(unsupported.length, 'sentence')} without a source`] : [];
  const writer = mode === 'llm' ? model : 'Quoted from the sources, without a model';
  return [writer, strategy, tookText(latency_ms.total), ...open].join(' · ');
}

function sourceItem(
  { index, title, section, page, snippet, document_id, start, end }: Source,
  message: string,
): Html {
  return html`<li value="${index}"><a href="${passageHref(document_id, { start, end, message })}">${title}</a>
<span class="muted">${section}${page !== null && `, page ${page}`}</span><p class="small">${snippet}</p></li>`;
}

function traceItem(step: TraceStep, turn: string): Html {
  const { path, params, status, result_count, error } = step;
  const query = Object.entries(params).map(([name, value]) => `${name}=${String(value)}`);
  const result = status === 'ok' ? count(result_count, 'record') : (error ?? status);
  return html`<li value="${step.step}" id="${stepId(turn, step)}"><code>${step.tool}</code> <span class="muted">${path}${query.length > 0 && `?${query.join('&')}`}</span>
<p class="small muted">${step.reason} ${result}, ${tookText(step.duration_ms)}</p></li>`;
}

function stepId(turn: string, { step }: TraceStep): string {
  return `call-${turn}-${step}`;
}

function tookText(ms: number): string {
  return ms < 1_000 ? `${Math.max(1, Math.round(ms))} ms` : formatDuration(ms);
}
