import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { mediaTypeOf } from './media-types.ts';

async function shown(name: string, content: string | Uint8Array): Promise<string[]> {
  const bytes = Buffer.from(content);
  const { blocks } = await extract(mediaTypeOf(name, bytes), bytes);
  return blocks
    .map(({ text, level }) => (level ? `${'#'.repeat(level)} ${text}` : text))
    .filter((text) => text !== '');
}

test('rich text has paragraphs, rows, notes and letters of any code page', async () => {
  const rtf = String.raw`{\rtf1\ansi\ansicpg1250\deff0{\fonttbl{\f0\fcharset238 Arial;}{\f1\fcharset204 Arial Cyr;}}{\info{\title Secret}}
\pard The hoist lifts 730 kg{\footnote Measured in 2024.} at most. Next.\par
za\'bf\'f3\'b3\'e6 {\f1 \'ca\'eb\'fe\'f7} \u8364?5 30{\super 2} {\strike old}{\v SECRET}\par
\trowd\cellx100\cellx200\intbl Crane\cell Load\cell\row
\trowd\clvmgf\cellx100\cellx200 Boreas\cell 30 t\cell\row
\trowd\clvmrg\cellx100\cellx200 \cell 12 t\cell\row
\pard After.{\*\unknown SECRET}\par}`;
  assert.deepEqual(await shown('a.rtf', rtf), [
    'The hoist lifts 730 kg at most. [Measured in 2024.] Next.',
    'zażółć Ключ €5 30[2]',
    'Crane: Boreas; Load: 30 t',
    'Crane: Boreas; Load: 12 t',
    'After.',
  ]);
});

test('a book has its pages in order', async () => {
  const epub = zipSync({
    mimetype: strToU8('application/epub+zip'),
    'META-INF/container.xml': strToU8(
      '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    ),
    'OPS/book.opf': strToU8(
      '<opf:package><opf:metadata><dc:title>Harbor book</dc:title></opf:metadata><opf:manifest><opf:item id="a" href="one%20page.xhtml"/><opf:item id="b" href="two.xhtml"/></opf:manifest><opf:spine><opf:itemref idref="b"/><opf:itemref idref="a"/></opf:spine></opf:package>',
    ),
    'OPS/one page.xhtml': strToU8('<html><body><p>Second.</p></body></html>'),
    'OPS/two.xhtml': strToU8('<html><body><h1>First</h1></body></html>'),
  });
  assert.deepEqual(await shown('a.epub', epub), ['# First', 'Second.']);
  assert.equal((await extract('application/epub+zip', epub)).title, 'Harbor book');
});

test('a notebook has its text, its code and what that printed', async () => {
  const cells = [
    { cell_type: 'markdown', source: ['# Loads\n', 'Of **cranes**.'] },
    {
      cell_type: 'code',
      source: 'print(30)',
      outputs: [
        { text: ['30\n'] },
        {
          data: {
            'text/html':
              '<table><tr><th>Crane</th><th>Load</th></tr><tr><td>Boreas</td><td>30</td></tr></table>',
          },
        },
      ],
    },
  ];
  assert.deepEqual(await shown('a.ipynb', JSON.stringify({ cells })), [
    '# Loads',
    'Of cranes.',
    'print(30)',
    '30\n',
    'Crane: Boreas; Load: 30',
  ]);
  await assert.rejects(shown('a.ipynb', '{"cells":3}'), { code: 'unprocessable' });
});

test('subtitles are spoken text, without times', async () => {
  const srt =
    '1\n00:00:01,000 --> 00:00:02,500\n<i>The harbor</i>\n\n2\n00:00:02,500 --> 00:00:04,000\nThe harbor\nopens at {\\an8}six.\n';
  assert.deepEqual(await shown('a.srt', srt.replaceAll('<i>The harbor</i>', '<i>The harbor</i>')), [
    'The harbor opens at six.',
  ]);
  const vtt = 'WEBVTT\n\nNOTE nothing\n\ncue\n00:01.000 --> 00:02.000 align:start\n<v Ada>Welcome.</v>\n';
  assert.deepEqual(await shown('a.vtt', vtt), ['Ada: Welcome.']);
});

test('entries of a calendar have their values by name', async () => {
  const ics =
    'BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nSUMMARY:Dredging\\, quay 7\r\nDTSTART;TZID=Europe/Oslo:20260902T140000\r\nDTEND;VALUE=DATE:20260903\r\nATTENDEE;CN="Holm, Ada":mailto:a@x.test\r\nDESCRIPTION:Bring a hel\r\n met.\r\nBEGIN:VALARM\r\nDESCRIPTION:SECRET\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n';
  assert.deepEqual(await shown('a.ics', ics), [
    'Title: Dredging, quay 7\nStart: 2026-09-02 14:00 Europe/Oslo\nEnd: 2026-09-03\nAttendees: Holm, Ada\nDescription: Bring a helmet.',
  ]);
});

test('MDX, Org and AsciiDoc are read without their signs', async () => {
  assert.deepEqual(
    await shown(
      'a.mdx',
      "import X from 'x';\nexport const a = 1;\n\n# Fees\n\n{/* no */}\n\n<Note>\n\nPay **now**.\n\n</Note>\n",
    ),
    ['# Fees', 'Pay now.'],
  );
  const org =
    '#+TITLE: Fees\n#+AUTHOR: Nils Brandt\n* Berths\n:PROPERTIES:\n:ID: 1\n:END:\nSee [[https://x.test][the list]] of =all=.\n| Berth | Fee |\n|-------+-----|\n| A | 40 |\n** Code\n#+BEGIN_SRC sh\necho 1\n#+END_SRC\n';
  assert.deepEqual(await shown('a.org', org), [
    '# Berths',
    'See the list of all.',
    'Berth: A; Fee: 40',
    '## Code',
    'echo 1',
    'title: Fees\nauthor: Nils Brandt',
  ]);
  const adoc =
    '= Fees\n:author: Nils Brandt\n\n== Berths\n\nSee https://x.test[the list].footnote:[Of 2026.]\n\n* one\n** deep\n\n[cols="1,1"]\n|===\n|Berth |Fee\n\n|A\n|40\n|B |12\n|===\n\n----\ncode\n----\n// no\n';
  assert.deepEqual(await shown('a.adoc', adoc), [
    '# Fees',
    '## Berths',
    'See the list. [Of 2026.]',
    '- one\n  - deep',
    'Berth: A; Fee: 40',
    'Berth: B; Fee: 12',
    'code',
    'author: Nils Brandt',
  ]);
  assert.deepEqual(
    await shown('a.xhtml', '<?xml version="1.0"?><html xmlns="x"><body><p>Hi<br/>you</p></body></html>'),
    ['Hi\nyou'],
  );
});
