import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { doorsOf, importsIn, importsOf, root } from './check/imports.ts';
import { readWithDocs } from './documents.ts';

/** The allowed imports: proof -> apps -> service -> edges -> store -> rules, and everything -> packages, through their doors. */

const composition = [
  'check-settings',
  'check-settings.test',
  'index',
  'one-sign-in',
  'seeds',
  'suite-settings',
  'system',
  'testing',
  'topology',
].map((name) => `apps/octavo/${name}.ts`);
const edges = ['api', 'pages', 'rpc', 'graphql', 'live', 'cli'];
const layers = [...edges, 'admin', 'store'];
const sources = globSync(['{packages,services,apps,deploy}/**/*.ts', 'proof/check{.ts,/*.ts}'], {
  cwd: root,
  exclude: ['**/node_modules/**', 'packages/protocols/gen/**'],
});
const isTest = (file: string) => /\.(test|suite)\.ts$/.test(file) || file.includes('/testing');
const imports = sources.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
const written = globSync('{packages,services,apps,proof,deploy,training}/**/*.{ts,js}', { cwd: root }).filter(
  (file) => !file.includes('node_modules/') && !file.startsWith('packages/protocols/gen/'),
);
/** The packages, the lowest layer first. One imports from those before it. */
const packageLayers = [
  ['core', 'protocols', 'documents', 'encoder'],
  ['data', 'reader', 'mail', 'web', 'rpc'],
  ['people', 'admin', 'drf'],
  ['testing'],
];
/** Files that may silence a type with `as never`: where a library's types cannot say it. No new ones: declare the type instead. */
const silencing = new Set([
  // Tasks of a worker and conditions of a list are looked up by name among functions of different parameters.
  'packages/core/concurrency/worker-tasks.ts',
  ...['admin.ts', 'store/store.ts'].map((file) => `services/portfolio/${file}`),
  // graphql-sse types what it passes on as variants of its own of GraphQL's types.
  'services/budgets/graphql/transport/event-stream.ts',
]);
// A folder of a service is a feature if it has an index or an edge of its own.
const features = new Set(
  sources
    .filter((file) => /^services\/[^/]+\/[^/]+\/(index|api|pages|rpc|graphql|live|cli)\.ts$/.test(file))
    .filter((file) => layerOf(dirname(file)) === 'rules')
    .map((file) => dirname(file)),
);

test('the packages know nothing of the services', () => {
  refuse(
    ({ file, target }) =>
      file.startsWith('packages/') &&
      /^(services|apps|proof|deploy|training)\//.test(target) &&
      !isTest(file),
  );
});

test('a package imports only from packages in layers below, and to the left in its own', () => {
  assert.deepEqual(
    globSync('packages/*/package.json', { cwd: root })
      .map((file) => basename(dirname(file)))
      .sort(),
    packageLayers.flat().sort(),
    'packages without a layer: name them in packageLayers and in packages/README.md',
  );
  refuse(({ file, target }) => {
    if (!file.startsWith('packages/') || !target.startsWith('packages/')) return false;
    if (isTest(file) || file.includes('/contract/')) return false;
    return heightOf(target) > heightOf(file);
  });
});

test('packages/README.md draws these layers, and has a line for every package', () => {
  const text = read('packages/README.md');
  const drawing = packageLayers
    .map((layer) => layer.join('  '))
    .reverse()
    .join('\n   |\n');
  assert.ok(text.includes(drawing), `packages/README.md does not show\n${drawing}`);
  for (const name of packageLayers.flat())
    assert.ok(text.includes(`| [${name}](`), `packages/README.md has no line for ${name}`);
});

test('a service knows another only by its generated contract', () => {
  refuse(({ file, target }) => {
    if (!file.startsWith('services/') || composition.includes(file)) return false;
    if (composition.includes(target)) return !isTest(file);
    return target.startsWith('services/') && serviceOf(target) !== serviceOf(file);
  });
});

test('the command line comes in by the composition or by a door of a service', () => {
  refuse(({ file, target }) => {
    const isCommand = file.startsWith('apps/') && !composition.includes(file);
    if (!isCommand || !target.startsWith('services/')) return false;
    const service = serviceOf(target);
    return !Object.values(doorsOf(service) ?? {}).some((door) => join(service, door) === target);
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
  refuse(
    ({ file, target }) => {
      if (!isInside(file) || !isInside(target) || serviceOf(target) !== serviceOf(file)) return false;
      const [from, to] = [layerOf(file), layerOf(target)];
      if (to === 'service') return true;
      return from !== 'service' && edges.includes(to) && from !== to;
    },
    `${edges.join(', ')} are edges: as files, as the first word of a file, or as folders. Put what two of them share, types too, into the file of the noun or another file that is no edge`,
  );
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
    // Nor the words of one dialect for errors.
    const speaksHttp =
      ['fastify', 'undici', 'node:http'].includes(target) ||
      ['packages/web/server.ts', 'packages/drf/dialect.ts'].includes(target);
    const atEdge = [...edges, 'admin', 'service'].includes(layerOf(file)) || file.endsWith('/access.ts');
    // Settings of the HTTP server are defined beside it.
    const isSettings = file === `${serviceOf(file)}/settings.ts`;
    return isInside(file) && !atEdge && !isSettings && speaksHttp && !typeOnly(file, target);
  });
});

