import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/import';

const budgetOf = async (given: object = {}): Promise<string> =>
  (await alice.create('/api/budgets', { name: 'Bank', limit: 1_000, ...given })).id;

const upload = (
  content: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string>,
  person = alice,
  headers = {},
) => {
  const form = new FormData();
  form.append('file', new Blob([content]), 'file');
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return person.send(path, { method: 'POST', body: form, headers });
};
const importInto = async (content: string | Uint8Array<ArrayBuffer>, fields: Record<string, string>) => {
  const answer = await upload(content, fields);
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.headers.get('location'), `/api/tasks/${answer.json.id}`);
  const task = await finished(alice, answer.json);
  assert.equal(task.status, 'completed', JSON.stringify(task.error));
  return task.result;
};
const shownIn = async (budgetId: string): Promise<string[]> => {
  const { json } = await alice.get(`/api/expenses/${budgetId}?sort=spentOn&limit=500`);
  return json.map(
    ({ spentOn, description, amount }: Record<string, unknown>) => `${spentOn} ${description} ${amount}`,
  );
};

const csv = [
  'spentOn,description,amount,currency,category,tags,notes,externalId',
  '2026-01-02,Tea,4.20,USD,Food,work;hot,,',
  '2026-01-02,Tea,4.20,,,,,',
  '2026-01-03,"Cake, and ""wine""",5,,Food,,"two',
  'lines",',
  "2026-01-04,'=1+1,1.00,,,,,b-1",
].join('\r\n');

test('a CSV file becomes expenses, and importing it again adds nothing', async () => {
  const budgetId = await budgetOf();
  const first = await importInto(csv, { format: 'csv', budgetId });
  const { readAs, ...counts } = first;
  assert.deepEqual(counts, {
    total: 4,
    created: 4,
    refunds: 0,
    incomes: 0,
    duplicates: 0,
    matched: 0,
    duplicateLines: [],
    skipped: [],
    failed: 0,
    errors: [],
  });
  const { columns, ...how } = readAs;
  assert.deepEqual(how, {
    format: 'csv',
    encoding: 'utf-8',
    separator: ',',
    header: 1,
    skippedLines: [],
    dateFormat: 'ymd',
    decimal: '.',
    sign: 'positive',
    warnings: [],
  });
  assert.equal(columns.spentOn, 'spentOn');
  assert.deepEqual(await shownIn(budgetId), [
    '2026-01-02 Tea 4.2',
    '2026-01-02 Tea 4.2',
    '2026-01-03 Cake, and "wine" 5',
    '2026-01-04 =1+1 1',
  ]);
  const again = await importInto(csv, { format: 'csv', budgetId });
  assert.deepEqual([again.created, again.duplicates], [0, 4]);
  assert.deepEqual(again.duplicateLines, [2, 3, 4, 6]);
  const { json } = await alice.get(`/api/expenses/${budgetId}?tag=hot`);
  assert.deepEqual(json[0].tags, ['work', 'hot']);
  assert.equal((await alice.get(`/api/budgets/${budgetId}`)).json.spent, 14.4);
  const found = await alice.post('/api/search/expenses', { query: 'cake wine', budgetId });
  assert.equal(found.json.total, 1);
  // One more of the same is one more.
  const more = await importInto(`${csv}\r\n2026-01-02,Tea,4.20,,,,,\r\n`, { format: 'csv', budgetId });
  assert.deepEqual([more.created, more.duplicates], [1, 4]);
});

test('a form that was cut off is 400, and no task is left of it', async () => {
  const before = (await alice.get('/api/tasks')).json.length;
  const body = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nspentOn,amount\n';
  for (const parameter of ['', '; boundary=x']) {
    const headers = { 'content-type': `multipart/form-data${parameter}` };
    const { status, json } = await alice.send('/api/import', { headers, body });
    assert.deepEqual([status, json.error.message], [400, 'The form is malformed.']);
  }
  assert.equal((await alice.get('/api/tasks')).json.length, before);
});

