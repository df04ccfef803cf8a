import { once } from 'node:events';
import { openFolderStore } from './index.ts';

/** Stores one object in the folder, begins another, says so and waits to be killed: `node testing-writer.ts FOLDER`. */
const store = await openFolderStore(process.argv[2] ?? '');
const contentType = 'text/plain';

async function* finished(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('whole');
}

async function* begun(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(1_000_000, 'x');
  process.send?.('begun');
  await once(process, 'disconnect');
}

await store.put(finished(), { keys: ['a/finished'], contentType });
await store.put(begun(), { keys: ['a/begun'], contentType });
