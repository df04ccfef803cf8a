import type { AccountSession, Admin } from '#kit/admin/index.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { loadAssets } from '#kit/html/assets.ts';
import { card, linkButton, stats } from '#kit/html/blocks.ts';
import { errorPage } from '#kit/html/error-page.ts';
import { html } from '#kit/html/html.ts';
import { type Frame, single } from '#kit/html/layout.ts';
import { type PagesOptions, servePages } from '#kit/html/pages.ts';
import type { Visit } from '#kit/html/visit.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { routes } from './routes.ts';
import { countRecords, type Tables } from './store.ts';

/** The page at `/`, which says what this is, and the admin. */
export function addPages(
  app: HttpApp,
  parts: { database: Database<Tables>; admin: Admin<AccountSession>; secret: string; clock: Clock },
): void {
  const { database, admin, secret, clock } = parts;
  const options: PagesOptions<AccountSession> = {
    ...{ name: 'portfolio', secret, clock, sessionSeconds: 86_400, assets: loadAssets() },
    errorPage: async (visit, error) => {
      const home = { href: routes.home, label: 'Go to the start page' };
      const ofAdmin = await admin.errorPage(visit, error);
      return ofAdmin ?? errorPage(frameOf(visit), error, { requestId: visit.request.id, home });
    },
  };
  servePages<AccountSession>(app, options, (pages) => {
    admin.addRoutes(pages);
    pages.get(routes.home, { access: 'public' }, (visit) => homePage(visit, database));
  });
}

async function homePage(visit: Visit<AccountSession>, database: Database<Tables>): Promise<string> {
  const { team, investments, sectors } = await countRecords(database);
  const address = `${visit.request.protocol}://${visit.request.host}`;
  return single(frameOf(visit), {
    title: 'Portfolio data API',
    lead: 'The people, investments and sectors of a firm, for the programs that ask about them.',
    actions: linkButton('/docs', 'API reference', 'primary'),
    main: html`<div class="stack">${stats([
      { label: 'People', value: team },
      { label: 'Investments', value: investments },
      { label: 'Sectors', value: sectors },
    ])}${card(
      'First request',
      html`<p>Get a token, and send it with each request. It is valid for an hour.</p>
<pre><code>TOKEN=$(curl -s ${address}/auth/token | jq -r .token)
curl -H "Authorization: Bearer $TOKEN" '${address}/api/team?name=muller'</code></pre>`,
    )}${card(
      'Your own data',
      html`<p><a href="/admin/">The admin</a> changes single records. <code>octavo import portfolio FILE</code> reads JSON, or CSV of one kind.
The README describes the fields.</p>`,
    )}</div>`,
  });
}

function frameOf(visit: Visit<AccountSession>): Frame {
  return { ...visit.frame(), service: 'Portfolio', navigation: [], flash: visit.takeFlash() };
}