test('malformed lines are reported by number, and nothing else is lost', async () => {
  const budgetId = await budgetOf();
  const lines = [
    'spentOn;description;amount',
    '2026-01-01;One;1,50',
    '2026-01-02;"Two;2',
    '2026-01-03;Three;three',
    '2026-02-30;Four;4',
    '2026-01-05;;5',
    '',
    '2026-01-06;Six',
    '2026-01-07;"Sev"en;7',
    '2026-01-08;Eight;-8',
    '2026-01-09;"Nine";9',
  ];
  const result = await importInto(lines.join('\n'), { format: 'csv', budgetId });
  assert.deepEqual(
    result.errors.map(({ line, field }: { line: number; field: string }) => [line, field]),
    [
      [3, 'line'],
      [4, 'amount'],
      [5, 'spentOn'],
      [9, 'line'],
    ],
  );
  assert.deepEqual(result.skipped, [
    { line: 8, reason: 'no amount' },
    { line: 10, reason: 'money that came in' },
  ]);
  assert.deepEqual([result.total, result.created, result.failed], [9, 3, 4]);
  const shown = ['2026-01-01 One 1.5', '2026-01-05 Imported expense 5', '2026-01-09 Nine 9'];
  assert.deepEqual(await shownIn(budgetId), shown);
});

test('a mapping names other columns, and a dry run shows what would be added', async () => {
  const budgetId = await budgetOf();
  const file =
    'Booked on\tSum\tWhat\n31.01.2026\t-12.50\tRent\n01.02.2026\t100.00\tSalary\n02.02.2026\t-3\tTea\n';
  const mapping = JSON.stringify({ spentOn: 'Booked on', amount: 'Sum', description: 'What' });
  const fields = { format: 'csv', budgetId, mapping, sign: 'negative', dateFormat: 'dmy' };
  const dry = await importInto(file, { ...fields, dryRun: 'true' });
  assert.deepEqual([dry.total, dry.created, dry.skipped.length], [3, 2, 1]);
  assert.deepEqual(dry.preview[0], {
    line: 2,
    spentOn: '2026-01-31',
    description: 'Rent',
    amount: 12.5,
    currency: 'USD',
    kind: 'expense',
    budgetId,
    category: null,
    tags: [],
    notes: null,
    externalId: null,
    originalAmount: null,
    originalCurrency: null,
    account: null,
    isDuplicate: false,
    matches: null,
  });
  assert.deepEqual(await shownIn(budgetId), []);
  const result = await importInto(file, fields);
  assert.deepEqual([result.created, result.skipped.length, result.preview], [2, 1, undefined]);
  assert.equal((await importInto(file, { ...fields, dryRun: 'true' })).preview[0].isDuplicate, true);
});

const ofxRows = (
  rows: string,
) => `OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\nSECURITY:NONE\r\nENCODING:USASCII\r\nCHARSET:1252\r\nCOMPRESSION:NONE\r\nOLDFILEUID:NONE\r\nNEWFILEUID:NONE\r\n
<OFX><SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS><DTSERVER>20260131<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS><STMTRS><CURDEF>USD<BANKTRANLIST>
${rows}
</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;

test('an OFX file of version 1 or 2 becomes expenses, by FITID', async () => {
  const budgetId = await budgetOf();
  const rows = `<STMTTRN>
<TRNTYPE>DEBIT
<DTPOSTED>20260102120000.000[-5:EST]
<TRNAMT>-12.50
<FITID>f-1
<NAME>Caf&#233; &amp; Co
<MEMO>Card 1234
</STMTTRN>
<STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260103<TRNAMT>1000.00<FITID>f-2<NAME>Salary</STMTTRN>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261399<TRNAMT>-1.00<FITID>f-3<NAME>Bad date</STMTTRN>
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260104<TRNAMT>-2.00<FITID>f-4<NAME>Not closed
<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260105<TRNAMT>-3.00<FITID>f-5<NAME>Tea</STMTTRN>`;
  const result = await importInto(ofxRows(rows), { format: 'ofx', budgetId });
  assert.deepEqual([result.total, result.created, result.skipped.length, result.failed], [5, 2, 1, 2]);
  assert.deepEqual(
    result.errors.map(({ line, field }: { line: number; field: string }) => [line, field]),
    [
      [22, 'spentOn'],
      [23, 'STMTTRN'],
    ],
  );
  assert.deepEqual(await shownIn(budgetId), ['2026-01-02 Café & Co 12.5', '2026-01-05 Tea 3']);
  const xml = `<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?>\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD</CURDEF><BANKTRANLIST>
  <STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260102</DTPOSTED><TRNAMT>-12.50</TRNAMT><FITID>f-1</FITID><NAME>Other name</NAME></STMTTRN>
  <STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260106</DTPOSTED><TRNAMT>-4</TRNAMT><FITID>f-6</FITID><NAME>Kuchen für Søren</NAME></STMTTRN>
  </BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;
  const again = await importInto(xml, { format: 'ofx', budgetId });
  assert.deepEqual([again.created, again.duplicates], [1, 1]);
  assert.equal((await shownIn(budgetId)).at(-1), '2026-01-06 Kuchen für Søren 4');
});

