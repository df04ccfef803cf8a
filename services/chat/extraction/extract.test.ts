import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract, limits } from '@octavo/documents';
import { pdfOf } from '@octavo/documents/testing';
import { strToU8, zipSync } from 'fflate';
import { chunkBlocks, chunkLengthMax } from './chunking.ts';

const office = 'application/vnd.openxmlformats-officedocument';
const read = async (mediaType: string, content: string | Uint8Array) =>
  extract(mediaType, typeof content === 'string' ? Buffer.from(content) : content);
const shown = async (mediaType: string, content: string | Uint8Array) =>
  (await read(mediaType, content)).blocks.map(({ text, level }) =>
    level ? `${'#'.repeat(level)} ${text}` : text,
  );

test('Markdown loses its signs and keeps its structure', async () => {
  const text =
    '# Guide\n\nUse **bold** and [links](https://x.test).\n\n- one\n- two\n  - deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n';
  assert.deepEqual(await shown('text/markdown', text), [
    '# Guide',
    'Use bold and links.',
    '- one\n- two\n  - deep',
    'a: 1; b: 2',
    'code',
  ]);
});

test('a page keeps what readers see', async () => {
  const page =
    '<html><head><title>T</title><script>x()</script></head><body><nav>Menu</nav><h2>Pay</h2><p>On the <b>25th</b>.</p><ul><li>One</li></ul><table><tr><td>a</td><td>b</td></tr></table></body></html>';
  assert.deepEqual(await shown('text/html', page), ['## Pay', 'On the 25th.', '- One', 'a; b']);
  assert.equal((await read('text/html', page)).title, 'T');
});

test('text that readers do not see is not taken', async () => {
  const unseen = [
    '<p hidden>SECRET</p>',
    '<div hidden><div>SECRET</div>SECRET</div>',
    '<!-- SECRET -->',
    '<div style="display: none !important"><b>SECRET</b><div style="display:block">SECRET</div></div>',
    '<p style="VISIBILITY:hidden">SECRET</p>',
    '<span style="font-size:0">SECRET</span>',
    '<span style="opacity:0.0">SECRET</span>',
    '<div style="height:0;overflow:hidden">SECRET</div>',
    '<p style="position:absolute;left:-9999px">SECRET</p>',
    '<p style="color:#fff">SECRET</p>',
    '<font color="white">SECRET</font>',
    '<table bgcolor="#123456"><tr><td style="color: rgb(18, 52, 86)">SECRET</td></tr></table>',
    '<p class="a trap">SECRET</p>',
    '<p id="gone">SECRET</p>',
    '<p style="color:#fefefe">SECRET</p>',
    '<p style="color:transparent">SECRET</p>',
    '<p style="color:rgba(0, 0, 0, 0.05)">SECRET</p>',
    '<p style="color:hsl(0, 0%, 100%)">SECRET</p>',
    '<font color="#FFFFFF">SECRET</font>',
    '<p style="color:snow">SECRET</p>',
    '<p style="opacity:1%">SECRET</p>',
    '<p style="font:0/0 serif">SECRET</p>',
    '<p style="-webkit-text-fill-color:transparent">SECRET</p>',
    '<p style="margin-left:-9999px">SECRET</p>',
    '<p style="max-height:0px;overflow-y:hidden">SECRET</p>',
    '<div class="outer"><i><b class="inner">SECRET</b></i></div>',
    '<div class="outer"><p>SECRET</p></div>',
    '<dialog>SECRET</dialog>',
    '<datalist><option>SECRET</option></datalist>',
  ];
  const sheet =
    '<style>/* x */ .trap, i { display:none } @media print { .b { color: red } } #gone{display:none} .outer .inner, div.outer > p { display: none }</style>';
  for (const piece of unseen) {
    const page = `<html><head>${sheet}</head><body><p>Before.</p>${piece}<p>After.</p></body></html>`;
    const text = (await shown('text/html', page)).join(' ');
    assert.match(text, /^Before\. +After\.$/, piece);
  }
  const seen = [
    '<div style="visibility:hidden"><p style="visibility:visible">Shown</p></div>',
    '<div style="font-size:0"><p style="font-size:14px">Shown</p></div>',
    '<div style="background:#000"><p style="color:#fff">Shown</p></div>',
    '<div style="background:url(dark.png)"><p style="color:#fff">Shown</p></div>',
    '<p style="font-size:0.9em;opacity:0.5;width:0">Shown</p>',
    '<p class="trap" style="display:block">Shown</p>',
    '<br hidden><p>Shown</p>',
    '<b class="inner">Shown</b>',
    '<div style="background:#222"><p style="color:#fafafa">Shown</p></div>',
    '<p style="color:#bbb;font:12px/1 serif;opacity:.6">Shown</p>',
    '<dialog open>Shown</dialog>',
  ];
  for (const piece of seen) assert.deepEqual(await shown('text/html', `${sheet}${piece}`), ['Shown'], piece);
});

