import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import type { FastifyInstance } from 'fastify';
import { seeds, startSystem, topology, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';
import { administratorAt } from './administrator.ts';
import { cloneRows } from './bench/growth/clone.ts';
import { growing } from './bench/growth/services.ts';

/** More than a read may touch on the event loop. */
const count = 20_000;
/** A statement takes three steps of SQLite's virtual machine at least for each row that it looks at. */
const stepsMax = 33_000;
/** An admin counts up to 10,001 rows of a list, with seven steps each. */
const adminStepsMax = 75_000;

/** Routes that give no page, or stay open. */
const left =
  /[:*]|^\/(docs|openapi|health|metrics|readiness|icon|\.well-known|sign-in|demo-sign-in|oidc)|\.\w+$|stream$|export|^\/ws$|graphql$|(logout|sign-out)\/?$/;

/**
 * Reads that are still on the event loop, in docs/growth.md; all else fails. They are exact totals, sums over a whole table, lists of an API
 * whose dialect has no limit, and orders and searches of an admin without an index.
 */
const known: Readonly<Record<string, RegExp>> = {
  passwordless: /^select (\*|count\(\*\) as "total") from (\(select "id" from )?"user" (order by|where case)/,
  polls:
    /^select (\(select count\(\*\) from choice\)|"choice"\.\* from "choice" inner join "question"|"question"\."id" as "key")/,
  quotes:
    /^select (count\(\*\) as "total" from "quote"|[^(]*coalesce\(\(SELECT group_concat|.* from "report")/s,
  portfolio:
    /^select (count\(\*\) as total from "investment"|.*"?sector_totals"?|substr\(invested_on|"sector")/,
};

const folder = testFolder('large-services');
const environment = { NODE_ENV: 'test', OCTAVO_DATA: folder, ARGON2_MEMORY_KIB: '8', LOG_LEVEL: 'silent' };
const apps = new Map<FastifyInstance, Set<string>>();
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  const routes = new Set<string>();
  apps.set(fastify, routes);
  fastify.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET' && !left.test(url)) routes.add(url);
  });
});
const longest = new Map<string, number>();
subscribe('octavo:sqlite:statement', (message) => {
  const { sql, steps } = message as { sql: string; steps: number };
  longest.set(sql, Math.max(longest.get(sql) ?? 0, steps));
});

let system: System;
before(async () => {
  for (const seed of Object.values(seeds))
    await seed(environment, { count: 30, isForced: false, onProgress: () => {} });
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  const start = () => startSystem(names, { environment, ports, log: silentLog, hasOneSignIn: true });
  {
    await using first = await start();
    for (const name of ['passwordless', 'chat']) await growing[name]?.open(urlIn(first, name), 0);
  }
  // Budgets have a test of their own.
  const { budgets: _, ...services } = growing;
  for (const { file, tables, after: sql } of Object.values(services))
    cloneRows(join(folder, file), tables, { from: 1_000, to: count, after: sql?.(count) });
  apps.clear();
  system = await start();
});
after(() => system?.[Symbol.asyncDispose]());

function urlIn(some: System, name: string): string {
  return some.sites().find((site) => site.name === name)?.url as string;
}

/** Statements that looked at too many rows while something was asked for. */
async function longOf(name: string, most: number, ask: () => Promise<unknown>): Promise<string[]> {
  longest.clear();
  await ask();
  const long = [...longest].filter(([sql, steps]) => steps > most && !known[name]?.test(sql));
  return long.map(([sql, steps]) => `${steps} steps: ${sql}`);
}

describe('no read looks at more than 10,000 rows on the event loop', () => {
  for (const { name, site } of topology) {
    if (!site || name === 'budgets') continue;
    test(`of ${name}`, async () => {
      const base = urlIn(system, name);
      const { port } = new URL(base);
      const [, routes] = [...apps].find(([app]) => app.listeningOrigin.endsWith(`:${port}`)) ?? [];
      const token = await system.signIn?.demoToken('administrator', base);
      const client = await administratorAt(system, name);
      const problems: Record<string, string[]> = {};
      for (const path of routes ?? []) {
        const headers = path.startsWith('/api/') ? { authorization: `Bearer ${token}` } : {};
        const most = path.startsWith('/admin/') ? adminStepsMax : stepsMax;
        const long = await longOf(name, most, () => client.open(path, { headers }));
        if (long.length > 0) problems[path] = long;
      }
      const { html } = await client.open('/admin/');
      for (const [, path = ''] of html.matchAll(/href="(\/admin\/\w+\/\w+\/)"/g))
        for (const query of ['', '?p=2', '?q=one', '?o=-1']) {
          const long = await longOf(name, adminStepsMax, () => client.open(path + query));
          if (long.length > 0) problems[path + query] = long;
        }
      assert.deepEqual(problems, {});
    });
  }
});