test('a line break within a value of an OFX file is a space', async () => {
  const budgetId = await budgetOf();
  const rows = `<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260102<TRNAMT>-12.50<FITID>b-1<MEMO>Card 1234<BR/>Rome<br>Italy</STMTTRN>
<STMTTRN><BR/><TRNTYPE>DEBIT<DTPOSTED>20260103<TRNAMT>-3<FITID>b-2<MEMO>Tea<BR /><MEMO>Cake</STMTTRN>`;
  const result = await importInto(ofxRows(rows), { format: 'ofx', budgetId });
  assert.deepEqual([result.total, result.created, result.failed], [2, 2, 0]);
  const xml = `<?xml version="1.0"?><?OFX OFXHEADER="200" VERSION="211"?>\n<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>USD</CURDEF><BANKTRANLIST>
  <STMTTRN><TRNTYPE>DEBIT</TRNTYPE><DTPOSTED>20260106</DTPOSTED><TRNAMT>-4</TRNAMT><FITID>b-3</FITID><MEMO>Invoice 7<BR></BR>April &amp; May</MEMO></STMTTRN>
  </BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>`;
  assert.equal((await importInto(xml, { format: 'ofx', budgetId })).created, 1);
  assert.deepEqual(await shownIn(budgetId), [
    '2026-01-02 Card 1234 Rome Italy 12.5',
    '2026-01-03 Tea 3',
    '2026-01-06 Invoice 7 April & May 4',
  ]);
});

test('a QIF file becomes expenses; its dates are guessed where only one format fits', async () => {
  const budgetId = await budgetOf();
  const qif = (dates: string[]) =>
    `!Type:Bank\n${dates.map((date, index) => `D${date}\nT-1,00${index}.50\nPShop ${index}\nLFood\n^\n`).join('')}`;
  const guessed = await importInto(qif(["1/31'26", '2/1/2026']), { format: 'qif', budgetId });
  assert.deepEqual([guessed.created, guessed.failed], [2, 0]);
  assert.deepEqual(await shownIn(budgetId), ['2026-01-31 Shop 0 1000.5', '2026-02-01 Shop 1 1001.5']);
  const ambiguous = await upload(qif(['1/2/2026']), { format: 'qif', budgetId });
  assertError(ambiguous, { status: 422, code: 'UNPROCESSABLE_CONTENT', field: 'dateFormat' });
  const named = await importInto(qif(['1/2/2026']), { format: 'qif', budgetId, dateFormat: 'dmy' });
  assert.deepEqual([named.created, named.duplicates], [1, 0]);
  assert.equal((await shownIn(budgetId))[1], '2026-02-01 Shop 1 1001.5');
  const bad = await importInto(
    '!Type:Bank\nD2026-03-01\nT-5\nPGood\n^\nDnever\nT-6\nPBad\n^\nD2026-03-02\nT7\nPIncome\n^\n',
    { format: 'qif', budgetId },
  );
  assert.deepEqual([bad.created, bad.skipped.length, bad.failed, bad.errors[0].line], [1, 1, 1, 6]);
});

