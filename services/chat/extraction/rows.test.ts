import assert from 'node:assert/strict';
import { test } from 'node:test';
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

test('a long run of spaces holds nobody up', async () => {
  const startedMs = performance.now();
  assert.deepEqual(await textsOf('text/plain', `Vik${' '.repeat(50_000)}pier`), ['Vik pier']);
  assert.ok(performance.now() - startedMs < 1_000);
});
