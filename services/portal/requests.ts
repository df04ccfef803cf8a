import type { SuiteSite } from '@octavo/core';
import type { PageContent } from '@octavo/web/html';
import { type Content, card, html, notice } from '@octavo/web/html';
import { keepActions } from '@octavo/web/pages';
import type { SuiteSignIn } from './sites.ts';

/** A request to the API of a service, to try it out. */
export interface SampleRequest {
  /** Purpose, in the imperative. */
  readonly label: string;
  readonly path: string;
  /** JSON that is posted; absent for a read. */
  readonly body?: Readonly<Record<string, unknown>>;
}

interface RequestsOptions {
  readonly sites: readonly SuiteSite[];
  readonly samples: Readonly<Record<string, readonly SampleRequest[]>>;
  readonly signIn: SuiteSignIn;
}

/** Requests ready to paste, each with a token of the demo administrator for its service. */
export async function requestsPage({ sites, samples, signIn }: RequestsOptions): Promise<PageContent> {
  const cards = await Promise.all(
    sites.map(async (site) => {
      const requests = samples[site.name] ?? [];
      const token = requests.length > 0 ? await signIn.demoToken('administrator', site.url) : undefined;
      return token === undefined
        ? undefined
        : card(
            site.title,
            html`<div class="stack">${requests.map((each) => requestOf(each, site, token))}</div>`,
          );
    }),
  );
  return {
    title: 'Requests ready to paste',
    parent: { href: '/', label: 'Octavo' },
    modules: ['keep.js'],
    main: html`<div class="stack">${notice('info', 'Each has a token of the demo administrator, which works for 10 minutes and for this service only.')}${cards}</div>`,
  };
}

function requestOf({ label, path, body }: SampleRequest, { url, title }: SuiteSite, token: string): Content {
  const json = body && ` \\\n  -H 'content-type: application/json' -d ${quoted(JSON.stringify(body))}`;
  const command = `curl -s ${quoted(`${url}${path}`)} \\\n  -H 'authorization: Bearer ${token}'${json ?? ''}`;
  const what = `the request to ${title}: ${label}`;
  return html`<div class="stack"><h3>${label}</h3><pre class="wrap"><code>${command}</code></pre>${keepActions({ text: command, what })}</div>`;
}

/** A word of a command line for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
