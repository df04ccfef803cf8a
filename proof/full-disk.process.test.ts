import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@octavo/testing';
import { mountingIsForbidden, mountSmallDisk } from '@octavo/testing/engines';
import { startSystem, upNames } from '../apps/octavo/index.ts';

test('every service with a database is not ready while its disk is full', {
  skip: mountingIsForbidden(),
  timeout: 60_000,
}, async () => {
  const disk = mountSmallDisk(64 * 1024 * 1024);
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: disk.folder,
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
  };
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  // The portal and tokens keep nothing on disk.
  const sites = (await system.addresses()).filter(({ name }) => !['portal', 'tokens'].includes(name));
  const readinessOf = async (url: string) => {
    const response = await fetch(new URL('/readiness', url));
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  };
  for (const { name, url } of sites) assert.equal((await readinessOf(url)).status, 200, name);
  disk.fill();
  for (const { name, url } of sites) {
    const { checks } = await readinessIs(url, 503);
    assert.match(Object.values(checks).join(), /\.sqlite has no space left on its disk: free some/, name);
  }
  const chat = sites.find(({ name }) => name === 'chat')?.url;
  assert.deepEqual(
    (await Promise.all(['/readyz', '/health', '/livez'].map((path) => fetch(chat + path)))).map(
      ({ status }) => status,
    ),
    [503, 503, 200],
  );
  disk.free();
  for (const { url } of sites) await readinessIs(url, 200);

  function readinessIs(url: string, status: number) {
    return until(async () => {
      const readiness = await readinessOf(url);
      return readiness.status === status && readiness;
    });
  }
});