test('what Markdown hides by HTML is not taken', async () => {
  const text =
    'One <span hidden>SECRET</span>two.<!-- SECRET > SECRET -->\n\n<div hidden>\n\nSECRET\n\n- SECRET\n\n</div>\n\n<p>Three</p>\n';
  const blocks = await shown('text/markdown', text);
  assert.deepEqual(
    blocks.map((block) => block.trim()).filter((block) => block !== ''),
    ['One two.', 'Three'],
  );
});

test('Office files with macros are refused, whatever their name is', async () => {
  const kinds = (kind: string) =>
    strToU8(`<Types><Override ContentType="application/vnd.${kind}+xml"/></Types>`);
  for (const members of [
    { '[Content_Types].xml': kinds('ms-word.document.macroEnabled.main') },
    { 'word/vbaProject.bin': strToU8('x') },
  ] as Record<string, Uint8Array>[]) {
    for (const kind of ['wordprocessingml.document', 'spreadsheetml.sheet', 'presentationml.presentation'])
      await assert.rejects(read(`${office}.${kind}`, zipSync(members)), { code: 'unsupported_media_type' });
  }
});

test('rows and objects have the names of their values', async () => {
  assert.deepEqual(await shown('text/csv', 'name;days\n"Ada; L.";27\n'), ['name: Ada; L.; days: 27']);
  assert.deepEqual(await shown('text/tab-separated-values', 'a\tb\n1\t2\n'), ['a: 1; b: 2']);
  assert.deepEqual(await shown('application/json', '[{"a":1,"b":{"c":2}}]'), ['a: 1', 'b: c: 2']);
  assert.deepEqual(await shown('application/jsonl', '{"a":1}\n{"a":2}\n'), ['a: 1', 'a: 2']);
  assert.deepEqual(await shown('application/xml', '<r><a>x &amp; y</a><b/></r>'), ['x & y']);
  await assert.rejects(read('application/json', '{'), { code: 'unprocessable' });
});

test('plain text has paragraphs, and headings where a short line stands alone', async () => {
  const text = 'Opening hours\n\nWe open at nine.\nWe close at five.\n\nShort, but a sentence.\n';
  assert.deepEqual(await shown('text/plain', text), [
    '## Opening hours',
    'We open at nine.\nWe close at five.',
    'Short, but a sentence.',
  ]);
  assert.deepEqual(await shown('text/plain', Buffer.from([0x63, 0x61, 0x66, 0xe9])), ['café']);
});

test('manual pages and lists of terms keep each term with its explanation', async () => {
  const page =
    'BERTH(1)      Harbor Manual      BERTH(1)\n\nNAME\n       berth - book a berth\n\nOPTIONS\n   Time\n       -n, --nights count\n\t      Nights to be booked, 2 by de\u2010\n\t      fault.\n\n\t      At most 14.\n\n       -q     No  messages.\n\nSEE ALSO\n       boat(1)\n\nVik               2024-05-01              BERTH(1)\n';
  assert.deepEqual(await shown('text/plain', page), [
    '# NAME',
    'berth - book a berth',
    '# OPTIONS',
    '## Time',
    '-n, --nights count\n       Nights to be booked, 2 by default.\n\n    At most 14.',
    '-q No messages.',
    '# SEE ALSO',
    'boat(1)',
  ]);
  assert.equal((await extract('text/plain', Buffer.from(page))).title, 'berth - book a berth');
  const terms =
    '<dl><dt>nights</dt><dd><p>Two.</p><p>Or more.</p></dd><dt>quiet</dt><dd>No messages.</dd></dl>';
  assert.deepEqual(await shown('text/html', terms), [
    'nights\n    Two.\n\n    Or more.',
    'quiet\n    No messages.',
  ]);
  const table =
    '<table><tr><th>Season</th><th>Fee</th></tr><tr><td><p>Summer</p></td><td>40</td></tr><tr><td>Winter</td><td></td></tr></table>';
  assert.deepEqual(await shown('text/html', table), ['Season: Summer; Fee: 40', 'Season: Winter']);
});

