import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { readerVersion } from '@octavo/documents';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat } from '../testing.ts';

const names = ['mole', 'pier', 'quay'];
const long = (name: string) =>
  Array.from({ length: 3_000 }, (_, n) => `Stone ${n} of the ${name} is dry at low tide.`).join('\n\n');

test('documents whose process is killed while it reads them again are found, and read by the next one', async () => {
  await using chat = await startChat();
  for (const name of names) await chat.upload([{ name: `${name}.txt`, content: long(name) }]);
  await using database = await openServiceDatabase<Tables>(
    service,
    configOf(service, chat.environment),
    chat.context,
  );
  const { kysely } = database;
  await database.write(async (session) => {
    await session.kysely.updateTable('document').set({ reader_version: 0, title: 'Before' }).execute();
  });
  const found = async ({ send }: Pick<typeof chat, 'send'>) =>
    Promise.all(
      names.map(async (name) => {
        const { json } = await send('POST', '/api/search', { query: `stone 2999 of the ${name}` });
        return json.results.some(({ source }: { source: string }) => source === `${name}.txt`)
          ? name
          : 'none';
      }),
    );
  chat.clock.set(Date.now());
  const environment = { ...chat.environment, OCTAVO_DATA: chat.context.dataFolder, LOG_LEVEL: 'fatal' };
  const { child } = await startProcess('chat', environment);
  // In the middle: a part of a new text is there, and no new text is whole.
  await until(async () => {
    const unfinished = kysely
      .selectFrom('chunk')
      .innerJoin('document', 'document.id', 'chunk.document')
      .select('chunk.id')
      .where('document.status', '=', 'processing');
    return (await unfinished.limit(1).executeTakeFirst()) !== undefined;
  });
  await stopProcess(child, 'SIGKILL');
  assert.deepEqual(await found(chat), names);
  chat.clock.advance(120_000);
  await using next = await startChat({ beside: chat });
  await until(async () => {
    assert.deepEqual(await found(next), names);
    const rows = await kysely.selectFrom('document').select(['reader_version', 'status', 'title']).execute();
    return (
      rows.length === names.length &&
      rows.every(
        (row) => row.reader_version === readerVersion && row.status === 'indexed' && row.title !== 'Before',
      )
    );
  });
  const { total } = await kysely
    .selectFrom('chunk')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const { json } = await next.send('GET', '/api/documents');
  const chunks = json.documents.map((document: { chunks: number }) => document.chunks);
  assert.equal(
    Number(total),
    chunks.reduce((sum: number, each: number) => sum + each, 0),
  );
});
