import { badge, card, empty, type Tone } from '#kit/html/blocks.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, single } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import type { DemoSignIn } from '#kit/service.ts';
import type { SiteReport, SiteState } from '../site.ts';

export interface HomeView {
  readonly reports: readonly SiteReport[];
  readonly signIns: readonly DemoSignIn[];
}

export function homePage(frame: Frame, { reports, signIns }: HomeView): string {
  const ready = reports.filter(({ state }) => state === 'ready').length;
  return single(frame, {
    title: 'What runs here',
    lead: `${ready} of ${reports.length} ready`,
    main: html`<div class="stack">${reports.length === 0 ? nothing() : siteTable(reports)}${signIns.length > 0 && signInCard(signIns)}</div>`,
  });
}

function siteTable(reports: readonly SiteReport[]): Content {
  return table({
    caption: 'Services',
    columns: [
      {
        header: 'Service',
        kind: 'main',
        cell: ({ name, summary, url }: SiteReport) => html`<a href="${url}">${name}</a><div>${summary}</div>`,
      },
      {
        header: 'Address',
        kind: 'fit',
        cell: ({ url }) => html`<a href="${url}">${url.replace(/^https?:\/\//, '')}</a>`,
      },
      { header: 'API', kind: 'fit', cell: ({ url }) => html`<a href="${url}/docs">docs</a>` },
      { header: 'State', kind: 'fit', cell: ({ state }) => badge(tones[state], state) },
    ],
    rows: reports,
  });
}

const tones: Readonly<Record<SiteState, Tone>> = { ready: 'good', 'not ready': 'warn', 'no answer': 'bad' };

function signInCard(signIns: readonly DemoSignIn[]): Content {
  return card(
    'Demo sign-ins',
    html`<p class="muted">Made at first start on this machine. They are not there in production.</p>${table({
      caption: 'Demo sign-ins',
      isSmall: true,
      columns: [
        { header: 'User name', cell: ({ username }: DemoSignIn) => html`<code>${username}</code>` },
        { header: 'Password', cell: ({ password }) => html`<code>${password}</code>` },
        { header: 'Role', cell: ({ role }) => role },
      ],
      rows: signIns,
    })}`,
  );
}

function nothing(): Content {
  return empty({
    icon: 'inbox',
    title: 'Nothing else runs here',
    text: html`Start everything with <code>octavo up</code>, or one service with <code>octavo serve</code>.`,
  });
}
