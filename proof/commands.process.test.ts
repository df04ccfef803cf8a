import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { parse, parseAllDocuments } from 'yaml';
import { commands, sharedOptions } from '../apps/octavo/commands.ts';
import { topology, upNames } from '../apps/octavo/index.ts';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';
import { entry, octavo, quick } from './command-line.ts';
import { DocumentShell, type Recorded, type ShellOptions } from './document-shell.ts';
import { type CommandBlock, commandBlocks, documents, inlineCode, read, root } from './documents.ts';

// Every command in a document is run, or, if it needs a cluster or a container engine, compared with what it would be given to.

const shell = new DocumentShell();
const blocks = documents.filter((name) => name !== 'STYLE.md').flatMap(commandBlocks);
const skipCurl = ['bash', 'curl', 'jq'].some((program) => spawnSync(program, ['--version']).status !== 0)
  ? 'bash, curl or jq is missing'
  : false;

describe('the commands of documents', { skip: skipCurl }, async () => {
  const system = skipCurl ? undefined : await startEverything();
  const replicas = await testDatabaseUrl();

  for (const block of blocks) {
    const name = `${block.document}, block ${block.number}`;
    const moves = block.text.includes('octavo move');
    const needsDatabase =
      moves || (block.text.includes('DATABASE_URL=postgres') && block.document === 'docs/services.md');
    const skip = needsDatabase && replicas.skip;
    test(`${name} works`, { skip }, async () => {
      const options = moves
        ? await asMove()
        : needsDatabase
          ? await asReplicas(replicas.url ?? '')
          : asSystem(system);
      const { code, output, calls } = await shell.run(block.text, options);
      assert.equal(code, 0, output);
      for (const call of calls) await checkCall(call);
      checkOutput(block, output);
    });
  }
});

describe('commands in the sentences of documents', () => {
  const all = documents.flatMap((document) => inlineCode(document).map((code) => ({ document, code })));

  test('name commands and options of octavo', () => {
    const ours = all.filter(({ code }) => /^(npx )?octavo [a-z]/.test(code));
    assert.ok(ours.length > 20);
    for (const { document, code } of ours) {
      const [name = '', ...words] = code.replace(/^(npx )?octavo /, '').split(' ');
      assertOptions(name, words, `${document}: ${code}`);
    }
  });

  test('name scripts, checks and files that exist', async () => {
    const named = all.filter(({ code }) => /^(npm|npx|node|docker|kubectl) /.test(code));
    for (const { document, code } of named) {
      if (/ (NAME|FILE)\b/.test(code)) continue;
      if (code.startsWith('npx octavo')) continue;
      const { calls } = await shell.run(code.replace(/^node /, 'npx node '));
      assert.ok(calls.length > 0, `${document}: ${code}`);
      for (const call of calls) await checkCall(call);
    }
  });
});

