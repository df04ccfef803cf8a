import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { parseEnv } from 'node:util';
import { parseSites, readConfig } from '@octavo/core';
import { databaseSettings } from '@octavo/data';
import { testFolder } from '@octavo/testing';
import { parse, parseAllDocuments } from 'yaml';
import { checkSettings } from '../apps/octavo/check-settings.ts';
import { loadServices, topology, upNames } from '../apps/octavo/index.ts';
import { suiteSettings } from '../apps/octavo/suite-settings.ts';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';

// What cannot be run here for want of a container engine or a cluster is checked for what they would refuse.

interface Named {
  readonly name: string;
  readonly value?: string;
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly Named[];
  readonly ports: readonly { readonly containerPort: number }[];
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } };
  readonly securityContext: object;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly startupProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Named;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is checked by the types of Kubernetes
  readonly spec: any;
  readonly data?: Readonly<Record<string, string>>;
}

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        image: string;
        command?: string[];
        environment?: Record<string, string>;
        logging?: object;
        deploy?: { replicas?: number };
      }
    >
  >;
}

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'deploy');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const files = globSync('kubernetes/*.yaml', { cwd: folder }).sort();
const manifests = files.flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => document.toJS({ maxAliasCount: -1 }) as Manifest),
);
const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
const compose = parse(read('compose.yaml'), { merge: true }) as Compose;
const composed = Object.entries(compose.services).filter(([, { image }]) => image === 'octavo');
const secrets = {
  DATABASE_URL: 'postgres://octavo:octavo@postgres/octavo',
  RPC_TOKEN: 'a token between the services',
  GATEWAY_JWT_SECRET: 'a secret of more than thirty-two bytes',
  NATS_URL: 'nats://nats:4222',
  S3_ACCESS_KEY_ID: 'octavo',
  S3_SECRET_ACCESS_KEY: 'octavo',
  AUTHZ_SECRET: 'a secret for second factors of 32 bytes and more',
  JWT_ACCESS_SECRET: 'one secret of more than thirty-two bytes',
  JWT_REFRESH_SECRET: 'another secret of over thirty-two bytes',
  PASSWORDLESS_JWT_SECRET: 'a third secret of more than thirty-two bytes',
  JWT_SECRET: 'a fifth secret of more than thirty-two bytes',
  POLLS_SECRET: 'a fourth secret of more than thirty-two bytes',
  QUOTES_SECRET: 'a fifth secret of more than thirty-two bytes',
  PORTFOLIO_JWT_SECRET: 'a fourth secret of more than thirty-two bytes',
  CHAT_SECRET: 'a fifth secret of more than thirty-two bytes',
  SMTP_PASSWORD: 'octavo',
};

test('every service is in the compose file and has a manifest', () => {
  const names = topology.map(({ name }) => name).sort();
  assert.deepEqual(composed.map(([name]) => name).sort(), names);
  assert.deepEqual(deployments.map(({ metadata }) => metadata.name).sort(), names);
});

