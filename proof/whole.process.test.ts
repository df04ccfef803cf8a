import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { freePort, testFolder } from '@octavo/testing';
import { commands } from '../apps/octavo/commands.ts';
import { topology, upNames } from '../apps/octavo/index.ts';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';
import { childrenOf, octavo, quick, run } from './command-line.ts';

const folder = testFolder('whole');

describe('octavo up', () => {
  const data = join(folder, 'up');
  let up: Up;
  before(async () => {
    up = await Up.start(data);
  });
  after(() => up.stop());

  test('prints addresses and demo sign-ins', async () => {
    const portal = await fetch(up.addressOf('portal'));
    assert.equal(portal.status, 200);
    assert.match(await portal.text(), new RegExp(new URL(up.addressOf('gateway')).host));
    // Cookies belong to a host name, and so does the theme.
    const hosts = ['portal', 'gateway', 'passwordless', 'polls'].map(
      (name) => new URL(up.addressOf(name)).hostname,
    );
    assert.deepEqual([...new Set(hosts)], ['localhost']);
    for (const role of ['admin', 'editor', 'viewer']) {
      const signedIn = await signIn(up.addressOf('gateway'), role, up.passwordOf(role));
      assert.equal(signedIn.status, 200, role);
    }
    // The last thing to be seen is what one needs: one setup link, where mails are, and how long it took.
    assert.match(
      up.output,
      /Demo sign-ins:[\s\S]*Become administrator of all services.*\n +http:\/\/localhost:\d+\/setup\/\S+\n\nRead the mails here \(no mail server is set\):\n +http:\/\/localhost:\d+\/mails\n\nReady in \d+ ms\. Ctrl\+C stops everything\.\s*$/,
    );
  });

  test('is filled by the command of its portal, whose demo account appears at once', async () => {
    const portal = async () => (await fetch(up.addressOf('portal'))).text();
    const before = await portal();
    assert.doesNotMatch(before, /demo@example\.com/);
    const [, command = ''] = /<code>npx octavo (seed [^<]+)<\/code>/.exec(before) ?? [];
    assert.equal(command, `seed --data ${data}`);
    const seeded = await octavo([...command.split(' '), 'budgets'], quick);
    const [, password = ''] = /sign in as demo@example\.com with (\S+)\)/.exec(seeded.stdout) ?? [];
    assert.ok(password.length > 10, seeded.stdout + seeded.stderr);
    assert.match(await portal(), new RegExp(`demo@example\\.com[\\s\\S]*data-keep="${password}"`));
  });

  test('reports an address that is in use', async () => {
    const { port } = new URL(up.addressOf('portal'));
    const second = await octavo(['up', '--port', port], { OCTAVO_DATA: join(folder, 'second') });
    assert.equal(second.code, 69);
    // One of the ports above the first may be taken by another test, and is then reported instead.
    const reported = Number(/port (\d+) on 127\.0\.0\.1 is in use/.exec(second.stderr)?.[1]);
    assert.ok(reported >= Number(port) && reported < Number(port) + upNames().length, second.stderr);
  });

  test('exits with 0 on SIGTERM', async () => {
    assert.equal(await up.stop(), 0);
  });
});

