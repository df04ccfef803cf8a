import {
  attributes,
  type Content,
  count,
  empty,
  type Frame,
  field,
  filters,
  type Html,
  html,
  icon,
  layout,
  linkButton,
  menu,
  table,
  time,
} from '@octavo/web/html';
import { type Document, limits } from '../documents/index.ts';
import { visibilityOf } from '../library.ts';
import { type Strategy, strategies } from '../retrieval/index.ts';
import { pageRoutes, pathOf, routes } from '../routes.ts';
import type { Message, Session } from '../sessions/index.ts';
import { chatActions } from './pages-frame.ts';
import { turnsView } from './views-answer.ts';

const styles = ['chat.css'];
const titlesShown = 4;

export interface ChatView {
  readonly session: Session | undefined;
  readonly messages: readonly Message[];
  /** Some that answers are quoted from, and how many there are. */
  readonly documents: readonly Document[];
  readonly documentCount: number;
  readonly strategy: Strategy;
  /** Collections, which are tags of documents. */
  readonly tags: readonly string[];
  /** Part of the documents that the last question was about; see `within`. */
  readonly within: string;
  readonly ratings: ReadonlyMap<string, 'up' | 'down'>;
  /** Questions that the documents answer. */
  readonly starters: readonly string[];
  /** A question to be changed. */
  readonly draft: string | undefined;
  /** True for those who may connect a model where there is none. */
  readonly lacksModel: boolean;
  /** The question that could not be answered, and the reason. */
  readonly failed?: { readonly query: string; readonly problem: Content } | undefined;
}

/** A chat with the form for the next question. */
export function chatPage(frame: Frame, view: ChatView): string {
  const { session, messages, failed } = view;
  const forms = {
    again: ({ content, strategy }: Message) =>
      askForm(frame, view, {
        hidden: { query: content, strategy: strategy ?? view.strategy },
        content: html`<button class="quiet only-icon" title="Ask again">${icon('again')}<span class="hidden">Ask again</span></button>`,
      }),
    edit: ({ id }: Message) =>
      html`<a class="button quiet only-icon" href="${pathOf(pageRoutes.chat, session?.id ?? '')}?edit=${id}#query" title="Change the question">${icon('edit')}<span class="hidden">Change the question</span></a>`,
    rate: ({ id }: Message) => rateForms(frame, id, view.ratings.get(id)),
  };
  return layout(frame, {
    title: session?.title ?? 'New chat',
    actions: session && sessionActions(frame, session),
    styles: [...styles],
    modules: ['chat.js', 'keep.js'],
    main: html`<div class="chat" data-chat="${session?.id ?? ''}">
<div class="turns" data-turns>${messages.length > 0 ? turnsView(messages, forms) : start(frame, view)}${view.lacksModel && modelHint}</div>
<p class="hidden" role="status" data-state></p>${failed && html`<div class="notice bad" role="alert">${icon('alert')}<div>${failed.problem}</div></div>`}${composer(frame, view)}</div>`,
  });
}

/** Shown before the first chat alone. */
const modelHint = html`<p class="muted">A language model would also sum up, compare, and put what several passages say into one answer. <a href="${pageRoutes.settings}">Connect a model</a></p>`;

function start(frame: Frame, view: ChatView): Html {
  const { documents, documentCount, starters } = view;
  if (documentCount === 0) {
    return empty({
      icon: 'upload',
      title: 'No documents yet',
      text: 'Upload a handbook, notes or a report, then ask about it. Each answer links to the passages that it is quoted from.',
      actions: linkButton(pageRoutes.documents, 'Upload documents', 'secondary'),
    });
  }
  const shown = documents.slice(0, titlesShown);
  const more = documentCount - shown.length;
  return empty({
    icon: 'comment',
    title: 'What do you want to know?',
    text: `Answers are found in ${count(documentCount, 'document')}, and link to the passages that they are quoted from.`,
    actions: html`${starters.map((query) =>
      askForm(frame, view, {
        hidden: { query, strategy: view.strategy },
        content: html`<button class="secondary title"><span>${query}</span></button>`,
      }),
    )}${shown.map(({ publicId, title }) => html`<a class="button secondary title" href="${pathOf(pageRoutes.document, publicId)}"><span>${title}</span></a>`)}
${more > 0 && linkButton(pageRoutes.documents, `${more} more`, 'quiet')}`,
  });
}

/** Buttons that rate an answer; pressed is the rating that it has. */
function rateForms({ csrfField }: Frame, id: string, rating: 'up' | 'down' | undefined): Html {
  const button = (value: 'up' | 'down', label: string) =>
    html`<button class="quiet only-icon" name="rating" value="${value}" title="${label}" aria-pressed="${rating === value ? 'true' : 'false'}">${icon(value === 'up' ? 'thumbUp' : 'thumbDown')}<span class="hidden">${label}</span></button>`;
  return html`<form class="rate" method="post" action="${pathOf(pageRoutes.rate, id)}">${csrfField}${button('up', 'Good answer')}${button('down', 'Bad answer')}</form>`;
}

/** Strategies that are best for some questions. Several phrasings find no more than the question itself, so only the API offers them. */
function offeredBeside(chosen: Strategy) {
  return strategies.filter(({ id }) => id !== 'multi_query' || id === chosen);
}

