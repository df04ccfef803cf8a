import type { Clock } from '@octavo/core';
import { productVersion } from '@octavo/core';
import type { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import type { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { CallOptions, Client } from '@octavo/rpc';
import {
  badge,
  card,
  type Frame,
  facts,
  formatDuration,
  type Html,
  html,
  layout,
  table,
  time,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
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

export interface StatusParts {
  readonly visitors: Visitors;
  readonly integrations: Integrations;
  readonly checks: BackendChecks;
  readonly posts: Client<PostServiceDefinition>;
  readonly authz: Client<AuthServiceDefinition>;
  readonly environment: string;
  readonly rpcAddresses: RpcAddresses;
  readonly clock: Clock;
  /** Time at which this process started. */
  readonly startedMs: number;
  /** The version of the API. */
  readonly apiVersion: string;
}

export function addStatusPage(routes: PageRoutes<PageSession>, parts: StatusParts): void {
  const { visitors, integrations } = parts;
  routes.get(pageRoutes.status, { access: visitors('admin', 'read') }, async ({ caller, call, frame }) => {
    const [backends, states] = await Promise.all([backendsOf(parts, call), integrations.states()]);
    return statusPage(frame(), { parts, requestedBy: caller.username, backends, states });
  });
}

interface Backend {
  readonly name: string;
  readonly address: string;
  readonly state: IntegrationState;
  /** Absent if it does not respond, or is older than this question. */
  readonly info: { readonly version: string; readonly database: string } | undefined;
}

/** Longest time that the page waits for versions. */
const infoTimeoutMs = 1_000;

function backendsOf(
  { posts, authz, checks, rpcAddresses }: StatusParts,
  call: CallOptions,
): Promise<readonly Backend[]> {
  const calling = { ...call, timeoutMs: infoTimeoutMs };
  const backends = [
    ['Posts', 'postsvc', () => posts.getInfo({}, calling)],
    ['Accounts and access', 'authsvc', () => authz.getInfo({}, calling)],
  ] as const;
  const asked = backends.map(async ([name, key, getInfo]): Promise<Backend> => {
    const [isUp, info] = await Promise.all([succeeds(checks[key]), getInfo().catch(() => undefined)]);
    return { name, address: rpcAddresses[key], state: isUp ? 'up' : 'down', info };
  });
  return Promise.all(asked);
}

interface StatusView {
  readonly parts: StatusParts;
  readonly requestedBy: string;
  readonly backends: readonly Backend[];
  readonly states: Readonly<Record<Integration, IntegrationState>>;
}

function statusPage(frame: Frame, { parts, requestedBy, backends, states }: StatusView): string {
  const { environment, clock, startedMs, apiVersion } = parts;
  const gatewayFacts = facts([
    ['Version', `Octavo ${productVersion()}`],
    ['API', apiVersion],
    ['Node.js', process.versions.node],
    ['Environment', environment],
    ['Started', time(startedMs)],
    ['Uptime', formatDuration(clock.now() - startedMs)],
    ['Requested by', requestedBy],
  ]);
  return layout(frame, {
    title: 'Status',
    lead: 'The state of each part of this service.',
    main: html`<div class="stack">${backendCard(backends)}<div class="columns">${card('Gateway', gatewayFacts)}${integrationCard(states)}</div></div>`,
  });
}

function backendCard(backends: readonly Backend[]): Html {
  return card(
    'Backends',
    table<Backend>({
      caption: 'Backends',
      columns: [
        { header: 'Part', kind: 'main', cell: ({ name }) => name },
        { header: 'Version', kind: 'fit', cell: ({ info }) => info?.version ?? 'unknown' },
        { header: 'Database', kind: 'fit', cell: ({ info }) => info?.database ?? 'unknown' },
        { header: 'Address', kind: 'fit', cell: ({ address }) => html`<code>${address}</code>` },
        { header: 'State', kind: 'plain', cell: ({ state }) => stateBadge(state) },
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
        { header: 'State', kind: 'plain', cell: (name) => stateBadge(states[name]) },
      ],
      rows: integrationNames,
    }),
  );
}

function stateBadge(state: IntegrationState): Html {
  if (state === 'off') return badge('plain', 'off');
  return state === 'up' ? badge('good', 'OK') : badge('bad', 'does not respond');
}

const labels: Readonly<Record<Integration, string>> = {
  objectStore: 'Stored exports',
  messageBroker: 'Reanalysis jobs',
  eventStream: 'Event stream',
  inferenceServer: 'Sentiment',
  cache: 'Cache',
  tracing: 'Tracing',
};