describe('the command line', () => {
  test('every command has help', async () => {
    const whole = await octavo(['--help']);
    assert.equal(whole.code, 0);
    for (const name of Object.keys(commands)) {
      assert.match(whole.stdout, new RegExp(`\\b${name}\\b`));
      const help = await octavo([name, '--help']);
      assert.deepEqual([help.code, help.stderr], [0, '']);
      assert.match(help.stdout, new RegExp(`Usage: octavo ${name}`));
    }
  });

  test('every command takes the data folder and the port, and no value is an error', async () => {
    const data = join(folder, 'shared-options');
    assert.equal((await octavo(['migrate', 'polls', '--data', data])).code, 0);
    assert.ok(existsSync(join(data, 'polls.sqlite')));
    const seeded = await octavo(['seed', `--data=${data}`, 'polls']);
    assert.match(seeded.stdout, /^polls: \d+ polls loaded\n$/, seeded.stderr);
    const exported = await octavo(['export', 'polls', '1', '--data', data]);
    assert.match(exported.stdout, /^[^\n]+\n/, exported.stderr);
    const { stdout } = await octavo(['config', '--port', '4123', '--data', data], { PORT: '3999' });
    assert.match(stdout, /^ {2}PORT=4123$/m);
    assert.ok(stdout.includes(`  OCTAVO_DATA=${data}\n`));
    for (const name of Object.keys(commands)) {
      const { code, stderr } = await octavo([name, '--data']);
      assert.deepEqual([code, stderr], [64, 'octavo: --data needs a value\n'], name);
    }
  });

  test('the port moves that of gRPC too, and an address of gRPC in use is an error', async () => {
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const settings = { ...quick, OCTAVO_DATA: join(folder, 'grpc') };
    const explicit = await octavo(['serve', 'budgets', '--port', '0'], {
      ...settings,
      GRPC_PORT: String(port),
    });
    assert.deepEqual([explicit.code, explicit.stderr], [69, `octavo: port ${port} on 127.0.0.1 is in use\n`]);
    const moved = await octavo(['serve', 'budgets', '--port', String(port - 53)], settings);
    assert.deepEqual([moved.code, moved.stderr], [69, `octavo: port ${port} on 127.0.0.1 is in use\n`]);
  });

  test('a setting that the service cannot use is named at start', async () => {
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    // The port is taken, so the service ends after the warning.
    const { code, stderr } = await octavo(['serve', 'quotes', '--port', String(port)], {
      ...quick,
      OCTAVO_DATA: join(folder, 'unused'),
      NATS_URL: 'nats://127.0.0.1:4222',
    });
    assert.equal(code, 69, stderr);
    const [line = ''] = stderr.split('\n');
    const { level, service, msg } = JSON.parse(line);
    assert.deepEqual(
      [level, service, msg],
      ['warn', 'quotes', 'NATS_URL is set, but quotes does not use it'],
    );
    assert.equal(stderr.split('NATS_URL is set').length, 2);
  });

  test('wrong arguments are named, with the exit code for usage errors', async () => {
    const refused = [
      [['nope'], /no command "nope"/],
      [['serve'], /name the services/],
      [['serve', 'nope'], /unknown service nope/],
      [['serve', 'posts', '--bogus'], /--bogus/],
      [['serve', 'tokens', '--workers', '2'], /tokens keeps its state in memory/],
      [['seed', 'authz'], /authz/],
      [['accounts', 'add', 'alice'], /role/],
      [['restore', join(folder, 'missing')], /missing/],
      [['policy', 'test', join(folder, 'missing')], /missing/],
    ] as const;
    await Promise.all(
      refused.map(async ([args, words]) => {
        const { code, stderr } = await octavo([...args], { OCTAVO_DATA: join(folder, 'refused') });
        assert.equal(code, 64, args.join(' '));
        assert.match(stderr, words);
      }),
    );
  });

  test('invalid settings are named before anything opens', async () => {
    const { code, stderr } = await octavo(['serve', 'gateway', '--port', '0'], {
      NODE_ENV: 'production',
      OCTAVO_DATA: join(folder, 'production'),
    });
    assert.equal(code, 78, stderr);
    assert.match(stderr, /GATEWAY_JWT_SECRET is required with NODE_ENV=production/);
    const everything = await octavo(['up', '--port', '0'], {
      NODE_ENV: 'production',
      OCTAVO_DATA: join(folder, 'production'),
      LOG_LEVEL: 'shout',
      JOB_LEASE_MS: 'long',
    });
    assert.equal(everything.code, 78, everything.stderr);
    for (const name of [
      'GATEWAY_JWT_SECRET',
      'PASSWORDLESS_JWT_SECRET',
      'PASSWORDLESS_MAGIC_LINK_BASE_URL',
      'LOG_LEVEL',
      'JOB_LEASE_MS',
    ])
      assert.match(everything.stderr, new RegExp(`${name} (is required|must be)`), name);
    const port = await octavo(['serve', 'gateway'], { PORT: 'eighty' });
    assert.equal(port.code, 78);
    assert.match(port.stderr, /PORT must be a whole number from 0 to 65535/);
  });

  test('accounts are added, changed and disabled', async () => {
    const environment = { ...quick, OCTAVO_DATA: join(folder, 'accounts') };
    const added = await octavo(
      ['accounts', 'add', 'alice', '--role', 'editor'],
      environment,
      'a long enough password\n',
    );
    assert.equal(added.code, 0, added.stderr);
    const { url, child } = await startProcess('gateway', environment);
    const status = async () => (await signIn(url, 'alice', 'a long enough password')).status;
    assert.equal(await status(), 200);
    await octavo(['accounts', 'disable', 'alice'], environment);
    assert.equal(await status(), 401);
    await stopProcess(child);
    const { stdout } = await octavo(['accounts', 'list'], environment);
    assert.match(stdout, /alice +editor +\(disabled\)/);
  });

  test('the shipped policies pass the shipped cases', async () => {
    const { code, stdout } = await octavo(['policy', 'test', 'services/authz/decisions/policies/cases.txt']);
    assert.equal(code, 0);
    assert.match(stdout, /0 failed; 0 combinations have no case/);
  });
});

