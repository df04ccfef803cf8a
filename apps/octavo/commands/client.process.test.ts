import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { octavo, quick } from '../../../proof/command-line.ts';
import { readWithDocs, root } from '../../../proof/documents.ts';
import { startSystem, topology, upNames } from '../index.ts';
import type { System } from '../system.ts';
import * as client from './client.ts';

const run = promisify(execFile);
const editorPassword = 'editor-of-the-tests';
/** One folder with the written types and the examples of all services, beside the packages. */
const folder = testFolder('client');

let system: System;
let urls: ReadonlyMap<string, string>;
before(async () => {
  const names = upNames();
  const data = join(folder, 'data');
  mkdirSync(data);
  const settings = { ...quick, OCTAVO_DATA: data, DEMO_EDITOR_PASSWORD: editorPassword };
  const seeded = await octavo(['seed', 'polls', 'quotes', 'portfolio'], settings);
  assert.equal(seeded.code, 0, seeded.stderr);
  system = await startSystem(names, {
    environment: { ...settings, NODE_ENV: 'test', PORT: '0' },
    ports: Object.fromEntries(names.map((name) => [name, 0])),
    log: silentLog,
  });
  urls = new Map((await system.addresses()).map(({ name, url }) => [name, url]));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of names) {
    assert.equal(await client.run([name, '--url', urlOf(name), '--out', join(folder, `${name}.d.ts`)]), 0);
    writeFileSync(join(folder, `${name}-example.ts`), exampleOf(name));
  }
});
after(() => system?.[Symbol.asyncDispose]());

const urlOf = (name: string): string => urls.get(name) ?? assert.fail(`${name} does not run`);

/** The program in the documents of a service, for the address and the password of this test. */
function exampleOf(name: string): string {
  const [, text = ''] =
    /^```ts\n(import createClient[\s\S]*?)^```$/m.exec(readWithDocs(`services/${name}`)) ?? [];
  const { upPort } = topology.find((entry) => entry.name === name) ?? {};
  const at = `http://localhost:${upPort}`;
  assert.ok(text.includes(at), `the documents of services/${name} have an example with ${at}`);
  assert.ok(text.trimEnd().split('\n').length <= 16, `the example of ${name} is short`);
  return text.replace(at, urlOf(name)).replace('THE-PRINTED-ONE', editorPassword);
}

describe('octavo client', () => {
  test('writes types that the example of every service compiles with', async () => {
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'esnext', '--types', 'node'];
    const programs = upNames().map((name) => `${name}-example.ts`);
    const wrong = join(folder, 'wrong.ts');
    writeFileSync(wrong, exampleOf('budgets').replace("'Food'", '17'));
    const tsc = join(root, 'node_modules/.bin/tsc');
    await run(tsc, [...options, ...programs], { cwd: folder }).catch(({ stdout }) => assert.fail(stdout));
    await assert.rejects(run(tsc, [...options, wrong], { cwd: folder }), ({ stdout }) =>
      /TS2322: .*'number'/.test(stdout),
    );
  });

  for (const name of upNames()) {
    test(`the example of ${name} runs`, async () => {
      const { stdout, stderr } = await run(process.execPath, [`${name}-example.ts`], { cwd: folder });
      assert.match(stdout, /\w/);
      assert.doesNotMatch(stdout, /undefined/);
      assert.equal(stderr, '');
    });
  }

  test('needs no server, and prints what a server of this version has', async () => {
    const { code, stdout, stderr } = await octavo(['client', 'polls'], {
      DATABASE_URL: 'postgres://nowhere.invalid/x',
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, readFileSync(join(folder, 'polls.d.ts'), 'utf8'));
  });

  test('writes its own file again, and no other', async () => {
    const file = join(folder, 'mine.ts');
    writeFileSync(file, 'export {};\n');
    const refused = await octavo(['client', 'polls', '--url', urlOf('polls'), '--out', file]);
    assert.equal(refused.code, 64);
    assert.match(refused.stderr, /mine\.ts exists and was not written by octavo client/);
    assert.equal(readFileSync(file, 'utf8'), 'export {};\n');
    const again = await octavo([
      'client',
      'polls',
      '--url',
      urlOf('polls'),
      '--out',
      join(folder, 'polls.d.ts'),
    ]);
    assert.equal(again.code, 0);
  });

  test('explains what it cannot use', async () => {
    const answers: Record<string, [number, string]> = {
      '/text/openapi.json': [200, 'no JSON'],
      '/other/openapi.json': [200, '{"swagger":"2.0"}'],
      '/outside/openapi.json': [
        200,
        '{"openapi":"3.1.0","info":{"title":"Polls"},"paths":{"/a":{"$ref":"file:///etc/passwd"}}}',
      ],
      '/down/openapi.json': [503, ''],
    };
    const server = createServer(({ url = '' }, response) => {
      const [status, body] = answers[url] ?? [404, ''];
      response.writeHead(status).end(body);
    }).listen(0, '127.0.0.1');
    after(() => server.close());
    const { port } = await new Promise<AddressInfo>((resolve) =>
      server.on('listening', () => resolve(server.address() as AddressInfo)),
    );
    const at = `http://127.0.0.1:${port}`;
    const cases: [string[], number, RegExp][] = [
      [[], 64, /usage: octavo client NAME/],
      [['polls', 'quotes'], 64, /usage/],
      [['nothing'], 64, /unknown service nothing; known: portal, gateway,/],
      [['authz'], 64, /unknown service authz/],
      [['polls', '--url', 'localhost:1'], 64, /--url needs an address such as/],
      [['polls', '--url', 'http://127.0.0.1:1'], 69, /http:\/\/127\.0\.0\.1:1 does not answer$/m],
      [['polls', '--url', `${at}/down`], 69, /answers 503/],
      [['polls', '--url', `${at}/none`], 64, /answers 404/],
      [['polls', '--url', `${at}/text`], 64, /has no OpenAPI 3 document/],
      [['polls', '--url', `${at}/other/`], 64, /has no OpenAPI 3 document/],
      [['polls', '--url', `${at}/outside`], 64, /refers to file:\/\/\/etc\/passwd/],
      [['polls', '--url', urlOf('quotes')], 64, /describes Quotes, not Polls \(polls\)/],
      [['polls', '--out', folder], 64, /is a folder; name a file/],
      [
        ['polls', '--url', urlOf('polls'), '--out', join(folder, 'no/x.ts')],
        64,
        /the folder of .* does not exist/,
      ],
      [['polls', '--wrong'], 64, /Unknown option/],
    ];
    for (const [args, status, message] of cases) {
      const { code, stdout, stderr } = await octavo(['client', ...args]);
      assert.deepEqual([code, stdout], [status, ''], `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, message);
    }
    assert.ok(!existsSync(join(folder, 'no')));
  });
});
