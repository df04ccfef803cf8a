import { attributes, type Content, type Html, html } from './html.ts';
import { type IconName, icon } from './icons.ts';

export type Tone = 'info' | 'good' | 'warn' | 'bad';

/** A box with a border, with a heading where one is given. */
export function card(title: string | undefined, content: Content): Html {
  return html`<section class="card">${title && html`<h2>${title}</h2>`}${content}</section>`;
}

/** A coloured message. `bad` and `warn` interrupt a screen reader, the others wait. */
export function notice(tone: Tone, content: Content, options: { title?: string; id?: string } = {}): Html {
  const role = tone === 'bad' || tone === 'warn' ? 'alert' : 'status';
  return html`<div class="notice ${tone}"${attributes({ id: options.id, role, tabindex: options.id && -1 })}>
${icon(tone === 'good' ? 'check' : tone === 'info' ? 'info' : 'alert')}<div>${options.title && html`<strong>${options.title}</strong>`}
${content}</div></div>`;
}

/** What stands where nothing is yet: what this place is for, and the first thing to do. */
export function empty(options: { icon: IconName; title: string; text: Content; actions?: Content }): Html {
  return html`<div class="empty">${icon(options.icon)}<h2>${options.title}</h2><p>${options.text}</p>
${options.actions && html`<div class="actions">${options.actions}</div>`}</div>`;
}

/** A short word about a state, such as `ready`. */
export function badge(tone: Tone | 'plain', text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Figures in tiles, each a label over a value. */
export function stats(figures: readonly { label: string; value: Content }[]): Html {
  return html`<dl class="stats">${figures.map(
    (figure) => html`<div class="stat"><dt>${figure.label}</dt><dd>${figure.value}</dd></div>`,
  )}</dl>`;
}

/** Names and values, one a line. */
export function facts(entries: readonly (readonly [name: string, value: Content])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** A link that looks like a button; at most one of kind `primary` a view. */
export function linkButton(
  href: string,
  content: Content,
  kind: 'primary' | 'secondary' | 'quiet' = 'secondary',
): Html {
  return html`<a class="button ${kind}" href="${href}">${content}</a>`;
}

/** A small menu of links behind a button, which opens without JavaScript and closes on Escape with it. */
export function menu(
  label: Content,
  links: readonly { href: string; label: string; download?: boolean }[],
): Html {
  return html`<details class="menu"><summary class="button secondary">${label}${icon('down')}</summary>
<div>${links.map((link) => html`<a href="${link.href}"${attributes({ download: link.download })}>${link.label}</a>`)}</div></details>`;
}

/** How far long work has come, in a bar and in words. The elements carry `data-` hooks for the module that moves it. */
export function progress(options: { label: string; value?: number; max?: number; detail?: Content }): Html {
  return html`<div class="progress" data-progress><p><span data-progress-label>${options.label}</span>
<span class="muted" data-progress-detail>${options.detail}</span></p>
<progress${attributes({ value: options.value, max: options.max ?? 100, 'aria-label': options.label })}></progress></div>`;
}
