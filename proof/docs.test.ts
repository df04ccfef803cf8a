import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { checksum, notedChecksum } from '@octavo/protocols/checksum';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { testFolder } from '@octavo/testing';
import { example, settingsOf } from '../apps/octavo/commands/config.ts';
import { commands } from '../apps/octavo/commands.ts';
import { loadServices, startSystem, topology, upNames } from '../apps/octavo/index.ts';
import { basePort } from '../apps/octavo/topology.ts';
import { documents, inlineCode, read, readWithDocs, root } from './documents.ts';

interface OpenApi {
  readonly paths: Readonly<Record<string, object>>;
}

interface Bill {
  readonly bomFormat: string;
  /** Components with references such as `fastify@5.0.0`. */
  readonly components: readonly { readonly 'bom-ref': string }[];
}

interface Packages {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

test('every service has its row with its ports in docs/services.md', () => {
  const rows = read('docs/services.md')
    .split('\n')
    .filter((line) => line.startsWith('|'));
  for (const { name, folder = name, upPort, alonePort } of topology) {
    const row = rows.find((line) => line.includes(`services/${folder}/`) && line.includes(name));
    assert.ok(row, `docs/services.md has no row for ${name}`);
    for (const port of [upPort, alonePort]) {
      if (port !== undefined)
        assert.ok(row.includes(String(port)), `the row of ${name} does not say ${port}`);
    }
  }
});

test('the README says how many services there are to use', () => {
  const numbers = ['Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve'];
  const services = topology.filter(({ name, site }) => site && name !== 'portal');
  const claim = `${numbers[services.length - 7]} ready-made backends`;
  assert.ok(read('README.md').includes(claim), `README.md does not say "${claim}"`);
});

test('the service that packages/README.md shows imports what is there', async () => {
  const lines = [...read('packages/README.md').matchAll(/^import \{ (.*) \} from '(@octavo\/.*)';$/gm)];
  assert.ok(lines.length > 0);
  for (const [, names = '', module = ''] of lines) {
    const exported = (await import(module)) as object;
    for (const name of names.split(', ').filter((each) => !each.startsWith('type ')))
      assert.ok(name in exported, `packages/README.md imports ${name}, which ${module} does not have`);
  }
});

test('every file that a document names is there', () => {
  const files = globSync('**/*.*', { cwd: root, exclude: ['**/node_modules/**', '.git/**'] });
  const isThere = (document: string, named: string) => {
    const folder = dirname(document).replace(/(?<=\/)docs$/, '');
    if ([folder, '.'].some((base) => existsSync(join(root, base, named)))) return true;
    const inside = document.startsWith('docs/decisions/')
      ? files
      : files.filter((file) => !relative(folder, file).startsWith('..'));
    return inside.some((file) => `/${file}`.endsWith(`/${named}`));
  };
  const missing = documents
    .filter((document) => document !== 'CHANGELOG.md')
    .flatMap((document) =>
      inlineCode(document)
        .filter((code) => /^[\w.][\w./-]*\.(ts|js|css)$/.test(code) && !isThere(document, code))
        .map((code) => `${document}: ${code}`),
    );
  assert.deepEqual(missing, []);
});

test('every service has the name that the topology gives it', async () => {
  const services = await loadServices();
  assert.deepEqual(
    services.map(({ name }) => name),
    topology.map(({ name }) => name),
  );
});

test('packages/protocols/gen was written from the .proto files of today', () => {
  assert.equal(notedChecksum(), checksum(), 'run npm run proto');
});

test('.env.example is what the settings say', async () => {
  assert.equal(read('.env.example'), example(settingsOf(await loadServices())));
});

test('every setting of a service is in its table of settings', async () => {
  for (const { name, folder = name, load } of topology) {
    const { service } = await load();
    const rows = readWithDocs(`services/${folder}`).matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) +\|/gm);
    const explained = new Set([...rows].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []));
    const missing = Object.keys(service.settings).filter((setting) => !explained.has(setting));
    assert.deepEqual(missing, [], `settings that the documents of services/${folder} do not explain`);
  }
});