describe('the manifests for Kubernetes', () => {
  test('are what its API takes', () => {
    const project = testFolder('manifests');
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
    const typed = manifests.filter(({ kind }) => kind !== 'Kustomization');
    const lines = typed.map((manifest, index) => {
      const { apiVersion, kind } = manifest;
      const from = apiVersion.includes('/') ? apiVersion : 'v1';
      return `export const m${index}: import('kubernetes-models/${from}').I${kind} = ${JSON.stringify(manifest)};`;
    });
    writeFileSync(join(project, 'manifests.ts'), lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig'];
    execFileSync(join(root, 'node_modules/.bin/tsc'), [...options, 'manifests.ts'], {
      cwd: project,
      stdio: 'pipe',
    });
    assert.ok(typed.length > 10);
  });

  test('are all in the kustomization', () => {
    const { resources } = parse(read('kubernetes/kustomization.yaml')) as { resources: string[] };
    const expected = files.map((file) => file.split('/')[1]).filter((file) => file !== 'kustomization.yaml');
    assert.deepEqual(resources.toSorted(), expected);
  });

  for (const { metadata, spec } of deployments) {
    const container = spec.template.spec.containers[0] as Container;

    test(`let ${metadata.name} be replaced and lose a node without an outage`, async (t) => {
      const { service } = await entryOf(container.args[1] ?? '').load();
      if (service.isSingle) {
        assert.deepEqual([spec.replicas, spec.strategy.type], [1, 'Recreate']);
        return t.diagnostic(`${metadata.name} keeps its state in memory`);
      }
      assert.ok(spec.replicas >= 2);
      assert.deepEqual(spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
      assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
      const budget = manifests.find(
        (each) => each.kind === 'PodDisruptionBudget' && each.metadata.name === metadata.name,
      );
      assert.deepEqual(budget?.spec, { minAvailable: 1, selector: spec.selector });
      const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
      const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
      // Of the chat, /health also asks its database.
      const live = metadata.name === 'chat' ? '/livez' : '/health';
      assert.deepEqual(paths, [live, live, '/readiness']);
      // Twice as long as a caller keeps an address, and then some for what is under way.
      assert.ok(lifecycle.preStop.sleep.seconds >= 6);
      assert.ok(spec.template.spec.terminationGracePeriodSeconds >= lifecycle.preStop.sleep.seconds + 30);
    });

    test(`give ${metadata.name} few rights and bounded means`, () => {
      assert.equal(spec.template.spec.securityContext.runAsNonRoot, true);
      assert.equal(spec.template.spec.automountServiceAccountToken, false);
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.deepEqual(Object.keys(container.resources.requests), ['cpu', 'memory']);
      assert.ok(container.resources.limits.memory);
    });

    test(`start ${metadata.name} as it is to be started in production`, async () => {
      const config = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
      const own = Object.fromEntries(
        container.env.map(({ name, value }) => [name, value ?? config[name] ?? secretOf(name)]),
      );
      const [command, service = ''] = container.args;
      assert.equal(command, 'serve');
      await assertStarts(service, { ...config, ...own }, Object.keys(own));
      const [port] = container.ports;
      assert.equal(port?.containerPort, entryOf(service).alonePort || 3_000);
      assert.equal(own.PORT, String(port?.containerPort));
    });
  }
});

describe('the compose file', () => {
  for (const [name, { command = [], environment = {} }] of composed) {
    test(`starts ${name} as it is to be started in production`, async () => {
      const given = Object.entries(environment).map(([key, value]) => [
        key,
        value.replace(/\$\{(\w+)[^}]*\}/g, 'x'.repeat(32)),
      ]);
      assert.deepEqual(command, ['serve', name]);
      // The image's health check asks this port.
      assert.equal(environment.PORT, String(entryOf(name).alonePort || 3_000));
      await assertStarts(
        name,
        { NODE_ENV: 'production', ...Object.fromEntries(given) },
        Object.keys(environment),
      );
    });
  }

  test('needs nothing that the example of its settings does not name', () => {
    const named = [...read('example.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    const used = [...read('compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    assert.deepEqual([...new Set(used)].sort(), named.sort());
  });

  test('has everything that Prometheus is to look at', () => {
    const { scrape_configs: jobs } = parse(read('prometheus/prometheus.yaml')) as {
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const targets = jobs.flatMap(({ dns_sd_configs: [target] }) =>
      target ? [[target.names[0], target.port]] : [],
    );
    const expected = composed.map(([name]) => [name, entryOf(name).alonePort || 3_000]);
    assert.deepEqual(targets.sort(), expected.sort());
  });
});

test('no container keeps logs without end', () => {
  for (const [name, { logging }] of Object.entries(compose.services))
    if (name !== 'bucket')
      assert.deepEqual(logging, { driver: 'local', options: { 'max-size': '20m', 'max-file': '5' } }, name);
});

describe('the connections to PostgreSQL', () => {
  const { default: each } = databaseSettings.DATABASE_CONNECTIONS;
  const connectionsOf = (given: string | undefined) => {
    const forRequests = Number(given ?? each);
    return forRequests + Math.ceil(forRequests / 2);
  };
  const reserved = 3;

  test('of all processes of the compose file are fewer than its PostgreSQL has', () => {
    const most = Number(
      /max_connections=(\d+)/.exec(compose.services.postgres?.command?.join(' ') ?? '')?.[1],
    );
    const wanted = composed.flatMap(([, { environment = {}, deploy }]) =>
      environment.DATABASE_URL
        ? [(deploy?.replicas ?? 1) * connectionsOf(environment.DATABASE_CONNECTIONS)]
        : [],
    );
    const sum = wanted.reduce((all, some) => all + some, 0);
    assert.ok(wanted.length > 5 && sum + reserved <= most, `${sum} of ${most}`);
  });

  test('of all pods, with one more of each in a rolling update, are those that the README says', () => {
    const wanted = deployments.flatMap(({ spec }) => {
      const { env } = spec.template.spec.containers[0] as Container;
      const surge = spec.strategy.rollingUpdate?.maxSurge ?? 0;
      const own = env.find(({ name }) => name === 'DATABASE_CONNECTIONS')?.value;
      return env.some(({ name }) => name === 'DATABASE_URL')
        ? [(spec.replicas + surge) * connectionsOf(own)]
        : [];
    });
    const sum = wanted.reduce((all, some) => all + some, 0);
    assert.match(read('README.md'), new RegExp(`\\b${sum} connections`));
  });
});

describe('the unit of systemd', () => {
  const unit = read('systemd/octavo.service');
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);

  test('is one that systemd takes, and exposes little', { skip: systemdIsMissing() }, () => {
    const file = join(testFolder('unit'), 'octavo.service');
    writeFileSync(file, unit.replaceAll('/opt/octavo', root));
    execFileSync('systemd-analyze', ['verify', file], { stdio: 'pipe' });
    // 1.9 of 10 where a service without any of this has 9.6.
    execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=19', file], {
      stdio: 'pipe',
    });
  });

  test('starts what the image starts, and gives it longer to stop than it takes', () => {
    const [start = ''] = valuesOf('ExecStart');
    const [node = '', flag, program = '', command] = start.replaceAll('/opt/octavo', root).split(' ');
    assert.ok(existsSync(node) && existsSync(program), start);
    assert.deepEqual([flag, command], ['--max-semi-space-size=8', 'up']);
    assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > 30);
    const [, folder = ''] = /OCTAVO_DATA=(\S+)/.exec(unit) ?? [];
    assert.equal(folder, `/var/lib/${valuesOf('StateDirectory')[0]}`);
    assert.equal(valuesOf('LogNamespace')[0], 'octavo');
    assert.match(read('systemd/journald@octavo.conf'), /^SystemMaxUse=\d+M$/m);
  });

  test('has an example of settings that are whole once its secrets are filled in', async () => {
    const example = parseEnv(read('systemd/example.env'));
    const own = topology.filter(({ name }) => upNames().includes(name));
    const expected = own.flatMap(({ deploy }) => deploy.secrets ?? []);
    for (const name of [...expected, 'AUTHZ_SECRET']) assert.equal(example[name], '', name);
    const filled = Object.entries(example).map(([name, value]) => [
      name,
      value || randomBytes(32).toString('hex'),
    ]);
    const environment = Object.fromEntries(filled);
    await checkSettings(upNames(), environment);
    assert.deepEqual([...parseSites(environment.SUITE_SITES).keys()], upNames());
    const settings = await loadServices();
    const known = new Set([suiteSettings, ...settings.map((each) => each.settings)].flatMap(Object.keys));
    assert.deepEqual(
      Object.keys(example).filter((name) => !known.has(name)),
      [],
    );
  });
});