test('what is printed on each page is no text, and names of columns are above their rows', async () => {
  const orders = Array.from({ length: 9 }, (_, n) => `Order ${n} costs ${n + 5} crowns.`);
  const pages = orders.map((order, n) => `${order}\n\nHarbor 1.2   ${n + 1}\n\n`);
  assert.deepEqual(await shown('text/plain', pages.join('\f')), orders);
  // Without pages, equal lines are the text.
  assert.deepEqual(await shown('text/plain', orders.join('\n\n')), orders);
  assert.deepEqual(await shown('text/plain', '# Berth : Boat\n1:Gullfoss\n2:Edda\n'), [
    '### Berth : Boat',
    '1:Gullfoss\n2:Edda',
  ]);
});

test('spreadsheets, slides and OpenDocument texts are read from their archives', async () => {
  const sheet = zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="Rates"/></sheets></workbook>'),
    'xl/sharedStrings.xml': strToU8('<sst><si><t>City</t></si><si><t>Oslo</t></si><si><t>Fee</t></si></sst>'),
    'xl/worksheets/sheet1.xml': strToU8(
      '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>2</v></c></row><row><c r="A2" t="s"><v>1</v></c><c r="C2"><v>9.5</v></c></row></sheetData></worksheet>',
    ),
  });
  assert.deepEqual(await shown(`${office}.spreadsheetml.sheet`, sheet), ['# Rates', 'City: Oslo; Fee: 9.5']);
  const slides = zipSync({
    'ppt/slides/slide1.xml': strToU8(
      '<p><a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p><a:t>Grow </a:t><a:t>slowly</a:t></a:p></p>',
    ),
  });
  assert.deepEqual(await shown(`${office}.presentationml.presentation`, slides), ['# Plan', 'Grow slowly']);
  const open = zipSync({
    'content.xml': strToU8(
      '<o><text:h text:outline-level="2">Head</text:h><text:p>One<text:s/>two</text:p></o>',
    ),
  });
  assert.deepEqual(await shown('application/vnd.oasis.opendocument.text', open), ['## Head', 'One two']);
});

test('hidden sheets, rows and columns of a spreadsheet are left out', async () => {
  const row = (number: number, cells: readonly string[], attributes = '') =>
    `<row r="${number}"${attributes}>${cells.map((text, column) => `<c r="${'ABC'[column]}${number}" t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
  const sheet = (rows: string, columns = '') =>
    strToU8(`<worksheet>${columns}<sheetData>${rows}</sheetData></worksheet>`);
  const columns = '<cols><col min="1" max="1" width="9"/><col min="2" max="2" hidden="1"/></cols>';
  const rows = [
    row(1, ['City', 'SECRET', 'Fee']),
    row(2, ['Oslo', 'SECRET', '9']),
    row(3, ['SECRET', 'SECRET', 'SECRET'], ' hidden="1"'),
    row(4, ['SECRET', 'SECRET', 'SECRET'], ' ht="0" customHeight="1"'),
    row(5, ['Rome', 'SECRET', '8'], ' hidden="0"'),
  ];
  const archive = zipSync({
    'xl/workbook.xml': strToU8(
      '<workbook><sheets><sheet name="Rates" r:id="b"/><sheet name="SECRET" state="veryHidden" r:id="a"/></sheets></workbook>',
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/><Relationship Id="b" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
    ),
    'xl/worksheets/sheet1.xml': sheet(row(1, ['SECRET'])),
    'xl/worksheets/sheet2.xml': sheet(rows.join(''), columns),
  });
  const expected = ['# Rates', 'City: Oslo; Fee: 9', 'City: Rome; Fee: 8'];
  assert.deepEqual(await shown(`${office}.spreadsheetml.sheet`, archive), expected);
});

