import { attributes, type Content, type Html, html } from '../html.ts';
import { icon } from '../icons.ts';
import { linkButton } from './blocks.ts';

/**
 * A form above a list that narrows it: the search, further fields, and the buttons. On a phone, the further fields are behind a
 * heading that opens them.
 */
export function filters(options: {
  /** The address of the list. */
  action: string;
  /** The field that gets the most space. */
  search: Content;
  /** Further fields. */
  more?: Content;
  /** True if one of the further fields is set; then they are open on a phone too. */
  hasMore?: boolean;
  /** The address of the list without filters, if one is set. */
  clearHref?: string | undefined;
}): Html {
  const { action, search, more, hasMore, clearHref } = options;
  return html`<form class="filters" role="search" action="${action}">${search}
${more && html`<details class="more"${attributes({ open: hasMore })}><summary>More filters</summary><div class="fields">${more}</div></details>`}
<div class="actions"><button class="secondary">${icon('search')}Apply</button>${clearHref && linkButton(clearHref, 'Clear', 'quiet')}</div></form>`;
}
