import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

/** The arrows of the house: bin -> services/index -> service -> edges -> store -> domain, and everything -> kit. */

const root = resolve(import.meta.dirname, '..');
const composition = ['services/index.ts', 'services/system.ts', 'services/testing.ts'];
const edges = ['api', 'pages', 'rpc', 'graphql', 'live', 'cli'];
const sources = globSync(['kit/**/*.ts', 'services/**/*.ts', 'bin/**/*.ts'], { cwd: root });
const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file) || file.includes('/testing');
const imports = sources.flatMap((file) => importsOf(file).map((target) => ({ file, target })));

test('the kit knows nothing of the services', () => {
  refuse(
    ({ file, target }) => file.startsWith('kit/') && /^(services|bin|proto)\//.test(target) && !isTest(file),
  );
  const names = /\b(gateway|authz|passwordless|budgets|portfolio|portal)\b/i;
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
});

test('HTTP stays at the edges', () => {
  refuse(({ file, target }) => {
    const speaksHttp = ['fastify', 'undici', 'node:http'].includes(target) || target.startsWith('kit/http/');
    const atEdge = edges.includes(layerOf(file)) || layerOf(file) === 'service';
    return isInside(file) && !atEdge && speaksHttp && !typeOnly(file, target);
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

test('every service has its front door and its page', () => {
  const folders = globSync('services/*/service.ts', { cwd: root }).map((file) => dirname(file));
  assert.ok(folders.length >= 4);
  for (const folder of folders)
    assert.ok(existsSync(join(root, folder, 'README.md')), `${folder}/README.md is missing`);
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

/**
 * The layer of a file of a service: `service`, an edge by its name, `store`, or `domain` for all the rest. The first folder or file
 * with the name of a layer counts, also inside the folder of a feature.
 */
function layerOf(file: string): string {
  const inside = file.split('/').slice(2);
  if (inside.join('/') === 'service.ts') return 'service';
  const layers = [...edges, 'store'];
  const isNamed = (part: string, layer: string) => new RegExp(`^${layer}(-[\\w-]+)?(\\.ts)?$`).test(part);
  for (const part of inside) {
    const layer = layers.find((name) => isNamed(part, name));
    if (layer) return layer;
  }
  return 'domain';
}

/** Whether a file belongs to one service, and is no test. */
function isInside(file: string): boolean {
  return file.startsWith('services/') && !isTest(file) && !composition.includes(file);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
