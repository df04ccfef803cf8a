import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { seeds, topology } from '../../apps/octavo/index.ts';
import { renderDeployment } from './index.ts';
import { composePort, loadSites, publicOf } from './sites.ts';

const folder = new URL('../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const sites = await loadSites();

test('the committed files are up to date with the topology and their templates: run npm run deploy', async () => {
  for (const [file, text] of await renderDeployment()) assert.equal(read(file), text, `deploy/${file}`);
});

test('the topology names the services with demo data', () => {
  const named = topology.flatMap(({ name, hasDemo }) => (hasDemo ? [name] : []));
  assert.deepEqual(named.toSorted(), Object.keys(seeds).sort());
});

test('only callers and Prometheus reach the services that are not public', () => {
  const text = parseAllDocuments(read('kubernetes/network.yaml')).map((policy) => JSON.stringify(policy));
  for (const { name, deploy } of sites) {
    assert.equal(
      text.some((policy) => policy.includes(`"${name}"`)),
      deploy.host === undefined || name === 'gateway',
      name,
    );
  }
});

describe('the README of deploy/', () => {
  const readme = read('README.md');

  test('has a row for each service, with its ports', () => {
    for (const { name, alonePort, grpc } of sites) {
      const ports = [alonePort || [], grpc ? `gRPC ${grpc.port}` : []].flat().join('; ');
      assert.ok(readme.includes(`\n| \`${name}\`${ports && ` (${ports})`} |`), name);
    }
  });

  test('says where Compose publishes each service', () => {
    for (const site of publicOf(sites)) {
      assert.match(
        readme,
        new RegExp(`${site.name} (is )?at (http://localhost:)?${composePort(site)}\\b`),
        site.name,
      );
    }
    for (const { grpc } of sites) if (grpc) assert.ok(readme.includes(`localhost:${grpc.port}`));
  });

  test('creates the administrators of each service that has accounts of its own, in both forms', () => {
    const withAccounts = sites.filter(
      ({ settings, deploy }) => deploy.host && 'ADMIN_SETUP_LINK' in settings,
    );
    assert.ok(withAccounts.length >= 5);
    for (const { name } of withAccounts) {
      assert.ok(
        readme.includes(` exec ${name} node apps/octavo/octavo.js admin create ${name} `),
        `${name} in Compose`,
      );
      assert.ok(
        readme.includes(` deploy/${name} -- node apps/octavo/octavo.js admin create ${name} `),
        `${name} in Kubernetes`,
      );
    }
  });
});