/** Documents that a question is about: all, those of a collection, or one. */
function withinField({ documents, tags, within }: ChatView): Html | undefined {
  if (documents.length < 2) return undefined;
  const seen = new Set(documents.map(({ libraryKey }) => visibilityOf(libraryKey)));
  const hasBoth = seen.has('private') && seen.has('everyone');
  const option = (value: string, label: string) =>
    html`<option value="${value}"${attributes({ selected: value === within })}>${label}</option>`;
  return html`<label class="hidden" for="within">Documents to search</label><select id="within" name="within" title="Documents to search">${option('', 'All documents')}
${tags.length > 0 && html`<optgroup label="Collections">${tags.map((tag) => option(`tag:${tag}`, tag))}</optgroup>`}
${hasBoth && html`<optgroup label="Whose">${option('visibility:private', 'My documents')}${option('visibility:everyone', 'Documents for everyone')}</optgroup>`}
<optgroup label="Documents">${documents.map(({ publicId, title }) => option(`document:${publicId}`, title))}</optgroup></select>`;
}

function sessionActions(frame: Frame, session: Session): Html {
  const file = pathOf(routes.sessionExport, session.id);
  const ways = [
    { href: pathOf(pageRoutes.shareChat, session.id), label: 'Link' },
    { href: `${file}?format=md`, label: 'Markdown file', download: true },
    { href: `${file}?format=json`, label: 'JSON file', download: true },
  ];
  return html`${menu('Share', ways)}${chatActions(session, frame.path)}`;
}

interface AskForm {
  readonly hidden: Readonly<Record<string, string>>;
  readonly content: Html;
}

function askForm({ csrfField }: Frame, { session }: ChatView, { hidden, content }: AskForm): Html {
  const fields = Object.entries({ session: session?.id ?? '', ...hidden });
  return html`<form method="post" action="${pageRoutes.ask}" data-again>${csrfField}${fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}${content}</form>`;
}

function composer({ csrfField }: Frame, view: ChatView): Html {
  const { session, strategy, failed, draft } = view;
  const chosen = strategies.find(({ id }) => id === strategy);
  return html`<div class="dock"><form class="composer card" method="post" action="${pageRoutes.ask}" data-composer data-drop data-upload="${routes.upload}" data-bytes-max="${limits.fileBytesMax}">${csrfField}
<input type="hidden" name="session" value="${session?.id ?? ''}"><label class="hidden" for="query">Question</label>
<textarea id="query" name="query" rows="1" required maxlength="4000" placeholder="${session ? 'Ask a follow-up question' : 'Ask a question'}" enterkeyhint="send" aria-describedby="keys" autofocus>${failed?.query ?? draft}</textarea>
<div class="actions"><details class="menu" data-strategy><summary class="button quiet" title="How passages are found">${icon('search')}<span data-chosen>${chosen?.name}</span>${icon('down')}</summary>
<div role="radiogroup" aria-label="How passages are found">${offeredBeside(strategy).map(
    ({ id, name, description }) =>
      html`<label class="check"><input type="radio" name="strategy" value="${id}" data-name="${name}"${attributes({ checked: id === strategy })}><span>${name}<small class="muted">${description}</small></span></label>`,
  )}</div></details>
${withinField(view)}
<a class="button quiet" href="${pageRoutes.documents}">${icon('upload')}<span class="desk">Documents</span><span class="phone hidden">Documents</span></a>
<small class="muted desk" id="keys">Enter sends, Shift+Enter starts a new line, Escape stops.</small>
<button type="button" class="secondary" data-stop hidden>Stop</button><button data-ask>Ask</button></div><ul class="uploads" data-uploads aria-live="polite"></ul></form></div>`;
}

/** All chats, which can be searched. */
export function chatsPage(
  frame: Frame,
  {
    sessions,
    total,
    q,
    next,
  }: { sessions: readonly Session[]; total: number; q: string; next: string | undefined },
): string {
  const search = filters({
    action: pageRoutes.chats,
    search: field({
      name: 'q',
      label: 'Search chats',
      type: 'search',
      value: q,
    }),
    clearHref: q === '' ? undefined : pageRoutes.chats,
  });
  const found = table<Session>({
    caption: 'Chats, latest first',
    columns: [
      {
        header: 'Title',
        kind: 'main',
        cell: ({ id, title }) => html`<a href="${pathOf(pageRoutes.chat, id)}" title="${title}">${title}</a>`,
      },
      { header: 'Messages', kind: 'count', cell: ({ messageCount }) => messageCount },
      { header: 'Last used', kind: 'plain', cell: ({ updatedAtMs }) => time(updatedAtMs) },
      { header: 'Actions', kind: 'row-actions', cell: (session) => chatActions(session, frame.path) },
    ],
    rows: sessions,
  });
  const none = empty({
    icon: 'comment',
    title: q === '' ? 'No chats yet' : 'No matching chats',
    text: q === '' ? 'Chats are kept for 30 days after their last use.' : 'Try another word.',
    actions: linkButton(
      q === '' ? pageRoutes.home : pageRoutes.chats,
      q === '' ? 'New chat' : 'Show all chats',
    ),
  });
  return layout(frame, {
    title: 'Chats',
    lead: count(total, 'chat'),
    main: html`${(total > 0 || q !== '') && search}${sessions.length > 0 ? found : none}
${next && html`<p class="actions">${linkButton(next, 'Older chats')}</p>`}`,
  });
}
