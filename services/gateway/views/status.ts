import { badge, card, facts } from '#kit/html/blocks.ts';
import { type Html, html } from '#kit/html/html.ts';
import { type Frame, layout } from '#kit/html/layout.ts';
import { table } from '#kit/html/table.ts';
import { type Integration, type Integrations, integrationNames } from '../integrations.ts';

export interface StatusView {
  readonly environment: string;
  readonly uptime: string;
  readonly integrations: Integrations;
  /** Which of those that are on answer now, as far as that can be asked. */
  readonly reached: Readonly<Partial<Record<Integration, boolean>>>;
  readonly rpc: { readonly postsvc: string; readonly authsvc: string };
  /** Which of the backends answer now. */
  readonly answers: { readonly postsvc: boolean; readonly authsvc: boolean };
  readonly requestedBy: string;
}

export function statusPage(frame: Frame, view: StatusView): string {
  return layout(frame, {
    title: 'Status',
    lead: 'What this gateway is made of, and what of it answers now.',
    main: html`<div class="columns"><div class="stack">${gatewayCard(view)}${backendCard(view)}</div>${integrationCard(view)}</div>`,
  });
}

function gatewayCard({ environment, uptime, requestedBy }: StatusView): Html {
  return card(
    'Gateway',
    facts([
      ['Environment', environment],
      ['Up for', uptime],
      ['Asked by', requestedBy],
    ]),
  );
}

function backendCard({ rpc, answers }: StatusView): Html {
  return card(
    'Backends',
    table({
      caption: 'Backends',
      isSmall: true,
      columns: [
        { header: 'Part', cell: ([name]: Backend) => name },
        { header: 'Address', cell: ([, address]) => html`<code>${address}</code>` },
        {
          header: 'State',
          kind: 'fit',
          cell: ([, , isThere]) => (isThere ? badge('good', 'answers') : badge('bad', 'does not answer')),
        },
      ],
      rows: [
        ['Posts', rpc.postsvc, answers.postsvc],
        ['Access decisions', rpc.authsvc, answers.authsvc],
      ],
    }),
  );
}

function integrationCard({ integrations, reached }: StatusView): Html {
  return card(
    'Integrations',
    table({
      caption: 'Integrations',
      isSmall: true,
      columns: [
        { header: 'Part', cell: ([name]: readonly [Integration, boolean]) => labels[name] },
        {
          header: 'State',
          kind: 'fit',
          cell: ([name, isEnabled]) => stateOf(isEnabled, reached[name]),
        },
      ],
      rows: integrationNames.map((name) => [name, integrations[name]] as const),
    }),
  );
}

function stateOf(isEnabled: boolean, isReached: boolean | undefined): Html {
  if (!isEnabled) return badge('plain', 'off');
  if (isReached === undefined) return badge('good', 'enabled');
  return isReached ? badge('good', 'answers') : badge('bad', 'does not answer');
}

type Backend = readonly [name: string, address: string, answers: boolean];

const labels: Readonly<Record<Integration, string>> = {
  objectStore: 'Stored exports',
  messageBroker: 'Reanalysis jobs',
  eventStream: 'Event stream',
  inferenceServer: 'Sentiment',
  cache: 'Cache',
  tracing: 'Tracing',
};
