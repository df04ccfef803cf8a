import { badge, card, facts } from '#kit/html/blocks.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import type { PageSession, Visitors } from '../access/index.ts';
import { pageRoutes } from '../routes.ts';
import {
  type Integration,
  type IntegrationState,
  type Integrations,
  integrationNames,
  succeeds,
} from './integrations.ts';
import type { BackendChecks, RpcAddresses } from './status.ts';

interface Parts {
  readonly visitors: Visitors;
  readonly integrations: Integrations;
  readonly checks: BackendChecks;
  readonly environment: string;
  readonly rpcAddresses: RpcAddresses;
  readonly uptime: () => string;
}

export function addStatusPage(routes: PageRoutes<PageSession>, parts: Parts): void {
  const { visitors, integrations, checks, environment, rpcAddresses, uptime } = parts;
  routes.get(pageRoutes.status, { access: visitors('admin', 'read') }, async ({ caller, frame }) => {
    const [postsIsUp, authzIsUp, states] = await Promise.all([
      succeeds(checks.postsvc),
      succeeds(checks.authsvc),
      integrations.states(),
    ]);
    return statusPage(frame(), {
      environment,
      uptime: uptime(),
      requestedBy: caller.username,
      backends: [
        ['Posts', rpcAddresses.postsvc, postsIsUp ? 'up' : 'down'],
        ['Access decisions', rpcAddresses.authsvc, authzIsUp ? 'up' : 'down'],
      ],
      states,
    });
  });
}

type Backend = readonly [name: string, address: string, state: IntegrationState];

interface StatusView {
  readonly environment: string;
  readonly uptime: string;
  readonly requestedBy: string;
  readonly backends: readonly Backend[];
  readonly states: Readonly<Record<Integration, IntegrationState>>;
}

function statusPage(frame: Frame, view: StatusView): string {
  const { environment, uptime, requestedBy, backends, states } = view;
  const gatewayFacts = facts([
    ['Environment', environment],
    ['Uptime', uptime],
    ['Requested by', requestedBy],
  ]);
  return layout(frame, {
    title: 'Status',
    lead: 'The parts of this gateway, and whether they answer right now.',
    main: html`<div class="columns"><div class="stack">${card('Gateway', gatewayFacts)}${backendCard(backends)}</div>${integrationCard(states)}</div>`,
  });
}

function backendCard(backends: readonly Backend[]): Html {
  return card(
    'Backends',
    table({
      caption: 'Backends',
      isSmall: true,
      columns: [
        { header: 'Part', cell: ([name]: Backend) => name },
        { header: 'Address', cell: ([, address]) => html`<code>${address}</code>` },
        { header: 'State', kind: 'fit', cell: ([, , state]) => stateBadge(state) },
      ],
      rows: backends,
    }),
  );
}

function integrationCard(states: StatusView['states']): Html {
  return card(
    'Integrations',
    table({
      caption: 'Integrations',
      isSmall: true,
      columns: [
        { header: 'Part', cell: (name: Integration) => labels[name] },
        { header: 'State', kind: 'fit', cell: (name) => stateBadge(states[name]) },
      ],
      rows: integrationNames,
    }),
  );
}

function stateBadge(state: IntegrationState): Html {
  if (state === 'off') return badge('plain', 'off');
  return state === 'up' ? badge('good', 'answers') : badge('bad', 'does not answer');
}

const labels: Readonly<Record<Integration, string>> = {
  objectStore: 'Stored exports',
  messageBroker: 'Reanalysis jobs',
  eventStream: 'Event stream',
  inferenceServer: 'Sentiment',
  cache: 'Cache',
  tracing: 'Tracing',
};