test('the table of endpoints of a service lists what /openapi.json has', async () => {
  const names = upNames();
  const environment = {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('docs'),
    LOG_LEVEL: 'error',
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
  };
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  for (const { name, url } of await system.addresses()) {
    const { paths } = (await (await fetch(new URL('/openapi.json', url))).json()) as OpenApi;
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const rows = readWithDocs(`services/${name}`).matchAll(/^\| `([A-Z]+ \/\S*)` +\|/gm);
    const listed = [...rows].map(([, endpoint = '']) => endpoint);
    assert.deepEqual(listed.toSorted(), documented.toSorted(), `services/${name}`);
  }
});

test('the table of methods of posts lists what the proto has', () => {
  const rows = read('services/posts/README.md').matchAll(/^\| ((?:`[A-Z][a-z]\w+`(?:, )?)+) +\|/gm);
  const listed = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/\w+/g)].map(([name]) => name));
  const methods = Object.values(PostServiceDefinition.methods).map(({ name }) => name);
  assert.deepEqual(listed.toSorted(), methods.toSorted(), 'services/posts/README.md');
});

test('every service is in the table of the deployment, and its address in the list', () => {
  const text = read('deploy/README.md');
  for (const { name, upPort } of topology) {
    assert.ok(text.includes(`| \`${name}\``), `the table of deploy/README.md has no row for ${name}`);
    if (upPort === undefined) continue;
    const port = 8080 + upPort - basePort;
    const address = new RegExp(`\\b${name} (is )?at (http://localhost:)?${port}\\b`);
    assert.match(
      text,
      address,
      `the list of addresses in deploy/README.md does not say "${name} at ${port}"`,
    );
  }
});

test('every published port is in the README of the deployment', () => {
  const ports = topology.flatMap(({ upPort }) => (upPort === undefined ? [] : [upPort]));
  const range = `${Math.min(...ports)}-${Math.max(...ports)}`;
  assert.ok(
    read('deploy/README.md').includes(`${range}:${range}`),
    `deploy/README.md does not publish ${range}`,
  );
});

test('every command of the command line is in docs/command-line.md', () => {
  for (const name of Object.keys(commands)) {
    assert.match(
      read('docs/command-line.md'),
      new RegExp(`octavo ${name}\\b`),
      `docs/command-line.md does not show octavo ${name}`,
    );
  }
});

test('links between documents and files lead somewhere', () => {
  for (const document of documents) {
    for (const [, target = ''] of read(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
      assert.ok(existsSync(join(root, dirname(document), target)), `${document} links to ${target}`);
    }
  }
});

test('the README of a package or service is about one screen, and links to the documents beside it', () => {
  for (const readme of globSync('{packages,services,apps}/**/README.md', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })) {
    const text = read(readme);
    const lines = text.trimEnd().split('\n').length;
    assert.ok(lines <= 80, `${readme} has ${lines} lines: move some to docs/ beside it`);
    for (const file of globSync('docs/*.md', { cwd: join(root, dirname(readme)) }))
      assert.ok(text.includes(`](${file})`), `${readme} does not link to ${file}`);
  }
});

test('links to a part of a document lead to one of its headings', () => {
  for (const document of documents) {
    for (const [, file = '', part = ''] of read(document).matchAll(
      /\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g,
    )) {
      const target = file === '' ? document : join(dirname(document), file);
      const parts = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      assert.ok(parts.includes(part), `${document} links to ${target}#${part}`);
    }
  }
});

