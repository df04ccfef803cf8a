import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@octavo/testing';
import pg from 'pg';

/** Content of the peer's database, in the shapes of the API. */
export interface PeerData {
  readonly questions?: readonly object[];
  readonly choices?: readonly object[];
  readonly quotes?: readonly object[];
}

export interface Peer extends AsyncDisposable {
  readonly url: string;
}

const folder = join(import.meta.dirname, '../django');
const startMs = 20_000;
/** Settings that Gunicorn's documentation recommends for two cores, with threads so that connections stay open. */
const workers = ['--workers', '5', '--worker-class', 'gthread', '--threads', '4', '--keep-alive', '75'];

/**
 * Starts the same pages by Django, Django REST Framework and Gunicorn from Debian, on a database of its own in the PostgreSQL
 * of the tests: `apt-get install python3-django python3-djangorestframework gunicorn python3-psycopg2`.
 */
export async function startDjango(data: PeerData): Promise<Peer> {
  const database = await createDatabase('octavo_bench_django');
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    DATABASE_URL: database,
    DJANGO_SETTINGS_MODULE: 'settings',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const input = JSON.stringify({ questions: [], choices: [], quotes: [], ...data });
  execFileSync('/usr/bin/python3', ['load.py'], {
    cwd: folder,
    env,
    input,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const options = [...workers, '--bind', `127.0.0.1:${port}`, '--log-level', 'warning', 'peer.wsgi'];
  const child = spawn('/usr/bin/gunicorn', options, { cwd: folder, env, stdio: 'inherit' });
  const url = `http://127.0.0.1:${port}`;
  await untilItAnswers(`${url}/api/questions/`, child);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** An empty database in the PostgreSQL of the tests; what an earlier run left in it is dropped. */
export async function createDatabase(name: string): Promise<string> {
  const server = process.env.TEST_POSTGRES_URL || 'postgres://postgres@127.0.0.1:5432/test';
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function untilItAnswers(url: string, child: ChildProcess): Promise<void> {
  for (const untilMs = performance.now() + startMs; performance.now() < untilMs; ) {
    if (child.exitCode !== null) throw new Error('Gunicorn has ended');
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await setTimeout(100);
  }
  throw new Error('Django does not respond');
}
