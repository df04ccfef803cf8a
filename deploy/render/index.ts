import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { renderCaddy, renderCompose, renderExample, renderPrometheus } from './compose.ts';
import { renderDashboard } from './dashboard.ts';
import { renderKubernetes } from './kubernetes.ts';
import { loadSites } from './sites.ts';

const folder = new URL('../', import.meta.url);

/** The files of `deploy/` that come from the topology of services, by path. Run `npm run deploy` after a change of either. */
export async function renderDeployment(): Promise<Map<string, string>> {
  const sites = await loadSites();
  const manifests = [...renderKubernetes(sites)].map(([file, text]): [string, string] => [
    `kubernetes/${file}`,
    text,
  ]);
  return new Map([
    ['compose.yaml', renderCompose(sites)],
    ['example.env', renderExample(sites)],
    ['caddy/Caddyfile', renderCaddy(sites)],
    ['prometheus/prometheus.yaml', renderPrometheus(sites)],
    [
      'grafana/octavo.json',
      renderDashboard(sites, readFileSync(new URL('grafana/octavo.json', folder), 'utf8')),
    ],
    ...manifests,
  ]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, text] of await renderDeployment()) writeFileSync(new URL(file, folder), text);
}
