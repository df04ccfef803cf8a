import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

/** The allowed imports: bin -> services/index -> service -> edges -> store -> rules, and everything -> kit. */

const root = resolve(import.meta.dirname, '..');
const composition = ['check-settings', 'check-settings.test', 'index', 'system', 'testing'].map(
  (name) => `services/${name}.ts`,
);
const edges = ['api', 'pages', 'rpc', 'graphql', 'live', 'cli'];
const layers = [...edges, 'admin', 'store'];
const sources = globSync(['kit/**/*.ts', 'services/**/*.ts', 'bin/**/*.ts'], { cwd: root });
const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file) || file.includes('/testing');
const imports = sources.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
// A folder of a service is a feature if it has an index or an edge of its own.
const features = new Set(
  sources
    .filter((file) => /^services\/[^/]+\/[^/]+\/(index|api|pages|rpc|graphql|live|cli)\.ts$/.test(file))
    .filter((file) => layerOf(dirname(file)) === 'rules')
    .map((file) => dirname(file)),
);

test('the kit knows nothing of the services', () => {
  refuse(
    ({ file, target }) => file.startsWith('kit/') && /^(services|bin|proto)\//.test(target) && !isTest(file),
  );
  const folders = globSync('services/*/service.ts', { cwd: root }).map((file) => basename(dirname(file)));
  // These are words of the kit too: events of posts in an example, tokens of a session, quotes around an attribute.
  const ordinary = ['posts', 'tokens', 'quotes'];
  assert.ok(ordinary.every((name) => folders.includes(name)));
  const names = new RegExp(`\\b(${folders.filter((name) => !ordinary.includes(name)).join('|')})\\b`, 'i');
  const wordy = sources.filter((file) => file.startsWith('kit/') && !isTest(file) && names.test(read(file)));
  assert.deepEqual(wordy, [], 'files of the kit that name a service');
});

test('a service knows another only by its generated contract', () => {
  refuse(({ file, target }) => {
    if (!file.startsWith('services/') || composition.includes(file)) return false;
    if (composition.includes(target)) return !isTest(file);
    return target.startsWith('services/') && serviceOf(target) !== serviceOf(file);
  });
});

test('the command line comes in by the composition or by the front door of a service', () => {
  refuse(({ file, target }) => {
    const entrance = composition.includes(target) || target.endsWith('/service.ts');
    return file.startsWith('bin/') && target.startsWith('services/') && !entrance;
  });
});

test('a feature imports another only through its index.ts', () => {
  refuse(({ file, target }) => {
    const [from, to] = [featureOf(file), featureOf(target)];
    return (
      !isTest(file) && from !== undefined && to !== undefined && from !== to && target !== `${to}/index.ts`
    );
  });
});

test('no files import each other in a circle, not even for types', () => {
  assert.deepEqual(circularFiles(), []);
});

test('inside a service nothing calls back to an edge, and no edge calls another', () => {
  refuse(({ file, target }) => {
    if (!isInside(file) || !isInside(target) || serviceOf(target) !== serviceOf(file)) return false;
    const [from, to] = [layerOf(file), layerOf(target)];
    if (to === 'service') return true;
    return from !== 'service' && edges.includes(to) && from !== to;
  });
});