describe('the image', () => {
  const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list = '']) =>
    list.split(' '),
  );

  test('is made of what is there, and runs as an unprivileged user', () => {
    for (const path of copied) assert.ok(existsSync(join(root, path)), path);
    const allowed = read('Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    const whole = copied.filter((path) => !copied.some((other) => path.startsWith(`${other}/`)));
    assert.deepEqual(allowed.map((line) => line.slice(1)).sort(), [...new Set(whole)].sort());
    assert.match(read('Dockerfile'), /^USER 10001:10001$/m);
  });

  test('has every package that its code imports', () => {
    const dependencies = (folder: string) => {
      const text = readFileSync(join(root, folder, 'package.json'), 'utf8');
      const manifest = JSON.parse(text) as { name: string; dependencies?: Record<string, string> };
      return { [manifest.name]: '', ...manifest.dependencies };
    };
    const isShipped = (file: string) => !/\.(test|suite|d)\.ts$|\/testing|\/contract\//.test(file);
    const sources = globSync('{packages,services,apps}/*/**/*.ts', {
      cwd: root,
      exclude: ['**/node_modules/**'],
    }).filter(isShipped);
    const missing = sources.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = text.matchAll(
        /^(?:import|export) (?!type )[^;]*?from '([^'#.][^']*)'|import\('([^'#.][^']*)'\)/gm,
      );
      const packages = [...found].map(([, from, dynamic]) => packageOf(from ?? dynamic ?? ''));
      const named = dependencies(file.split('/').slice(0, 2).join('/'));
      return packages.filter((name) => name && !(name in named)).map((name) => `${file}: ${name}`);
    });
    assert.deepEqual(missing, []);
  });

  test('runs from what is copied into it, with the packages that its manifests name', async (context) => {
    const image = testFolder('image');
    const copy = (path: string) =>
      cpSync(join(root, path), join(image, path), { recursive: true, filter: (from) => !isIgnored(from) });
    const isIgnored = (path: string) => /\.(test|suite)\.ts$|\/node_modules$/.test(path);
    const manifests = [
      'package.json',
      'package-lock.json',
      '.npmrc',
      '{packages,services,apps}/*/package.json',
    ];
    for (const file of globSync(manifests, { cwd: root })) copy(file);
    const install = ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit'];
    execFileSync('npm', install, { cwd: image, stdio: 'pipe' });
    const packages = join(image, 'node_modules');
    execFileSync(process.execPath, [join(root, 'deploy/prune.js'), packages]);
    assert.equal(existsSync(join(packages, 'playwright-core')), false);
    assert.equal(realpathSync(join(packages, '@octavo/core')), join(realpathSync(image), 'packages/core'));
    for (const path of copied) copy(path);
    const environment = {
      ...secrets,
      DATABASE_URL: '',
      NATS_URL: '',
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
    };
    const { url, child } = await startProcess(
      'gateway',
      { ...environment, OCTAVO_DATA: join(image, 'data') },
      0,
      image,
    );
    context.after(() => stopProcess(child));
    assert.equal((await fetch(`${url}/readiness`)).status, 200);
    assert.equal((await fetch(`${url}/docs`)).status, 200);
    assert.equal((await fetch(url)).status, 200);
    for (const name of ['chat', 'budgets', 'quotes']) {
      const settings = { LOG_LEVEL: 'error', GRPC_PORT: '0', OCTAVO_DATA: join(image, 'data', name) };
      const other = await startProcess(name, settings, 0, image);
      context.after(() => stopProcess(other.child));
      assert.equal((await fetch(`${other.url}/readiness`)).status, 200, name);
    }
  });
});

