import { attributes, type Content, type Html, html } from '../html.ts';
import { type IconName, icon } from '../icons.ts';

export type Tone = 'info' | 'good' | 'warn' | 'bad';

/** A box with a border and an optional heading. */
export function card(title: string | undefined, content: Content): Html {
  return html`<section class="card">${title && html`<h2>${title}</h2>`}${content}</section>`;
}

/** A colored message. `bad` and `warn` interrupt a screen reader, the others wait. */
export function notice(tone: Tone, content: Content, options: { title?: string; id?: string } = {}): Html {
  const role = tone === 'bad' || tone === 'warn' ? 'alert' : 'status';
  return html`<div class="notice ${tone}"${attributes({ id: options.id, role, tabindex: options.id && -1 })}>
${icon(tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'alert')}<div>${options.title && html`<strong>${options.title}</strong>`}
${content}</div></div>`;
}

/** Content of an empty list: its purpose, and the first thing to do. */
export function empty(options: { icon: IconName; title: string; text: Content; actions?: Content }): Html {
  return html`<div class="empty">${icon(options.icon)}<h2>${options.title}</h2><p>${options.text}</p>
${options.actions && html`<div class="actions">${options.actions}</div>`}</div>`;
}

/** A short word about a state, such as `ready`. */
export function badge(tone: Tone | 'plain', text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Numbers in tiles, each with its label above. */
export function stats(items: readonly { label: string; value: Content }[]): Html {
  return html`<dl class="stats">${items.map(
    (item) => html`<div class="stat"><dt>${item.label}</dt><dd>${item.value}</dd></div>`,
  )}</dl>`;
}

/** Names and values, one pair per line. */
export function facts(entries: readonly (readonly [name: string, value: Content])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A link that looks like a button. Use at most one `primary` link per view. */
export function linkButton(
  href: string,
  content: Content,
  kind: 'primary' | 'secondary' | 'quiet' = 'secondary',
): Html {
  return html`<a class="button ${kind}" href="${href}">${content}</a>`;
}

/** A small menu of links behind a button. It opens without JavaScript; with it, Escape closes it. */
export function menu(
  label: Content,
  links: readonly { href: string; label: string; download?: boolean }[],
): Html {
  return html`<details class="menu"><summary class="button secondary">${label}${icon('down')}</summary>
<div>${links.map((link) => html`<a href="${link.href}"${attributes({ download: link.download })}>${link.label}</a>`)}</div></details>`;
}

/**
 * The progress of work, as a bar and in words. A browser module finds the elements by their `data-` attributes to update them.
 */
export function progress(options: { label: string; value?: number; max?: number; detail?: Content }): Html {
  return html`<div class="progress" data-progress><p><span data-progress-label>${options.label}</span>
<span class="muted" data-progress-detail>${options.detail}</span></p>
<progress${attributes({ value: options.value, max: options.max ?? 100, 'aria-label': options.label })}></progress><span class="hidden" role="status"></span></div>`;
}

/** Links to other views of the same page, such as spans of time, with the current one marked. */
export function viewLinks(
  label: string,
  links: readonly { href: string; label: string; isCurrent: boolean }[],
): Html {
  return html`<nav class="views" aria-label="${label}"><span class="muted">${label}</span>${links.map(
    (link) =>
      html`<a href="${link.href}"${attributes({ 'aria-current': link.isCurrent && 'true' })}>${link.label}</a>`,
  )}</nav>`;
}
