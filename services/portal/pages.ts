import type { Clock } from '#kit/clock.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { badge, card, empty, linkButton, type Tone } from '#kit/html/blocks.ts';
import { type Content, html } from '#kit/html/html.ts';
import { type Frame, single, standalone } from '#kit/html/layout.ts';
import { servePages } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import type { HttpApp } from '#kit/http/server.ts';
import type { DemoSignIn } from '#kit/service.ts';
import { reportOn, type Site, type SiteReport } from './sites.ts';

export interface PagesOptions {
  readonly clock: Clock;
  /** Encrypts cookies. */
  readonly secret: string;
  sites(): Promise<readonly Site[]>;
  demoSignIns(): Promise<readonly DemoSignIn[]>;
}

const sessionSeconds = 86_400;

export function addPages(app: HttpApp, { clock, secret, sites, demoSignIns }: PagesOptions): void {
  const assets = loadAssets();
  servePages<never>(app, { name: 'portal', secret, sessionSeconds, clock, assets, errorPage }, (routes) =>
    routes.get('/', { access: 'public' }, async (visit) => {
      const others = (await sites()).filter(({ name }) => name !== 'portal');
      const [reports, signIns] = await Promise.all([reportOn(others), demoSignIns()]);
      return homePage(visit, reports, signIns);
    }),
  );
}

function frameOf(visit: Visit<never>): Frame {
  return { ...visit.frame(), service: 'Octavo', navigation: [], flash: visit.takeFlash() };
}

function homePage(
  visit: Visit<never>,
  reports: readonly SiteReport[],
  signIns: readonly DemoSignIn[],
): string {
  const ready = reports.filter(({ state }) => state === 'ready').length;
  return single(frameOf(visit), {
    title: 'Running services',
    lead: `${ready} of ${reports.length} ready`,
    main: html`<div class="stack">${reports.length === 0 ? noServices() : siteTable(reports)}${signIns.length > 0 && signInCard(signIns)}</div>`,
  });
}

const tones: Readonly<Record<SiteReport['state'], Tone>> = {
  ready: 'good',
  'not ready': 'warn',
  'no response': 'bad',
};

function siteTable(reports: readonly SiteReport[]): Content {
  return table({
    caption: 'Services',
    columns: [
      {
        header: 'Service',
        kind: 'main',
        cell: ({ name, summary, url }: SiteReport) =>
          html`<a href="${url}">${name}</a>${summary !== '' && html`<div>${summary}</div>`}`,
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

function signInCard(signIns: readonly DemoSignIn[]): Content {
  return card(
    'Demo sign-ins',
    html`<p class="muted">Created at first start on this machine. They do not exist in production.</p>${table(
      {
        caption: 'Demo sign-ins',
        isSmall: true,
        columns: [
          { header: 'Username', cell: ({ username }: DemoSignIn) => html`<code>${username}</code>` },
          { header: 'Password', cell: ({ password }) => html`<code>${password}</code>` },
          { header: 'Role', cell: ({ role }) => role },
        ],
        rows: signIns,
      },
    )}`,
  );
}

function noServices(): Content {
  return empty({
    icon: 'inbox',
    title: 'No other services are running',
    text: html`Start all of them with <code>octavo up</code>, or one with <code>octavo serve</code>.`,
  });
}

function errorPage(visit: Visit<never>, error: HttpError): string {
  return standalone(frameOf(visit), {
    title: error.status === 404 ? 'Page not found' : 'Something went wrong',
    main: html`<p>${error.message}</p><p class="actions">${linkButton('/', 'See the running services')}</p>
<p class="small muted">Request <code>${visit.request.id}</code></p>`,
  });
}