test('the store knows nothing of who calls it', () => {
  refuse(({ file, target }) => {
    if (!isInside(file) || layerOf(file) !== 'store') return false;
    return /^packages\/(protocols|rpc|web\/(server|html|pages)\.ts)/.test(target);
  });
});

test('OpenTelemetry is loaded only where there is a collector', () => {
  const tracer = 'packages/core/tracing/otlp.ts';
  refuse(({ file, target }) => target.startsWith('@opentelemetry/') && file !== tracer);
  const importers = imports.filter(({ file, target }) => target === tracer && !isTest(file));
  assert.deepEqual(
    importers.map(({ file }) => file),
    ['packages/core/tracing/open.ts'],
  );
  assert.match(read('packages/core/tracing/open.ts'), /await import\('\.\/otlp\.ts'\)/);
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

test('every service with an API has a table of its endpoints', () => {
  const withApi = sources.filter((file) => isInside(file) && layerOf(file) === 'api').map(serviceOf);
  for (const folder of new Set(withApi)) {
    const rows = readWithDocs(folder).match(/^\| `(GET|POST|PUT|PATCH|DELETE) \/\S*` +\|/gm) ?? [];
    assert.ok(rows.length > 0, `the documents of ${folder} have no table of endpoints`);
  }
});

test('doc comments are noun or verb phrases', () => {
  const question = /\/\*\*[\s*]*(What|Whether|Who|Whoever|Whose|Whom|How|Which|Where|The same)\b[^\n]*/g;
  assert.deepEqual(findings(question, written), [], 'doc comments that begin as questions do');
});

test('no object spread only packs lines', () => {
  assert.deepEqual(findings(/\.\.\.\{[^\n]*/g, written), [], 'write the properties themselves');
});

test('only the hottest paths compile a statement, and decision 005 lists them', () => {
  // Written beside this rule, and not rewritten yet.
  const waiting = ['packages/people/sign-in/store.ts'];
  const compiling = sources.filter(
    (file) =>
      !file.startsWith('packages/data/db/') && !waiting.includes(file) && /\bstatement</.test(read(file)),
  );
  const decision = read('docs/decisions/005-one-database-interface.md');
  const listed = [...decision.matchAll(/^\| `([^`]+\.ts)` \|/gm)].map(([, file]) => file as string);
  assert.deepEqual(
    compiling.sort(),
    listed.sort(),
    'write plain Kysely, or measure, and say so in decision 005',
  );
  assert.ok(listed.length <= 10, `${listed.length} files`);
});

test('tests of packages and services leave the environment of their process alone, which others share', () => {
  const writing = sources.filter(
    (file) => isTest(file) && /process\.env(\.\w+|\[[^\]]+\]) \??=[^=]/.test(read(file)),
  );
  assert.deepEqual(writing, []);
});

test('types are silenced by `as never` only in these files', () => {
  const silenced = sources.filter((file) => !isTest(file) && /\bas never\b/.test(read(file)));
  assert.deepEqual(silenced.filter((file) => !silencing.has(file)).sort(), []);
});

test('no folder has more than 15 files besides tests', () => {
  const counts = Map.groupBy(
    sources.filter((file) => !isTest(file)),
    dirname,
  );
  const crowded = [...counts].filter(([, files]) => files.length > 15);
  assert.deepEqual(
    crowded.map(([folder, files]) => `${folder} (${files.length})`),
    [],
    'give a part of them a folder of their own',
  );
});

test('importing a module does nothing', () => {
  const modules = sources.filter(
    (file) =>
      !isTest(file) &&
      !/\/contract\//.test(file) &&
      !isProgram(file) &&
      !/(worker|thread|-process)\.ts$/.test(file),
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

/** Returns the place of a file of a package among the layers. */
function heightOf(file: string): number {
  return packageLayers.flat().indexOf(file.split('/')[1] ?? '');
}

/** Programs that work when they are loaded, and what only these import. */
function isProgram(file: string): boolean {
  return /^(proof|deploy)\/|^apps\/(budget-manager\/|octavo\/(commands|terminal|octavo\.ts))|\/(css|checksum)\.ts$/.test(
    file,
  );
}

/** Returns where a pattern occurs, as `file:line: text`. */
function findings(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const text = read(file);
    return [...text.matchAll(pattern)].map(
      ({ 0: found, index }) => `${file}:${text.slice(0, index).split('\n').length}: ${found}`,
    );
  });
}

/** Fails if an import is bad. The message names each, and says what to do instead. */
function refuse(isBad: (edge: { file: string; target: string }) => boolean, advice?: string): void {
  const found = imports.filter(isBad).map(({ file, target }) => `${file} imports ${target}`);
  assert.ok(found.length === 0, [...found, ...(advice ? [advice] : [])].join('\n'));
}

function typeOnly(file: string, target: string): boolean {
  const statements = read(file).match(/^import\b[^;]*;/gm) ?? [];
  const matching = statements.filter((statement) => importsIn(statement, file).includes(target));
  return matching.length > 0 && matching.every((statement) => statement.startsWith('import type'));
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

/** Returns true if a file belongs to one service, and is not a test. */
function isInside(file: string): boolean {
  return file.startsWith('services/') && !isTest(file) && !composition.includes(file);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
