import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topology } from '../apps/octavo/index.ts';
import { calledBy, testsReachedFrom } from './check/changed.ts';
import { testFilesOf } from './check/tests.ts';

const files = testFilesOf(['{packages,services,proof,apps}/**/*.test.ts']);
const areasReached = (...changed: string[]) => {
  const areas = testsReachedFrom(changed, files).map((file) => file.split('/').slice(0, 2).join('/'));
  return new Set(areas.map((area) => (area.startsWith('services/') ? area : area.split('/')[0])));
};

test('a change in a service reaches its tests, those of services that call it, and those of the whole', () => {
  assert.deepEqual([...areasReached('services/portal/pages.ts')].sort(), [
    'apps',
    'proof',
    'services/portal',
  ]);
  const byPolls = areasReached('services/polls/making/store.ts');
  assert.deepEqual([...byPolls].sort(), ['apps', 'proof', 'services/polls']);
  const byPosts = areasReached('services/posts/posts/create.ts');
  for (const area of ['services/posts', 'services/gateway', 'proof']) assert.ok(byPosts.has(area), area);
  for (const area of ['services/polls', 'services/chat']) assert.ok(!byPosts.has(area), area);
});

test('a migration, a package and the topology reach what depends on them', () => {
  const migration = testsReachedFrom(['services/polls/migrations/0001_polls.sql'], files);
  assert.ok(migration.includes('services/polls/pages.test.ts'));
  assert.ok(areasReached('packages/core/base/ids.ts').has('services/polls'));
  assert.ok(areasReached('apps/octavo/topology.ts').has('services/gateway'));
  assert.equal(testsReachedFrom(['package.json'], files).length, files.length);
});

test('services that run with another one are those that the topology says', () => {
  const called = topology.flatMap(({ name, calls }) =>
    calls ? [[name, Object.values(calls).map((provider) => provider.name)]] : [],
  );
  assert.deepEqual(calledBy, Object.fromEntries(called));
});