test('amounts are read as banks write them', async () => {
  const written = [
    '"-1,250.00"',
    '-$4.50',
    '(3.00)',
    '"-12,50"',
    '\u22127.25',
    '-1250',
    '"-1,250"',
    '2.00-',
    '5.00',
  ];
  const lines = written.map(
    (amount, index) => `2025-03-0${index + 1},${index === 8 ? 'Salary' : 'Row'},${amount}`,
  );
  const file = `spentOn,description,amount\n${lines.join('\n')}\n`;
  const amounts = async (budgetId: string) =>
    (await alice.get(`/api/expenses/${budgetId}?sort=spentOn`)).json.map(
      ({ amount }: { amount: number }) => amount,
    );
  const expected = [1250, 4.5, 3, 12.5, 7.25, 1250, 1250, 2];
  const both = { format: 'csv', sign: 'negative', budgetId: await budgetOf() };
  const unclear = await upload(file, both);
  assertError(unclear, { status: 422, code: 'UNPROCESSABLE_CONTENT', field: 'decimal' });
  const fields = { format: 'csv', sign: 'negative', decimal: '.' };
  const budgetId = await budgetOf();
  const result = await importInto(file, { ...fields, budgetId });
  assert.deepEqual([result.created, result.skipped.length, result.errors], [8, 1, []]);
  assert.deepEqual(await amounts(budgetId), expected);
  // Old programs end lines with CR alone.
  const other = await budgetOf();
  const lineEndsOfOld = file.replaceAll('\n', '\r').replaceAll('2025-03', '2025-04');
  assert.equal((await importInto(lineEndsOfOld, { ...fields, budgetId: other })).created, 8);
  assert.deepEqual(await amounts(other), expected);
  const german = await budgetOf();
  const semicolons =
    'spentOn;description;amount\n2026-01-01;Miete;-1.250,00\n2026-01-02;Tee;-1.250\n2026-01-03;Brot;-4,5 EUR\n';
  const refused = await importInto(semicolons, { format: 'csv', sign: 'negative', budgetId: german });
  assert.deepEqual(await amounts(german), [1250, 1250]);
  assert.deepEqual(
    refused.errors.map(({ line, field }: { line: number; field: string }) => [line, field]),
    [[4, 'amount']],
  );
  const qif = await budgetOf();
  const lineEnds = '!Type:Bank\rD2026-01-01\rT-12,50\rPTea\r^\rD2026-01-02\rT-1,250.00\rPRent\r^\r';
  await importInto(lineEnds, { format: 'qif', budgetId: qif });
  assert.deepEqual(await amounts(qif), [12.5, 1250]);
});

test('an empty file, or one of another kind, is refused at once', async () => {
  const budgetId = await budgetOf();
  const before = (await alice.get('/api/tasks')).headers.get('x-total-count');
  for (const [content, format] of [
    ['', 'csv'],
    [' \n', 'csv'],
    ['%PDF-1.7 ...', 'csv'],
    ['<html></html>', 'csv'],
    [csv, 'ofx'],
    [csv, 'qif'],
    ['!Type:Bank\nD1/2/26\n', 'csv'],
    [new Uint8Array([0, 1, 2, 3, 0]), 'csv'],
    ['name,value\n1,2\n', 'csv'],
  ] as const) {
    const answer = await upload(content as string, { format, budgetId });
    assertError(answer, { status: 422, code: 'UNPROCESSABLE_CONTENT' });
  }
  assert.equal((await alice.get('/api/tasks')).headers.get('x-total-count'), before);
});

