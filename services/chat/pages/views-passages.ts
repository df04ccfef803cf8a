import type { Span } from '@octavo/documents';
import { type Citation, type Language, type Source, texts } from '@octavo/reader';
import { type Html, html } from '@octavo/web/html';
import { pageRoutes, pathOf } from '../routes.ts';

const shownMax = 3;

/** The passages that are shown beside an answer: those that it cites, and as many more of the first as there is room for. */
export function shownPassages(sources: readonly Source[], citations: readonly Citation[]): Source[] {
  const indexes = new Set(citations.map((each) => (each.kind === 'document' ? each.source_index : 0)));
  const [cited, others] = [true, false].map((isCited) =>
    sources.filter(({ index }) => indexes.has(index) === isCited),
  ) as [Source[], Source[]];
  return [...cited, ...others].slice(0, shownMax).sort((one, other) => one.index - other.index);
}

/** Passages with their best places marked, each as a link to its place in the document, which its number opens too. */
export function passagesView(
  passages: readonly Source[],
  { message, language }: { message?: string; language: Language },
): Html | undefined {
  if (passages.length === 0) return undefined;
  const words = texts[language];
  return html`<ol class="passages" aria-label="${words.passages}" lang="${language}">${passages.map(
    (source) => {
      const { index, title, section, page, document_id, start, end, best } = source;
      const part = section
        .split(' > ')
        .filter((name) => name !== title)
        .join(' › ');
      const where = [...(part === '' ? [] : [part]), ...(page === null ? [] : [`${words.page} ${page}`])];
      const href = passageHref(document_id, { start: best?.start ?? start, end: best?.end ?? end, message });
      return html`<li value="${index}"><a href="${href}" aria-keyshortcuts="${index}" data-passage="${index}" title="${words.openPassage} (${index})"><b>${index}</b> <span>${title}${where.length > 0 && html` <small>${where.join(' · ')}</small>`}</span></a>
<blockquote>${markedSnippet(source)}</blockquote></li>`;
    },
  )}</ol>`;
}

/** The text around the best place, with that marked. Snippets that were stored before there were best places have no mark. */
function markedSnippet({ snippet, best }: Source): Html {
  if (best === null) return html`${snippet}`;
  const at = snippet.indexOf(best.text);
  if (at === -1) return html`<mark>${best.text}</mark>`;
  return html`${snippet.slice(0, at)}<mark>${best.text}</mark>${snippet.slice(at + best.text.length)}`;
}

interface LinkedPassage extends Span {
  /** The answer that quotes it, which tells its words if the document was read again. */
  readonly message: string | undefined;
}

export function passageHref(document: string, { start, end, message }: LinkedPassage): string {
  const from = message === undefined ? '' : `&message=${encodeURIComponent(message)}`;
  return `${pathOf(pageRoutes.document, document)}?start=${start}&end=${end}${from}#passage`;
}