/** Everything in one process, and the post backend beside it on the same data. */
async function startEverything() {
  const data = testFolder('everything');
  const child = spawn(process.execPath, [entry, 'up', '--port', '0', '--data', data], {
    env: { PATH: process.env.PATH, ...quick },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  let printed = '';
  for await (const line of createInterface({ input: child.stdout })) {
    printed += `${line}\n`;
    if (line.startsWith('Ready')) break;
  }
  // Also without a test that runs, and so without the end of its suite.
  child.unref();
  (child.stdout as Socket).unref();
  const posts = await startProcess('posts', { ...quick, OCTAVO_DATA: data });
  after(async () => {
    await stopProcess(child);
    await stopProcess(posts.child);
  });
  const [, password = ''] = /^ +editor +(\S+)/m.exec(printed.split('Demo sign-ins:')[1] ?? '') ?? [];
  const hosts = upNames().map((name): [string, string] => {
    const { upPort, site } = topology.find((entry) => entry.name === name) ?? {};
    const [, url = ''] = new RegExp(`^ +${site?.title} +(\\S+)`, 'm').exec(printed) ?? [];
    return [`localhost:${upPort}`, new URL(url).host];
  });
  return { data, password, hosts: [...hosts, ['localhost:50051', new URL(posts.url).host]] as const };
}

/** The addresses and the password that were printed, in place of those of the document. */
function asSystem(system: Awaited<ReturnType<typeof startEverything>> | undefined): ShellOptions {
  if (!system) return {};
  const { data, password, hosts } = system;
  return {
    environment: { OCTAVO_DATA: data, ADMIN_PASSWORD: 'ferries wait in fog' },
    replace: [
      ...hosts,
      ['THE-PRINTED-ONE', password],
      ['"password":"..."', `"password":"${password}"`],
      // Nothing is installed there.
      ['cd /opt/octavo && ', ''],
      // As many would take half a minute.
      ['octavo seed gateway', 'octavo seed gateway --count 50'],
    ],
  };
}

/** A folder of its own, which no service runs on, and a database that it moves to. */
async function asMove(): Promise<ShellOptions> {
  moved ??= prepareMove();
  const { url, data } = await moved;
  return {
    environment: { OCTAVO_DATA: data },
    replace: [['postgres://octavo:secret@db/octavo', url]],
  };
}

let moved: ReturnType<typeof prepareMove> | undefined;

async function prepareMove() {
  const [{ url = '' }, data] = [await testDatabaseUrl(), testFolder('move')];
  const seeded = await octavo(['seed', 'polls', 'quotes'], { ...quick, OCTAVO_DATA: data });
  assert.equal(seeded.code, 0, seeded.stderr);
  return { url, data };
}

/** Environment on free ports and an existing database; stopped when the last service is ready. */
async function asReplicas(url: string): Promise<ShellOptions> {
  const [posts, authz, gateway] = [await freePort(), await freePort(), await freePort()];
  return {
    environment: { OCTAVO_DATA: testFolder('replicas') },
    replace: [
      ['postgres://octavo:secret@db/octavo', url],
      ['127.0.0.1:50051', `127.0.0.1:${posts}`],
      ['127.0.0.1:50052', `127.0.0.1:${authz}`],
      ['serve posts', `serve posts --port ${posts}`],
      ['serve authz', `serve authz --port ${authz}`],
      ['serve gateway', `serve gateway --port ${gateway}`],
    ],
    until: async () => {
      const isReady = async () => {
        const response = await fetch(`http://127.0.0.1:${gateway}/readiness`).catch(() => undefined);
        return response?.status === 200;
      };
      while (!(await isReady())) await delay(100);
    },
  };
}

function checkOutput({ document, text }: CommandBlock, output: string): void {
  if (text.includes('posts.csv')) {
    const exported = readFileSync(join(shell.folder, 'posts.csv'), 'utf8');
    assert.match(exported, /^id,userId,title,body,createdAt,updatedAt\r\n[\s\S]*,Hello,A first post,/);
    assert.match(output, /"title":"Hello"/);
  } else if (text.includes('curl')) {
    const answers = output.split('\n').filter((line) => line !== '' && !saidByOctavo.test(line));
    for (const answer of answers) assert.doesNotThrow(() => JSON.parse(answer), `${document}: ${output}`);
  }
}

/** The result of a command about a service, such as `polls: 14 polls loaded`. */
const saidByOctavo = /^[a-z]+: /;

/** Compares a recorded command with what it would be given to. */
async function checkCall({ program, args, environment }: Recorded): Promise<void> {
  const line = `${program} ${args.join(' ')}`;
  const checks = {
    npm: checkNpm,
    npx: checkNpx,
    docker: checkDocker,
    kubectl: checkKubectl,
    sudo: checkSudo,
  };
  const check = checks[program as keyof typeof checks];
  assert.ok(check, line);
  await check(args, line, environment);
}

function checkNpm([command = '', ...given]: readonly string[], line: string): void {
  const args = given.filter((word) => word !== '--silent');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  assert.ok(existsSync(join(root, 'package-lock.json')));
  // Only the name of a command, without a script.
  if (command === 'ci' || command === 'audit' || (command === 'run' && args.length === 0)) return;
  const script = command === 'run' ? (args[0] ?? '') : command;
  assert.ok(scripts[script], line);
  const words = command === 'test' ? args.slice(args.indexOf('--') + 1) : [];
  for (const word of args.includes('--') ? words : []) {
    if (word === '--changed') continue;
    assert.match(read('proof/check.ts'), new RegExp(`(program|tests)\\(\\s*'[^']*${word}`), line);
  }
}

function checkNpx(args: readonly string[], line: string, environment: Recorded['environment']): void {
  const [program, ...rest] = args;
  if (program === 'octavo') {
    assertOptions(rest[0] ?? '', rest.slice(1), line);
    return;
  }
  assert.equal(program, 'node', line);
  const [file = ''] = rest.filter((word) => !word.startsWith('--'));
  assert.ok(existsSync(join(root, file)), line);
  const { TEST_DATABASE, TEST_RPC } = environment;
  if (TEST_RPC) assert.deepEqual([TEST_DATABASE, TEST_RPC], ['postgres', 'remote']);
}

interface Compose {
  readonly services: Readonly<Record<string, object>>;
}

async function checkDocker([command = '', ...args]: readonly string[], line: string): Promise<void> {
  const { options, words } = parseOptions(args, ['rm', 'build', 'wait']);
  if (command === 'build') {
    assert.ok(existsSync(join(root, options.f ?? '')), line);
    return assert.deepEqual(words, ['.'], line);
  }
  if (command === 'run') {
    assert.deepEqual(words, ['octavo'], line);
    const ports = upNames().map((name) => topology.find((entry) => entry.name === name)?.upPort ?? 0);
    const range = `${Math.min(...ports)}-${Math.max(...ports)}`;
    assert.equal(options.p, `127.0.0.1:${range}:${range}`, line);
    return assert.match(
      read('deploy/Dockerfile'),
      new RegExp(`^VOLUME ${options.v?.split(':')[1]}$`, 'm'),
      line,
    );
  }
  assert.equal(command, 'compose', line);
  for (const file of [options.f, options['env-file']]) {
    assert.ok(existsSync(join(shell.folder, file ?? '')), `${line}: there is no ${file}`);
  }
  const [action, service = '', ...inside] = words;
  if (action === 'up') return;
  assert.equal(action, 'exec', line);
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as Compose;
  assert.ok(services[service], line);
  await checkInside(inside, line);
}

/** Commands of an administrator, compared with the unit of systemd that they install. */
async function checkSudo([program = '', ...args]: readonly string[], line: string): Promise<void> {
  const unit = read('deploy/systemd/octavo.service');
  const last = args.at(-1) ?? '';
  if (program === 'useradd') return assert.match(unit, new RegExp(`^User=${last}$`, 'm'), line);
  if (program === '-u') {
    assert.match(unit, new RegExp(`^User=${args[0]}$`, 'm'), line);
    return checkNpx(args.slice(2), line, {});
  }
  if (program === 'cp' || program === 'install') {
    assert.ok(existsSync(join(root, args.at(-2) ?? '')), line);
    if (last.startsWith('/opt/')) assert.ok(unit.includes('WorkingDirectory=/opt/octavo'), line);
    return;
  }
  if (program === 'journalctl') return assert.match(unit, /^LogNamespace=octavo$/m, line);
  assert.equal(program, 'systemctl', line);
  assert.ok(last === 'daemon-reload' || last === 'octavo', line);
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

async function checkKubectl(args: readonly string[], line: string): Promise<void> {
  const manifests = globSync('deploy/kubernetes/*.yaml', { cwd: root }).map(read);
  const { words, options } = parseOptions(args, ['it']);
  const [command, ...rest] = words;
  if (command === 'create') {
    assert.deepEqual(rest, ['secret', 'generic', 'octavo'], line);
    const references = manifests.flatMap((text) => [
      ...text.matchAll(/secretKeyRef: \{ name: (\w+), key: (\w+)/g),
    ]);
    for (const [, secret] of references) assert.equal(secret, 'octavo');
    const given = args.filter((word) => word.startsWith('--from-literal=')).map((word) => word.split('=')[1]);
    assert.deepEqual(given.toSorted(), [...new Set(references.map(([, , key]) => key))].sort(), line);
    return;
  }
  if (command === 'apply')
    return assert.ok(existsSync(join(root, options.k ?? '', 'kustomization.yaml')), line);
  assert.equal(command, 'exec', line);
  const [kind, name] = rest[0]?.split('/') ?? [];
  assert.equal(kind, 'deploy', line);
  const resources = manifests.flatMap((text) =>
    parseAllDocuments(text).map((each) => each.toJS() as Manifest),
  );
  assert.ok(
    resources.some((each) => each.kind === 'Deployment' && each.metadata.name === name),
    line,
  );
  await checkInside(rest.slice(1), line);
}

/** Runs the command that a container would run. */
async function checkInside([program, file, ...args]: readonly string[], line: string): Promise<void> {
  assert.deepEqual([program, file], ['node', 'apps/octavo/octavo.js'], line);
  const settings = { ...quick, OCTAVO_DATA: testFolder('inside') };
  const { code, stderr } = await octavo(args, settings, 'a long enough password\n');
  assert.equal(code, 0, `${line}: ${stderr}`);
}

/** The values of the options of a command line, and its other words. These flags have no value. */
function parseOptions(args: readonly string[], flags: readonly string[]) {
  const options: Record<string, string> = {};
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as string;
    const [, name = ''] = /^--?([\w-]+)$/.exec(word) ?? [];
    // What follows belongs to the program inside.
    if (word === '--') words.push(...args.slice(index + 1));
    if (word === '--') break;
    if (name !== '' && !flags.includes(name)) options[name] = args[++index] ?? '';
    else if (!word.startsWith('-')) words.push(word);
  }
  return { options, words };
}

function assertOptions(name: string, words: readonly string[], line: string): void {
  const command = commands[name];
  assert.ok(command, `${line}: there is no such command`);
  const shared = Object.values(sharedOptions).map(({ usage }) => usage);
  const known = [...Object.keys(command.options), ...shared].map((option) => option.split(' ')[0]);
  for (const word of words.filter((word) => word.startsWith('--'))) {
    assert.ok(known.includes(word), `${line}: ${name} has no ${word}`);
  }
}
