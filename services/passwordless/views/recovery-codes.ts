import { linkButton, notice } from '#kit/html/blocks.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { pageRoutes } from '../routes.ts';

/** The codes, this once. */
export function recoveryCodesPage(frame: Frame, codes: readonly string[]): string {
  return layout(frame, {
    title: 'Recovery codes',
    parent: { href: pageRoutes.home, label: 'Account' },
    main: html`<div class="stack">${notice('warn', 'Print or copy them now: they are not shown again.')}
<section class="card stack"><pre><code>${codes.join('\n')}</code></pre><p class="muted">Each signs you in once. Former codes are worth nothing any more.</p>
${linkButton(pageRoutes.home, 'I have kept them', 'primary')}</section></div>`,
  });
}
