import { type Html, html } from '../html.ts';

/**
 * Buttons for a text that is shown once: copy, download and print. They need the module `keep.js`, and stay hidden without it,
 * because then people select the text or print the page by the menu of the browser.
 */
export function keepActions(options: {
  text: string;
  /** Name of the text for screen readers: "the key". */
  what: string;
  /** The name of the downloaded file; without one, only copying is offered. */
  fileName?: string;
}): Html {
  const { text, what, fileName } = options;
  return html`<div class="actions keep" data-keep="${text}" hidden>
<button type="button" class="secondary" data-copy-text aria-label="Copy ${what}">Copy</button>${
    fileName &&
    html`
<button type="button" class="secondary" data-download="${fileName}" aria-label="Download ${what}">Download</button>
<button type="button" class="secondary" data-print aria-label="Print this page">Print</button>`
  }
<span class="small muted" role="status"></span></div>`;
}
