import type { Clock } from '#kit/clock.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { badge, card, empty, type Tone } from '#kit/html/blocks.ts';
import { errorPage } from '#kit/html/error-page.ts';
import { type Content, html } from '#kit/html/html.ts';
import { keepActions } from '#kit/html/keep.ts';
import { type Frame, single } from '#kit/html/layout.ts';
import { servePages } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpError } from '#kit/http/options.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { reportOn, type SignIn, type Site, type SiteReport } from './sites.ts';

export interface PagesOptions {
  readonly clock: Clock;
  /** Encrypts cookies. */
  readonly secret: string;
  sites(): Promise<readonly Site[]>;
  demoSignIns(): Promise<readonly SignIn[]>;
  /** The services that can be filled with demo data here. */
  readonly seedable: readonly string[];
}

const sessionSeconds = 86_400;

export function addPages(app: HttpApp, { clock, secret, sites, demoSignIns, seedable }: PagesOptions): void {
  const assets = loadAssets();
  const options = { name: 'portal', secret, sessionSeconds, clock, assets, errorPage: errorPageOf };
  servePages<never>(app, options, (routes) =>
    routes.get('/', { access: 'public' }, async (visit) => {
      const others = (await sites()).filter(({ name }) => name !== 'portal');
      const [reports, signIns] = await Promise.all([reportOn(others), demoSignIns()]);
      return homePage(visit, { reports, signIns, seedable });
    }),
  );
}

function frameOf(visit: Visit<never>): Frame {
  return { ...visit.frame(), service: 'Octavo', navigation: [], flash: visit.takeFlash() };
}

interface HomeView {
  readonly reports: readonly SiteReport[];
  readonly signIns: readonly SignIn[];
  readonly seedable: readonly string[];
}

function homePage(visit: Visit<never>, { reports, signIns, seedable }: HomeView): string {
  const ready = reports.filter(({ state }) => state === 'ready').length;
  return single(frameOf(visit), {
    title: 'Running services',
    lead: `${ready} of ${reports.length} ready`,
    modules: ['keep.js'],
    main: html`<div class="stack">${reports.length === 0 ? noServices() : siteTable(reports)}${signIns.length > 0 && signInCard(signIns, reports)}${nextSteps(reports, seedable)}</div>`,
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
        cell: ({ name, summary, url, signIn }: SiteReport) =>
          html`<a href="${url}">${name}</a>${summary !== '' && html`<div>${summary}</div>`}${signIn && html`<div>Sign-in: ${signIn}</div>`}`,
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

function signInCard(signIns: readonly SignIn[], reports: readonly SiteReport[]): Content {
  return card(
    'Demo sign-ins',
    html`<p class="muted">Created at first start on this machine. They do not exist in production.</p>${table(
      {
        caption: 'Demo sign-ins',
        columns: [
          {
            header: 'Username',
            kind: 'fit',
            cell: ({ username }: SignIn) => copyCell(username, `the user name ${username}`),
          },
          { header: 'Role', kind: 'fit', cell: ({ role }) => role },
          { header: 'For', kind: 'fit', cell: ({ service }) => linkTo(service, reports) },
          {
            header: 'Password',
            cell: ({ username, password }) => copyCell(password, `the password of ${username}`),
          },
        ],
        rows: signIns,
      },
    )}`,
  );
}

function copyCell(text: string, what: string): Content {
  return html`<div class="actions"><code>${text}</code>${keepActions({ text, what })}</div>`;
}

function linkTo(service: string, reports: readonly SiteReport[]): Content {
  const url = reports.find(({ name }) => name === service)?.url;
  return url === undefined ? service : html`<a href="${url}">${service}</a>`;
}

/** What somebody does who sees this for the first time. */
function nextSteps(reports: readonly SiteReport[], seedable: readonly string[]): Content {
  const running = reports.filter(({ name }) => seedable.includes(name)).map(({ name }) => name);
  if (running.length === 0) return undefined;
  const command = 'npx octavo seed';
  return card(
    'What to do next',
    html`<ol><li>Open a service above. Where it says so, sign in with a demo account.</li>
<li>Fill ${running.join(', ')} with demo data, in the folder of the project:
<div class="actions"><code>${command}</code>${keepActions({ text: command, what: 'the command' })}</div></li>
<li>Read how to call a service: <b>docs</b> in its row describes its API.</li></ol>`,
  );
}

function noServices(): Content {
  return empty({
    icon: 'inbox',
    title: 'No other services are running',
    text: html`Start all of them with <code>octavo up</code>, or one with <code>octavo serve</code>.`,
  });
}

function errorPageOf(visit: Visit<never>, error: HttpError): string {
  const home = { href: '/', label: 'See the running services' };
  return errorPage(frameOf(visit), error, { requestId: visit.request.id, home });
}