describe('the data', () => {
  test('is seeded, backed up while it is served, and restored elsewhere', async () => {
    const environment = {
      ...quick,
      OCTAVO_DATA: join(folder, 'data'),
      DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
    };
    const { url, child } = await startProcess('gateway', environment);
    assert.equal((await octavo(['seed', 'gateway', '--count', '1200'], environment)).code, 0);
    assert.equal((await octavo(['seed', 'gateway', '--count', '1200'], environment)).code, 0);
    const [oldest, newest] = [await createdTimes(url, 'asc'), await createdTimes(url, 'desc')];
    const days = ((newest[0] ?? 0) - (oldest[0] ?? 0)) / 86_400_000;
    assert.ok(days > 85 && days < 91 && (newest[0] ?? 0) <= Date.now(), `${days} days`);
    assert.ok(new Set(oldest).size >= 50, 'the posts have their own times');
    const file = join(folder, 'backup.tar');
    const saved = await octavo(['backup', file], environment);
    assert.equal(saved.code, 0, saved.stderr);
    const before = await totalPosts(url);
    await stopProcess(child);
    assert.deepEqual(authors(environment.OCTAVO_DATA), { first: 'admin', last: 'ines', total: 12 });
    const occupied = await octavo(['restore', file], environment);
    assert.equal(occupied.code, 64);
    const elsewhere = { ...environment, OCTAVO_DATA: join(folder, 'elsewhere') };
    const restored = await octavo(['restore', file], elsewhere);
    assert.equal(restored.code, 0, restored.stderr);
    const second = await startProcess('gateway', elsewhere);
    assert.equal(await totalPosts(second.url), before);
    assert.equal(before, 1_200);
    await stopProcess(second.child);
  });
});

/** The accounts with the first numbers, which demo posts name as their authors. */
function authors(data: string) {
  const database = new DatabaseSync(join(data, 'authz.sqlite'), { readOnly: true });
  const rows = database.prepare('select username from account order by uid').all();
  database.close();
  return { first: rows[0]?.username, last: rows.at(-1)?.username, total: rows.length };
}

