import { readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import { localClient } from '@octavo/rpc';
import { testContext } from '@octavo/testing';
import { createCorpus } from '../corpus.ts';
import { posts } from '../service.ts';
import { bulkCreate } from './testing.ts';

// A process for tests to kill: it loads posts in bulk for ever and prints the last id of each batch once it is acknowledged.

const [dataFolder = '', databaseUrl = '', batch = '100'] = process.argv.slice(2);
const rows = Number(batch);
const corpus = createCorpus({ seed: 1, size: 1_000_000, users: 5 });
const running = await posts.start(
  readConfig(posts.settings, { DATABASE_URL: databaseUrl }),
  testContext('posts', { clock: systemClock, dataFolder, port: undefined }),
  {},
);
const client = localClient(PostServiceDefinition, running.handlers, { log: silentLog });
for (let start = 0; ; start += rows) {
  const ids = await bulkCreate(
    client,
    Array.from({ length: rows }, (_, index) => corpus.at(start + index)),
  );
  process.stdout.write(`${ids.at(-1)}\n`);
}