test('hidden text of a Word document is left out', async () => {
  const run = (text: string, properties = '') =>
    `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
  const body = [
    `<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>${run('Seen &amp; ')}${run('SECRET', '<w:vanish/>')}${run('said.', '<w:vanish w:val="0"/>')}</w:p>`,
    `<w:p>${run('SECRET &lt;b&gt;', '<w:b/><w:vanish w:val="true"/>')}</w:p>`,
    `<w:p><w:pPr><w:pStyle w:val="Note"/></w:pPr>${run('SECRET')}</w:p>`,
    `<w:p>${run('SECRET', '<w:rStyle w:val="Quiet"/>')}${run('End.')}</w:p>`,
  ];
  const styles =
    '<w:style w:type="paragraph" w:styleId="Note"><w:basedOn w:val="Quiet"/></w:style><w:style w:type="character" w:styleId="Quiet"><w:rPr><w:vanish/></w:rPr></w:style>';
  const word = wordOf(body.join(''), styles);
  assert.deepEqual(await shown(`${office}.wordprocessingml.document`, word), ['Seen & said.', 'End.']);
});

test('text of a Word document that is too small to see, or in the color of its ground, is left out', async () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const paragraph = (content: string, properties = '') => `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
  const cell = (content: string, shading: string) =>
    `<w:tc><w:tcPr>${shading}</w:tcPr>${paragraph(content)}</w:tc>`;
  const white = '<w:color w:val="ffffff"/>';
  const shade = (fill: string) => `<w:shd w:val="clear" w:color="auto" w:fill="${fill}"/>`;
  const unseen = [
    paragraph(run('SECRET', white)),
    paragraph(run('SECRET', `${white}${shade('FFFFFF')}`)),
    paragraph(run('SECRET', '<w:sz w:val="2"/>')),
    paragraph(run('SECRET', '<w:color w:val="1F3864"/>'), shade('1F3864')),
    paragraph(run('SECRET', '<w:color w:val="000000"/><w:highlight w:val="black"/>')),
    paragraph(run('SECRET'), '<w:pStyle w:val="Ghost"/>'),
    paragraph(run('SECRET', '<w:rStyle w:val="GhostText"/>')),
    `<w:tbl><w:tr>${cell(run('SECRET', white), '')}</w:tr></w:tbl>`,
  ];
  const seen = [
    paragraph(run('seen', '<w:color w:val="auto"/><w:sz w:val="3"/>')),
    paragraph(run('seen', `${white}<w:highlight w:val="black"/>`)),
    paragraph(run('seen', white), shade('1F3864')),
    paragraph(run('seen', white), '<w:shd w:val="pct50" w:color="000000" w:fill="FFFFFF"/>'),
    paragraph(run('seen'), `<w:rPr>${white}<w:sz w:val="1"/></w:rPr>`),
    paragraph(run('seen', '<w:color w:val="FF0000"/>'), '<w:pStyle w:val="Ghost"/>'),
    paragraph(run('seen', `<w:rPrChange><w:rPr>${white}</w:rPr></w:rPrChange>`)),
    `<w:tbl><w:tr>${cell(run('seen', white), shade('000000'))}</w:tr></w:tbl>`,
    `<w:tbl><w:tblPr><w:tblStyle w:val="Dark"/></w:tblPr><w:tr>${cell(run('seen', white), '')}</w:tr></w:tbl>`,
    `<w:p><w:r><w:pict><v:textbox><w:txbxContent>${paragraph(run('seen', white))}</w:txbxContent></v:textbox></w:pict></w:r></w:p>`,
  ];
  const styles =
    `<w:style w:type="paragraph" w:styleId="Ghost"><w:basedOn w:val="Base"/></w:style><w:style w:type="paragraph" w:styleId="Base"><w:rPr>${white}</w:rPr></w:style>` +
    '<w:style w:type="character" w:styleId="GhostText"><w:rPr><w:sz w:val="1"/></w:rPr></w:style>';
  for (const [body, expected] of [
    ...unseen.map((each) => [each, ['First.', 'Last.']] as const),
    ...seen.map((each) => [each, ['First.', 'seen', 'Last.']] as const),
  ]) {
    const word = wordOf(`${paragraph(run('First.'))}${body}${paragraph(run('Last.'))}`, styles);
    const blocks = await shown(`${office}.wordprocessingml.document`, word);
    assert.deepEqual(
      blocks.map((block) => block.trim()).filter((block) => block !== ''),
      expected,
      body,
    );
  }
});