/** The part of an address that leads to a heading, as GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

test('checklists name files that exist', () => {
  const rows = documents.flatMap((document) => {
    const lines = read(document).match(/^\| \d+ \| `.*$/gm) ?? [];
    return lines.map((line) => ({ document, line }));
  });
  assert.ok(rows.length >= 50);
  for (const { document, line } of rows) {
    const files = [...(line.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    assert.ok(files.length > 0, `${document}: ${line}`);
    for (const file of files) assert.ok(existsSync(join(root, file)), `${document} names ${file}`);
  }
});

test('changes that are not released are one line each, of at most 160 characters', () => {
  const [, unreleased = ''] = /^## Unreleased$([\s\S]*?)^## /m.exec(read('CHANGELOG.md')) ?? [];
  const long = unreleased.split('\n').filter((line) => line.length > 160);
  assert.deepEqual(long, []);
});

test('the security review has every requirement, and names a test for what is met', () => {
  const rows = [...read('docs/security.md').matchAll(/^\| (\d+\.\d+\.\d+) \| (.*) \|$/gm)].map(
    ([, id = '', cells = '']) => {
      const [level = '', , met = '', how = '', tests = ''] = cells.split(' | ');
      return { id, level, met, how, files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file) };
    },
  );
  // The levels 1 and 2 of OWASP ASVS 5.0.
  assert.equal(new Set(rows.map(({ id }) => id)).size, 253);
  assert.deepEqual([rows.filter(({ level }) => level === '1').length, rows.length], [70, 253]);
  for (const { id, met, how, files } of rows) {
    assert.ok(['yes', 'partly', 'no', 'n/a'].includes(met), `${id}: ${met}`);
    assert.ok(
      met !== 'yes' || files.length > 0 || /\]\(/.test(how),
      `${id} names neither a test nor a document`,
    );
    for (const file of files) assert.ok(existsSync(join(root, file)), `${id} names ${file}`);
  }
  const count = (met: string) => rows.filter((row) => row.met === met).length;
  const sum = `Of 253 requirements, ${count('yes')} are met, ${count('partly')} partly, ${count('no')} are not, and ${count('n/a')} are`;
  assert.ok(read('docs/security.md').includes(sum), `docs/security.md does not say: ${sum}`);
});

test('every service has a threat model', () => {
  const text = read('docs/threats.md');
  for (const section of text.split(/^## /m).slice(2))
    for (const part of ['Assets', 'Entry points', 'What we do', 'What is left'])
      assert.ok(section.includes(`**${part}.**`), `${section.split('\n')[0]} has no "${part}"`);
  const headings = [...text.matchAll(/^## (.*)$/gm)].join();
  for (const { name } of topology.filter((each) => !each.name.endsWith('-worker')))
    assert.ok(headings.toLowerCase().includes(name), `docs/threats.md has no section for ${name}`);
});

test('the bill of materials has the packages of production, and no others', () => {
  const text = execFileSync(process.execPath, ['deploy/sbom.ts'], { cwd: root, encoding: 'utf8' });
  const { bomFormat, components } = JSON.parse(text) as Bill;
  const names = new Set(components.map(({ 'bom-ref': reference }) => reference.replace(/@[^@]*$/, '')));
  assert.equal(bomFormat, 'CycloneDX');
  const { devDependencies } = JSON.parse(read('package.json')) as Packages;
  for (const file of globSync('{packages,services,apps}/*/package.json', { cwd: root })) {
    const { dependencies = {} } = JSON.parse(read(file)) as Packages;
    const missing = Object.keys(dependencies).filter((name) => !names.has(name));
    assert.deepEqual(missing, [], file);
  }
  assert.ok(devDependencies['playwright-core'] && !names.has('playwright-core'));
});

test('decisions have a number each, are short, and say when to revisit them', () => {
  const files = globSync('docs/decisions/*.md', { cwd: root }).sort();
  assert.ok(files.length > 0);
  const numbers = files.map((file) => /^docs\/decisions\/(\d{3})-/.exec(file)?.[1] ?? file);
  assert.deepEqual(numbers, [...new Set(numbers)]);
  for (const file of files) {
    const lines = read(file).trimEnd().split('\n').length;
    assert.ok(lines >= 10 && lines <= 50, `${file} has ${lines} lines`);
    assert.match(read(file), /revisit/i, `${file} does not say when to revisit it`);
  }
});