test('SQL stays in the store', () => {
  refuse(({ file, target }) => {
    const speaksSql = ['kysely', 'pg', 'node:sqlite'].includes(target);
    return isInside(file) && layerOf(file) !== 'store' && speaksSql && !typeOnly(file, target);
  });
  const querying = sources.filter(
    (file) =>
      isInside(file) && layerOf(file) !== 'store' && /\bstatement[<(]|\bkysely\b(?!')/.test(read(file)),
  );
  assert.deepEqual(querying, [], 'files with statements that are no store');
});

test('HTTP stays at the edges', () => {
  refuse(({ file, target }) => {
    const speaksHttp = ['fastify', 'undici', 'node:http'].includes(target) || target.startsWith('kit/http/');
    const atEdge = [...edges, 'admin', 'service'].includes(layerOf(file));
    // Settings of the HTTP server are defined by the kit.
    const isSettings = file === `${serviceOf(file)}/settings.ts`;
    return isInside(file) && !atEdge && !isSettings && speaksHttp && !typeOnly(file, target);
  });
});

test('the store knows nothing of who calls it', () => {
  refuse(({ file, target }) => {
    if (!isInside(file) || layerOf(file) !== 'store') return false;
    return /^(proto\/|kit\/(http|rpc|html)\/)/.test(target);
  });
});

test('OpenTelemetry is loaded only where there is a collector', () => {
  const tracer = 'kit/tracing/otlp.ts';
  refuse(({ file, target }) => target.startsWith('@opentelemetry/') && file !== tracer);
  const importers = imports.filter(({ file, target }) => target === tracer && !isTest(file));
  assert.deepEqual(
    importers.map(({ file }) => file),
    ['kit/tracing/open.ts'],
  );
  assert.match(read('kit/tracing/open.ts'), /await import\('\.\/otlp\.ts'\)/);
});

test('the product never loads what trained its models', () => {
  refuse(({ target }) => target.startsWith('training/'));
});

test('only service.ts and the composition choose adapters', () => {
  const choosing = sources.filter(
    (file) =>
      file.startsWith('services/') &&
      !isTest(file) &&
      !composition.includes(file) &&
      !file.endsWith('/service.ts') &&
      /\b(openDatabase|openFolderStore|openS3Store|remoteClient|createHttpServer)\(/.test(read(file)),
  );
  assert.deepEqual(choosing, []);
});

test('every service has a README', () => {
  const folders = globSync('services/*/service.ts', { cwd: root }).map((file) => dirname(file));
  assert.ok(folders.length >= 4);
  for (const folder of folders)
    assert.ok(existsSync(join(root, folder, 'README.md')), `${folder}/README.md is missing`);
});

test('the README of every service with an API has a table of its endpoints', () => {
  const withApi = sources.filter((file) => isInside(file) && layerOf(file) === 'api').map(serviceOf);
  for (const folder of new Set(withApi)) {
    const rows = read(`${folder}/README.md`).match(/^\| `(GET|POST|PUT|PATCH|DELETE) \/\S*` +\|/gm) ?? [];
    assert.ok(rows.length > 0, `${folder}/README.md has no table of endpoints`);
  }
});

test('importing a module does nothing', () => {
  const modules = sources.filter(
    (file) => !isTest(file) && !file.startsWith('bin/') && !/(worker|thread|-process)\.ts$/.test(file),
  );
  const script = `
    // A library may look whether these are terminals.
    process.stdout; process.stderr;
    const before = new Set(process.getActiveResourcesInfo());
    for (const file of ${JSON.stringify(modules)}) await import(${JSON.stringify(root)} + '/' + file);
    // Node itself may have asked for a turn, to tell of what was collected as garbage.
    await new Promise(setImmediate);
    console.log(JSON.stringify(process.getActiveResourcesInfo().filter((kind) => !before.has(kind))));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(printed.trim(), '[]', 'open handles after importing every module');
});

function refuse(isBad: (edge: { file: string; target: string }) => boolean): void {
  assert.deepEqual(imports.filter(isBad), []);
}

function importsOf(file: string): string[] {
  const matches = read(file).matchAll(
    /^(?:import|export)\b[^'"\n;]*(?:\{[^}]*\}[^'"\n;]*)?['"]([^'"]+)['"]|import\('([^']+)'\)/gm,
  );
  return [...matches].map((match) => locate(file, match[1] ?? match[2] ?? ''));
}

function locate(file: string, specifier: string): string {
  if (specifier.startsWith('#kit/')) return specifier.slice(1);
  if (specifier.endsWith('/limits.ts')) return specifier.slice(1);
  if (specifier.startsWith('#proto/')) return specifier.replace('#proto/', 'proto/gen/');
  if (specifier.startsWith('.')) return relative(root, resolve(root, dirname(file), specifier));
  return specifier;
}

function typeOnly(file: string, target: string): boolean {
  const specifier = target.startsWith('kit/') ? `#${target}` : target;
  const lines = read(file)
    .split('\n')
    .filter((line) => line.includes(`'${specifier}'`));
  return lines.every((line) => line.startsWith('import type'));
}

function serviceOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** The feature that a file belongs to, as its folder; nothing for a file outside of all features. */
function featureOf(file: string): string | undefined {
  const folder = file.split('/').slice(0, 3).join('/');
  return features.has(folder) ? folder : undefined;
}

/**
 * The layer of a file of a service: `service`, an edge by its name, `store`, or `rules` for all the rest. The first folder or file
 * with the name of a layer counts, also inside the folder of a feature.
 */
function layerOf(file: string): string {
  const inside = file.split('/').slice(2);
  if (inside.join('/') === 'service.ts') return 'service';
  for (const part of inside) {
    const layer = layers.find((name) => new RegExp(`^${name}(-[\\w-]+)?(\\.ts)?$`).test(part));
    if (layer) return layer;
  }
  return 'rules';
}

/** The files of import circles, and those between two circles: what is left without files that import none or that none imports. */
function circularFiles(): string[] {
  let left = new Set(sources.filter((file) => !isTest(file)));
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    const inside = imports.filter(
      ({ file, target }) => file !== target && left.has(file) && left.has(target),
    );
    const importing = new Set(inside.map(({ file }) => file));
    const imported = new Set(inside.map(({ target }) => target));
    left = new Set([...left].filter((file) => importing.has(file) && imported.has(file)));
  }
  return [...left];
}

/** Whether a file belongs to one service, and is not a test. */
function isInside(file: string): boolean {
  return file.startsWith('services/') && !isTest(file) && !composition.includes(file);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
