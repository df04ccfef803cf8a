import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@octavo/testing';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';

async function textsOf(mediaType: string, content: string): Promise<string[]> {
  const { blocks } = await extract(mediaType, Buffer.from(content));
  return blocks.map(({ text, level }) => (level === undefined ? text : `${'#'.repeat(level)} ${text}`));
}

test('tables that are drawn with lines are read by rows, whose values may go on below', async () => {
  const drawn = `Ships of Vik

┌─────────┬───────┬──────┐
│Ship     │ Moves │ Fuel │
├─────────┼───────┼──────┤
│Ferry    │     4 │  120 │
├─────────┼───────┼──────┤
│Patrol   │     7 │   80 │
│Boat     │       │      │
└─────────┴───────┴──────┘`;
  assert.deepEqual(await textsOf('text/plain', drawn), [
    '## Ships of Vik',
    'Ship: Ferry; Moves: 4; Fuel: 120',
    'Ship: Patrol Boat; Moves: 7; Fuel: 80',
  ]);
  const plain =
    '+------+-----+\n| Pier | Fee |\n+------+-----+\n| A    | 40  |\n| B    | 12  |\n+------+-----+';
  assert.deepEqual(await textsOf('text/plain', plain), ['Pier: A; Fee: 40', 'Pier: B; Fee: 12']);
  assert.deepEqual(await textsOf('text/plain', '+---+\nThis is a note, | and no table.'), [
    '+---+\nThis is a note, | and no table.',
  ]);
});

test('the objects of a list in JSON stand each by itself below its name', async () => {
  const json = '{"berths":[{"code":"HRV","name":"Vik"},{"code":"BGO","name":"Bergen"}],"open":true}';
  assert.deepEqual(await textsOf('application/json', json), [
    'open: true',
    '### berths',
    'code: HRV; name: Vik',
    'code: BGO; name: Bergen',
  ]);
});

test('a group of options has its name as heading, and its options stay apart', async () => {
  const page = `BERTH(1)      Harbor Manual      BERTH(1)

NAME
       berth - book a berth

MODES

For booking:
       -n, --nights=
              Nights to be booked.

       --round=
              Rounds the nights.

   TIME CHANGES
       A booking can be moved once.
`;
  assert.deepEqual(await textsOf('text/plain', page), [
    '# NAME',
    'berth - book a berth',
    '## MODES',
    '## For booking:',
    '-n, --nights=\n       Nights to be booked.',
    '--round=\n       Rounds the nights.',
    '## TIME CHANGES',
    'A booking can be moved once.',
  ]);
});

test('a long run of spaces delays no other work', async () => {
  const ms = await processorMs(async () =>
    assert.deepEqual(await textsOf('text/plain', `Vik${' '.repeat(50_000)}pier`), ['Vik pier']),
  );
  assert.ok(ms < 1_000, `${ms} ms`);
});

test('the footnotes of Word have no arrow back to their place', async () => {
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const part = (name: string, content: string) =>
    strToU8(`<w:${name} xmlns:w="${word}">${content}</w:${name}>`);
  const related = (type: string, target: string) =>
    strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${relations}/${type}" Target="${target}"/></Relationships>`,
    );
  const run = (text: string) => `<w:r><w:t>${text}</w:t></w:r>`;
  const file = zipSync({
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
    ),
    '_rels/.rels': related('officeDocument', 'word/document.xml'),
    'word/_rels/document.xml.rels': related('footnotes', 'footnotes.xml'),
    'word/document.xml': part(
      'document',
      `<w:body><w:p>${run('The hoist lifts 730 kg.')}<w:r><w:footnoteReference w:id="1"/></w:r></w:p></w:body>`,
    ),
    'word/footnotes.xml': part(
      'footnotes',
      `<w:footnote w:id="1"><w:p>${run('Measured in 2024.')}</w:p></w:footnote>`,
    ),
  });
  const { blocks } = await extract(
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    file,
  );
  const texts = blocks.map(({ text }) => text.trim());
  assert.deepEqual(texts, ['The hoist lifts 730 kg. [Measured in 2024.]']);
});

test('a first row with a number twice names no columns, and a shared name is told once', async () => {
  assert.deepEqual(await textsOf('text/csv', 'a,0,0,x\nb,1,2,y\n'), ['a; 0; 0; x', 'b; 1; 2; y']);
  assert.deepEqual(await textsOf('text/csv', 'Item,1,2\nFee,7,8\n'), ['Item: Fee; 1: 7; 2: 8']);
  const shared =
    '<table><tr><th rowspan="2">Sort</th><th>Balance</th><th>End</th></tr><tr><th colspan="2">End</th></tr><tr><td>Food</td><td colspan="2">80</td></tr></table>';
  assert.deepEqual(await textsOf('text/html', shared), ['Sort: Food; Balance / End: 80']);
});
