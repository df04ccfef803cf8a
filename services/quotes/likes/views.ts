import { count, formatNumber, type Html, html, icon } from '@octavo/web/html';
import { pageRoutes, quotePath } from '../routes.ts';

/** A form with one button that likes a quote or takes the like back. Strangers are sent to sign in by it. */
export function likeButton(options: {
  quote: { readonly id: number; readonly likes: number };
  isLiked: boolean;
  csrfField: Html;
  /** The page to come back to. */
  back: string;
}): Html {
  const { quote, isLiked, csrfField, back } = options;
  const label = isLiked ? 'You like this. Remove your like' : 'Like this quote';
  return html`<form method="post" action="${quotePath(pageRoutes.like, quote.id)}" data-like>${csrfField}<input type="hidden" name="back" value="${back}">
<button class="secondary like" name="liked" value="${isLiked ? '0' : '1'}" aria-pressed="${String(isLiked)}" title="${label}">
${icon('heart')}<span data-likes>${formatNumber(quote.likes)}</span><span class="hidden">${label}, ${count(quote.likes, 'like')}</span></button></form>`;
}