describe('gateway, posts and authz as three processes', () => {
  test('share a folder of SQLite databases, and keep what they stored over a restart', async (t) => {
    const environment = {
      ...quick,
      OCTAVO_DATA: join(folder, 'processes'),
      DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
    };
    const children: ChildProcess[] = [];
    t.after(() => Promise.all(children.map((child) => stopProcess(child))));
    const start = async (name: string, addresses: Record<string, string> = {}) => {
      const { url, child } = await startProcess(name, { ...environment, ...addresses });
      children.push(child);
      return new URL(url);
    };
    const authz = await start('authz');
    const posts = await start('posts');
    const gateway = await start('gateway', { POSTSVC_ADDR: posts.host, AUTHSVC_ADDR: authz.host });
    const seeded = await octavo(['seed', 'gateway', '--count', '300'], {
      ...environment,
      POSTSVC_ADDR: posts.host,
    });
    assert.equal(seeded.code, 0, seeded.stderr);
    assert.equal(await totalPosts(gateway.origin), 300);
    await stopProcess(children[1] as ChildProcess, 'SIGKILL');
    const restarted = await start('posts');
    const second = await start('gateway', { POSTSVC_ADDR: restarted.host, AUTHSVC_ADDR: authz.host });
    assert.equal(await totalPosts(second.origin), 300);
  });
});

describe('several workers behind one port', () => {
  test('share the work, and one that dies is replaced', async (t) => {
    const environment = {
      ...quick,
      OCTAVO_DATA: join(folder, 'workers'),
      DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
    };
    const port = await freePort();
    const child = run(['serve', 'gateway', '--port', String(port), '--workers', '2'], environment);
    t.after(() => child.kill('SIGKILL'));
    await once(createInterface({ input: child.stdout }), 'line');
    const url = `http://127.0.0.1:${port}`;
    assert.equal(await totalPosts(url), 0);
    const [first = 0, ...others] = await childrenOf(child);
    assert.equal(others.length, 1);
    const replaced = once(createInterface({ input: child.stderr }), 'line', {
      signal: AbortSignal.timeout(60_000),
    });
    process.kill(first, 'SIGKILL');
    assert.match(String(await replaced), /a worker exited with 1 and is replaced/);
    assert.equal(await totalPosts(url), 0);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

/** A running `octavo up` on free ports. */
class Up {
  readonly #child: ChildProcess;
  readonly #output: string;

  private constructor(child: ChildProcess, output: string) {
    this.#child = child;
    this.#output = output;
  }

  static async start(dataFolder: string): Promise<Up> {
    const child = run(['up', '--data', dataFolder, '--port', '0'], quick);
    let output = '';
    for await (const line of createInterface({ input: child.stdout })) {
      output += `${line}\n`;
      if (line.startsWith('Ready')) break;
    }
    return new Up(child, output);
  }

  get output(): string {
    return this.#output;
  }

  addressOf(name: string): string {
    const { site } = topology.find((entry) => entry.name === name) ?? {};
    return new RegExp(`^ +${site?.title} +(\\S+)`, 'm').exec(this.#output)?.[1] ?? '';
  }

  passwordOf(role: string): string {
    return (
      new RegExp(`^ +${role} +(\\S+)`, 'm').exec(this.#output.split('Demo sign-ins:')[1] ?? '')?.[1] ?? ''
    );
  }

  async stop(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    return code;
  }
}

function signIn(url: string, username: string, password: string): Promise<Response> {
  return fetch(`${url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  });
}

async function totalPosts(url: string): Promise<number> {
  return (await readAsViewer(url, 'posts')).pagination.totalItems;
}

/** Times at which the first hundred posts in this order were created, in milliseconds. */
async function createdTimes(url: string, order: 'asc' | 'desc'): Promise<number[]> {
  const { data } = await readAsViewer(url, `posts?sortBy=createdAt&sortOrder=${order}&pageSize=100`);
  return data.map(({ createdAt }) => Date.parse(createdAt));
}

interface Read {
  readonly pagination: { readonly totalItems: number };
  readonly data: readonly { readonly createdAt: string }[];
}

async function readAsViewer(url: string, path: string): Promise<Read> {
  const signedIn = (await (await signIn(url, 'viewer', 'viewer-of-the-tests')).json()) as {
    data: { token: string };
  };
  const headers = { authorization: `Bearer ${signedIn.data.token}` };
  return (await fetch(`${url}/api/v1/${path}`, { headers })).json() as Promise<Read>;
}