/** Asserts that a service takes the settings, knows each of its own, and misses none. */
async function assertStarts(
  name: string,
  environment: Record<string, string>,
  own: readonly string[],
): Promise<void> {
  const { service } = await entryOf(name).load();
  const known = { ...suiteSettings, ...service.settings };
  const addresses = ['POSTSVC_ADDR', 'AUTHSVC_ADDR'];
  assert.deepEqual(
    own.filter((key) => !(key in known) && !addresses.includes(key)),
    [],
    `${name} knows no such settings`,
  );
  readConfig({ ...suiteSettings, ...service.settings }, environment);
  const needed = Object.keys(service.settings).filter((key) =>
    ['DATABASE_URL', 'NATS_URL', 'RPC_TOKEN'].includes(key),
  );
  if (name !== 'gateway') for (const key of needed) assert.ok(environment[key], `${name} wants ${key}`);
}

function systemdIsMissing(): string | false {
  return spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze is missing';
}

function entryOf(name: string) {
  const entry = topology.find((entry) => entry.name === name);
  assert.ok(entry, `${name} is no service`);
  return entry;
}

function secretOf(name: string): string {
  const secret = (secrets as Record<string, string>)[name];
  assert.ok(secret, `${name} is no secret that README.md tells to make`);
  assert.ok(read('README.md').includes(name), `deploy/README.md does not say how to make ${name}`);
  return secret;
}

function packageOf(specifier: string): string | undefined {
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
