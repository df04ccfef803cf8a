import { highlight, type TextPart } from '@octavo/data/search';
import type { WordQuery } from '@octavo/data/terms';
import {
  attributes,
  badge,
  type Content,
  count,
  formatNumber,
  type Html,
  html,
  icon,
} from '@octavo/web/html';
import { authorPath, categoryPath, pageRoutes, quotePath } from '../routes.ts';
import type { Quote } from './quote.ts';
import type { CountedQuote } from './store.ts';

export const pageSize = 20;

interface FigureOptions {
  /** Large, as the one quote of a page. */
  readonly isHero?: boolean;
  /** True if the text links to the page of the quote. */
  readonly isLink?: boolean;
  /** Query whose words are marked. */
  readonly query?: WordQuery | undefined;
}

/** A quote with its author and its source. */
export function quoteFigure(
  quote: Quote,
  { isHero = false, isLink = false, query }: FigureOptions = {},
): Html {
  const { id, text, author, source, attribution } = quote;
  const size = [...text].length;
  const kind = isHero ? ` hero${size <= 70 ? ' brief' : size > 420 ? ' long' : ''}` : '';
  const lines = linesOf(query ? highlight(text, query) : [{ text, isMatch: false }]);
  // A text that is a dialog brings its own marks.
  const [open, close] = /^[“‘"«]/.test(text) ? ['', ''] : ['“', '”'];
  const last = lines.length - 1;
  const body =
    lines.length === 1
      ? html`${open}${lines[0]}${close}`
      : lines.map(
          (line, index) =>
            html`<span class="line">${index === 0 && open}${line}${index === last && close}</span>`,
        );
  const linked = isLink ? html`<a href="${quotePath(pageRoutes.quote, id)}">${body}</a>` : body;
  return html`<figure class="quote${kind}"><blockquote><p${attributes({ class: lines.length > 1 ? 'verse' : undefined })}>${linked}</p></blockquote>
<figcaption><a href="${authorPath(author)}">${marked(author, query)}</a>${source && html`, <cite>${source}</cite>`}${attributionBadge(attribution, isHero)}</figcaption></figure>`;
}

/** A list of quotes, each with a link to its page. */
export function quoteList(quotes: readonly CountedQuote[], query?: WordQuery): Html {
  return html`<ol class="quotes">${quotes.map(
    (quote) => html`<li>${quoteFigure(quote, { isLink: true, query })}${tally(quote, query)}</li>`,
  )}</ol>`;
}

/** Returns a title for a quote: its author and first words. */
export function titleOf({ author, text }: Pick<Quote, 'author' | 'text'>, charactersMax = 70): string {
  return `${author}: ${excerpt(text, charactersMax)}`;
}

/** The first words of a text, on one line. */
export function excerpt(text: string, charactersMax: number): string {
  const line = text.replace(/\s*\n\s*/g, ' / ').replace(/\s+/g, ' ');
  const characters = [...line];
  if (characters.length <= charactersMax) return line;
  return `${characters
    .slice(0, charactersMax)
    .join('')
    .replace(/[\s,;:—–-]*\S*$/, '')}…`;
}

function tally(
  { category, categorySlug, likes, comments }: CountedQuote,
  query: WordQuery | undefined,
): Html {
  return html`<p class="tally"><a href="${categoryPath(categorySlug)}">${marked(category, query)}</a>
<span title="${count(likes, 'like')}">${icon('heart')}${formatNumber(likes)}<span class="hidden">${likes === 1 ? 'like' : 'likes'}</span></span>
<span title="${count(comments, 'comment')}">${icon('comment')}${formatNumber(comments)}<span class="hidden">${comments === 1 ? 'comment' : 'comments'}</span></span></p>`;
}

/** Renders the attribution. `verified` is shown only for the one quote of a page. */
function attributionBadge(attribution: Quote['attribution'], isHero: boolean): Content {
  if (attribution === 'disputed') return badge('warn', 'Disputed');
  if (attribution === 'misattributed') return badge('bad', 'Misattributed');
  if (attribution === 'unverified' || !isHero) return undefined;
  return html`&ensp;<span class="verified" title="Checked: this is what the source says">${icon('check')}Verified</span>`;
}

/** The lines of a text, of which some parts are matches. */
function linesOf(parts: readonly TextPart[]): Html[] {
  const lines: Html[][] = [[]];
  for (const { text, isMatch } of parts) {
    for (const [index, piece] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (piece !== '') lines.at(-1)?.push(isMatch ? html`<mark>${piece}</mark>` : html`${piece}`);
    }
  }
  return lines.map((line) => html`${line}`);
}

function marked(text: string, query: WordQuery | undefined): Html {
  return linesOf(query ? highlight(text, query) : [{ text, isMatch: false }])[0] ?? html``;
}
