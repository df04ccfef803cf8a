import { tableWriters, testTables } from '@octavo/documents/testing';
import { type Judged, textOf } from './public.ts';

/** Tables of our own in each format: right if each row is read as it should be, and nothing else looks like one. */
export async function madeTables(): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const [kind, write] of Object.entries(tableWriters))
    for (const table of testTables) {
      const read = await textOf(`table.${kind}`, write(table));
      const said = 'refused' in read ? read.refused : read.text;
      const isRight = table.read.every((row) => said.split('\n').includes(row));
      judged.push({ group: 'tables', kind, file: table.name, isRight, said });
    }
  return judged;
}