function wordOf(body: string, styles = ''): Uint8Array {
  const namespace =
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"';
  return zipSync({
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    ),
    '_rels/.rels': strToU8(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
    'word/styles.xml': strToU8(`<w:styles ${namespace}>${styles}</w:styles>`),
    'word/document.xml': strToU8(`<w:document ${namespace}><w:body>${body}</w:body></w:document>`),
  });
}

test('a Word document is read', async () => {
  const body =
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Rules</w:t></w:r></w:p><w:p><w:r><w:t>Be kind.</w:t></w:r></w:p>';
  const word = wordOf(body);
  const blocks = await shown(`${office}.wordprocessingml.document`, word);
  assert.match(blocks.join('\n'), /Rules[\s\S]*Be kind\./);
});

test('a mail has its head and its text, and names its attachments', async () => {
  const mail =
    'From: Ada <ada@x.test>\r\nTo: bob@x.test\r\nSubject: Lunch\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nAt noon.\r\n--b\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\nx\r\n--b--\r\n';
  const { blocks, warnings } = await read('message/rfc822', mail);
  assert.equal(blocks[0]?.text, 'Lunch');
  assert.match(blocks[1]?.text ?? '', /^From: Ada <ada@x\.test>\nTo: <?bob@x\.test/);
  assert.equal(blocks[2]?.text, 'At noon.');
  assert.deepEqual(warnings, ['Attachments were not read: a.bin']);
});

test('a PDF is read page by page', async () => {
  const { blocks, pages } = await read('application/pdf', pdfOf(['Harbor rules', 'Boats wait outside.']));
  assert.equal(pages, 2);
  assert.deepEqual(
    blocks.map(({ text, page }) => [text, page]),
    [
      ['Harbor rules', 1],
      ['Boats wait outside.', 2],
    ],
  );
  await assert.rejects(read('application/pdf', '%PDF-1.4 nonsense'), { code: 'unprocessable' });
});

test('archives that would become too large are refused before they are inflated', async () => {
  const bomb = zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(5_000_000) });
  await assert.rejects(read(`${office}.spreadsheetml.sheet`, bomb), /too large/);
  const many = zipSync(
    Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`f${n}`, new Uint8Array(1)])),
  );
  await assert.rejects(read(`${office}.wordprocessingml.document`, many), /more than 2000 members/);
  await assert.rejects(read('application/vnd.oasis.opendocument.text', 'PK\x03\x04 broken'), /damaged/);
});

test('chunks follow headings and sentences, do not overlap, and are parts of the text', () => {
  const sentence = 'The keeper of the lighthouse writes down every ship that passes the point at night. ';
  const blocks = [
    { text: 'Log', level: 1 },
    { text: sentence.repeat(40) },
    { text: 'Empty', level: 2 },
    { text: 'x'.repeat(2_500) },
    { text: 'Last', level: 2 },
    { text: 'Short.' },
    { text: 'Also short.' },
  ];
  const { text, chunks, title } = chunkBlocks(blocks);
  assert.equal(title, 'Log');
  let end = 0;
  for (const chunk of chunks) {
    assert.ok(chunk.start >= end && chunk.end - chunk.start <= chunkLengthMax);
    end = chunk.end;
  }
  const parts = chunks.map((chunk) => text.slice(chunk.start, chunk.end));
  assert.ok(parts.filter((part) => part.includes('keeper')).every((part) => /^The.*night\.$/s.test(part)));
  assert.deepEqual([parts.at(-1), chunks.at(-1)?.section], ['Short.\n\nAlso short.', 'Log > Last']);
  assert.deepEqual(chunkBlocks([{ text: 'Only', level: 1 }]).chunks.length, 1);
  assert.ok(limits.chunksMax > 0);
});