test('an invalid request is refused, with the field', async () => {
  const budgetId = await budgetOf();
  const good = { format: 'csv', budgetId };
  for (const [fields, field] of [
    [{ ...good, encodings: 'utf-8' }, 'encodings'],
    [{ ...good, skipLines: '-1' }, 'skipLines'],
    [{ ...good, decimal: ';' }, 'decimal'],
    [{ format: 'csv', currency: 'XYZ' }, 'currency'],
    [{ ...good, format: 'xls' }, 'format'],
    [{ ...good, mapping: '{' }, 'mapping'],
    [{ ...good, mapping: '[]' }, 'mapping'],
    [{ ...good, sign: 'both' }, 'sign'],
    [{ ...good, dateFormat: 'iso' }, 'dateFormat'],
    [{ ...good, dryRun: 'maybe' }, 'dryRun'],
  ] as [Record<string, string>, string][])
    assertError(await upload(csv, fields), { status: 400, code: 'VALIDATION_FAILED', field });
  const form = new FormData();
  form.append('format', 'csv');
  const noFile = await alice.send(path, { method: 'POST', body: form });
  assertError(noFile, { status: 400, code: 'VALIDATION_FAILED', field: 'file' });
  assertError(await alice.post(path, { format: 'csv' }), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  assertError(await upload(csv, { ...good }, bob), { status: 404, code: 'NOT_FOUND' });
  assertError(await app.send(path, { method: 'POST' }), { status: 401, code: 'UNAUTHORIZED' });
});

test('an idempotency key makes one import of the same form', async () => {
  const budgetId = await budgetOf();
  const headers = { 'idempotency-key': 'import-1' };
  const [one, two] = [
    await upload(csv, { format: 'csv', budgetId }, alice, headers),
    await upload(csv, { format: 'csv', budgetId }, alice, headers),
  ];
  assert.equal(one.json.id, two.json.id);
  const other = await upload(`${csv}\n`, { format: 'csv', budgetId }, alice, headers);
  assertError(other, { status: 409, code: 'CONFLICT' });
  await finished(alice, one.json);
});

test('an import as a task, with the file in the request', async () => {
  const budgetId = await budgetOf();
  const content = csv.replaceAll('2026', '2025');
  const task = await alice.create('/api/tasks', { type: 'import', format: 'csv', budgetId, content });
  assert.equal((await finished(alice, task)).result.created, 4);
});

test('a large file is imported in batches, with one notification, and one of the highest threshold', async () => {
  const budgetId = await budgetOf({ limit: 10 });
  const rows = Array.from({ length: 5_000 }, (_, index) => {
    return `2026-01-${String((index % 28) + 1).padStart(2, '0')},Row ${index},0.01,,,,,row-${index}`;
  });
  const file = `${csv.split('\r\n')[0]}\n${rows.join('\n')}\n`;
  const result = await importInto(file, { format: 'csv', budgetId });
  assert.equal(result.created, 5_000);
  const budget = (await alice.get(`/api/budgets/${budgetId}`)).json;
  assert.equal(budget.spentMinor, 5_000);
  const { json } = await alice.get('/api/notifications?limit=4');
  const types = json.map(({ type }: { type: string }) => type);
  assert.deepEqual(types.slice(0, 3).sort(), ['budget.created', 'budget.threshold', 'task.finished']);
  assert.deepEqual(
    json.find(({ type }: { type: string }) => type === 'budget.threshold').data.threshold,
    100,
  );
  assert.equal((await importInto(file, { format: 'csv', budgetId })).duplicates, 5_000);
});

test('what others write during a large import is kept, and so is the import', async () => {
  const budgetId = await budgetOf({ limit: 10 });
  const rows = Array.from({ length: 3_000 }, (_, index) => `2026-01-02,Row ${index},0.01,,,,,own-${index}`);
  const file = `${csv.split('\r\n')[0]}\n${rows.join('\n')}\n`;
  let isOver = false;
  const importing = importInto(file, { format: 'csv', budgetId }).finally(() => {
    isOver = true;
  });
  let written = 0;
  for (; !isOver; written++) {
    await alice.create('/api/expenses', { budgetId, description: 'Tea', amount: 1, spentOn: '2026-01-03' });
  }
  assert.equal((await importing).created, 3_000);
  const budget = (await alice.get(`/api/budgets/${budgetId}`)).json;
  assert.equal(budget.spentMinor, 3_000 + written * 100);
  const listed = await alice.get(`/api/expenses?budgetId=${budgetId}&limit=1`);
  assert.equal(listed.headers.get('x-total-count'), String(3_000 + written));
});

test('the account of a row is shown by its end, and what OFX says was paid abroad is kept', async () => {
  const budgetId = await budgetOf({ currency: 'EUR' });
  const paid = '<ORIGCURRENCY><CURRATE>0.9<CURSYM>USD</ORIGCURRENCY>';
  const row = `<STMTTRN><DTPOSTED>20260503<TRNAMT>-9.00<FITID>1<NAME>Hotel${paid}</STMTTRN>`;
  const file = `<OFX><CURDEF>EUR<ACCTID>DE1234567<BANKTRANLIST>${row}</BANKTRANLIST></OFX>`;
  const [shown] = (await importInto(file, { budgetId, dryRun: 'true' })).preview;
  const { account, originalAmount, originalCurrency } = shown;
  assert.deepEqual([account, originalAmount, originalCurrency], ['4567', 10, 'USD']);
  await importInto(file, { budgetId });
  const [expense] = (await alice.get(`/api/expenses/${budgetId}`)).json;
  const { amount, currency, originalAmountMinor, rate, rateDate } = expense;
  assert.deepEqual(
    [amount, currency, originalAmountMinor, expense.originalCurrency, rate, rateDate],
    [9, 'EUR', 1_000, 'USD', '0.9', '2026-05-03'],
  );
});

test('an account that the file does not name can be given, and counts for duplicates', async () => {
  const budgetId = await budgetOf();
  const file = 'spentOn,description,amount\n2026-05-03,Tea,7.20\n';
  const created = async (account: string) => (await importInto(file, { budgetId, account })).created;
  assert.deepEqual([await created('A'), await created('A'), await created('B')], [1, 0, 1]);
});
