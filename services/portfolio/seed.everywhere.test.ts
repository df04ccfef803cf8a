import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ServiceContext } from '@octavo/data/service';
import { testContext, testFolder, testMode } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { importFile, loadDemo } from './service.ts';
import { startPortfolio } from './testing.ts';

const isPostgres = (await testMode()).databaseUrl !== undefined;
const folder = testFolder('own-data');
const own = { team: [{ name: 'Alice', slug: 'zoe-muller' }], sectors: [{ name: 'Space', slug: 'space' }] };

/** A database where nothing ever was, and what is done with it. */
async function emptyPlace() {
  const { url = '' } = isPostgres ? await testDatabaseUrl() : {};
  const dataFolder = testFolder('portfolio');
  const environment = { DATABASE_URL: url };
  const context = testContext('portfolio', { dataFolder });
  return {
    start: (nodeEnv: ServiceContext['environment'] = 'test') =>
      startPortfolio({ environment, nodeEnv, folder: dataFolder }),
    seed: (isForced = false) => loadDemo(environment, context, isForced),
    async importRecords(records: object, replaces = false) {
      const file = join(folder, 'records.json');
      await writeFile(file, JSON.stringify(records));
      await importFile({ environment, context, file, kind: undefined, replaces });
    },
  };
}

const slugsIn = async (place: { start: () => ReturnType<typeof startPortfolio> }) => {
  await using service = await place.start();
  const { json } = await service.get('/api/team?limit=100');
  return json.map(({ slug }: { slug: string }) => slug);
};

describe('the demo firm', () => {
  test('is there after the first start, and after two at once', async () => {
    const place = await emptyPlace();
    const services = await Promise.all([place.start(), place.start()]);
    const teams = await Promise.all(services.map((service) => service.get('/api/team?limit=100')));
    for (const service of services) await service[Symbol.asyncDispose]();
    for (const { json } of teams) assert.equal(json.length, 12);
    assert.equal(await place.seed(), 0, 'nothing is missing');
  });

  test('does not come where the owner imported something before', async () => {
    const place = await emptyPlace();
    await place.importRecords(own);
    assert.deepEqual(await slugsIn(place), ['zoe-muller']);
    assert.deepEqual(await slugsIn(place), ['zoe-muller']);
  });

  test('does not come where everything was deleted after an import', async () => {
    const place = await emptyPlace();
    await place.importRecords(own);
    await place.importRecords({ team: [] }, true);
    assert.deepEqual(await slugsIn(place), []);
  });

  test('does not come into a database that production used', async () => {
    const place = await emptyPlace();
    await (await place.start('production'))[Symbol.asyncDispose]();
    assert.deepEqual(await slugsIn(place), []);
  });

  test('is seeded beside data of its owner only on demand, and overwrites nothing', async () => {
    const place = await emptyPlace();
    await place.importRecords({
      team: [{ name: 'Alice' }],
      sectors: [{ name: 'Own climate', slug: 'climate' }],
    });
    await place.importRecords({ team: [{ name: 'Alice' }] }, true);
    assert.equal(await place.seed(), undefined);
    assert.deepEqual(await slugsIn(place), ['alice']);
    await place.importRecords({ sectors: [{ name: 'Own climate', slug: 'climate' }] });
    assert.ok(((await place.seed(true)) ?? 0) > 50);
    await using service = await place.start();
    assert.equal((await service.get('/api/sectors/climate')).json.name, 'Own climate');
    assert.equal((await service.get('/api/team?limit=100')).json.length, 13);
  });

  test('leaves a record alone that was changed since', async () => {
    const place = await emptyPlace();
    const [first] = await slugsIn(place);
    await place.importRecords({ team: [{ slug: first, name: 'Changed' }] });
    assert.equal(await place.seed(), 0);
    await using service = await place.start();
    assert.equal((await service.get(`/api/team/${first}`)).json.name, 'Changed');
  });
});
