import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { basename, delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { testFolder, until } from '@octavo/testing';
import { childrenOf, entry, octavo, quick, root } from './command-line.ts';

const folder = testFolder('process');
const olderNode = findOlderNode();

describe('what a machine lacks', () => {
  const start = (data: string) => octavo(['serve', 'posts', '--port', '0'], { ...quick, OCTAVO_DATA: data });

  test('is named with its place and what to do', async () => {
    const [file, damaged, elsewhere] = ['a-file', 'damaged', 'elsewhere'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(file, '');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'posts.sqlite'), 'no database '.repeat(1_000));
    mkdirSync(join(elsewhere, 'posts.sqlite'), { recursive: true });
    for (const [data, words] of [
      [join(file, 'data'), /a-file.* goes through a file where a folder is expected/],
      [file, /a-file is a file where a folder is expected/],
      [damaged, /damaged\/posts\.sqlite is not a SQLite database: move it away and restore a backup/],
      [elsewhere, /elsewhere\/posts\.sqlite cannot be opened: check/],
    ] as const) {
      const { code, stderr } = await start(data);
      assert.equal(code, 69, stderr);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /our side|\n +at /);
    }
  });

  test('is this version of Node: an older one hands over to the one of the packages', {
    skip: olderNode.skip,
  }, async () => {
    const environment = { PATH: process.env.PATH };
    const child = spawn(olderNode.path, [entry, '--version'], { env: environment });
    const printed = (await Array.fromAsync(child.stdout.setEncoding('utf8'))).join('');
    assert.match(printed, new RegExp(`node ${process.versions.node}`));
    const bare = testFolder('bare');
    const programs = ['apps/octavo/octavo.js', 'proof/check.js'];
    for (const file of [...programs, 'apps/octavo/launch.js']) cpSync(join(root, file), join(bare, file));
    writeFileSync(join(bare, 'package.json'), '{"type":"module"}');
    for (const program of programs) {
      const name = basename(program, '.js');
      const alone = spawnSync(olderNode.path, [join(bare, program), 'up'], { encoding: 'utf8' });
      assert.equal(alone.status, 78);
      const hint = `^${name}: this is Node [\\d.]+, and Node 26 or newer is needed\\. "npm ci" in .* installs it.*\\n$`;
      assert.match(alone.stderr, new RegExp(hint));
    }
  });
});

describe('the end of a process', () => {
  test('follows a signal to "npm start"', { skip: npmMissing() }, async () => {
    const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
    const environment = { ...quick, PATH, PORT: '0', OCTAVO_DATA: join(folder, 'npm') };
    const npm = spawn('npm', ['start'], {
      cwd: root,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    for await (const line of createInterface({ input: npm.stdout })) {
      output += `${line}\n`;
      if (line.startsWith('Ready')) break;
    }
    const address = /^ +Octavo +(\S+)/m.exec(output)?.[1] ?? '';
    const [server = 0] = await childrenOf(npm);
    assert.equal((await fetch(address)).status, 200);
    npm.kill('SIGTERM');
    await once(npm, 'exit');
    await untilGone(server);
    await assert.rejects(fetch(address));
  });

  test('does not wait for workers that cannot start', async () => {
    const taken = createServer();
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    const { port } = taken.address() as AddressInfo;
    const args = ['serve', 'gateway', '--port', String(port), '--workers', '2'];
    const workers = await octavo(args, { ...quick, OCTAVO_DATA: join(folder, 'taken') });
    taken.close();
    assert.equal(workers.code, 69);
    assert.match(workers.stderr, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use`));
  });
});

/** A Node of this machine that is too old to run the code. */
function findOlderNode(): { path: string; skip: string | false } {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(directory, 'node');
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    if (/^v\d/.test(stdout ?? '') && Number.parseInt(stdout.slice(1), 10) < 26) return { path, skip: false };
  }
  return { path: '', skip: 'no older Node is on the path' };
}

function npmMissing(): string | false {
  return spawnSync('npm', ['--version']).status === 0 ? false : 'npm is missing';
}

async function untilGone(pid: number): Promise<void> {
  const isGone = () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  await until(isGone).catch((error) => {
    process.kill(pid, 'SIGKILL');
    throw new Error('the server runs on without its parent', { cause: error });
  });
}
