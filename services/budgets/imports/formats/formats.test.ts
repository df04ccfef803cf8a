import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSource } from './parser.ts';
import { readAsOf, type SurveyOptions } from './reading.ts';
import { parseRow } from './row.ts';
import { FileSurvey } from './survey.ts';

const read = (file: string | Uint8Array, options: Partial<SurveyOptions> = {}) => {
  const survey = new FileSurvey({ currency: 'EUR', guesses: false, ...options });
  survey.push(typeof file === 'string' ? Buffer.from(file) : file);
  const found = survey.end();
  if ('problem' in found) return { problem: found.problem, field: found.field };
  const { reading } = found;
  const text = new TextDecoder(reading.encoding).decode(typeof file === 'string' ? Buffer.from(file) : file);
  const source = createSource(reading);
  const rows = [...source.push(text), ...source.end()].map((row) => parseRow(row, reading));
  return {
    reading,
    rows: rows.flatMap((row) =>
      'expense' in row && row.expense.minor > 0
        ? `${row.expense.spentOn} ${row.expense.minor} ${row.expense.description}`
        : [],
    ),
    others: rows.flatMap((row) =>
      'expense' in row && row.expense.minor < 0
        ? row.expense.isRefund
          ? 'a refund'
          : 'money that came in'
        : 'skipped' in row
          ? row.skipped
          : 'error' in row
            ? `error: ${row.error.field}`
            : [],
    ),
  };
};

test('lines around the table, blank cells and totals are no transactions', () => {
  const file = [
    'Kontoauszug;Mai',
    '',
    'Tag;Text;Soll;Haben;',
    '03.05.2026;Tee;3,50;;',
    '04.05.2026;Lohn;;2.000,00',
    'Tag;Text;Soll;Haben;',
    '05.05.2026;;1.000;0,00;;;',
    ';Summe;1.003,50;2.000,00',
    ';;;',
    'Ende der Liste',
  ].join('\n');
  const mapping = { spentOn: 'tag', description: 'Text', debit: 'Soll', credit: 'Haben' };
  const { reading, rows, others } = read(file, { mapping, dateFormat: 'dmy' });
  assert.deepEqual(rows, ['2026-05-03 350 Tee', '2026-05-05 100000 Imported expense']);
  assert.deepEqual(others, ['money that came in', 'no day']);
  assert.deepEqual([reading?.header, reading?.skippedLines, reading?.decimal], [3, [1], ',']);
});

test('a column or a word behind the amount says what was paid', () => {
  const column = 'Date,Name,Dr/Cr,Amount\n2026-05-03,Tea,Dr,3.50\n2026-05-04,Wages,Cr,2000\n';
  assert.deepEqual(read(column).rows, ['2026-05-03 350 Tea']);
  const behind = 'Date,Name,Amount\n2026-05-03,Tea,3.50 DR\n2026-05-04,Wages,2000 CR\n';
  assert.deepEqual(read(behind).rows, ['2026-05-03 350 Tea']);
  // Where amounts are signed, a type of the row says nothing of its direction.
  const signed = 'Date,Name,Type,Amount\n2026-05-03,Tea,debit,-3.50\n2026-05-04,Tea back,debit,3.50\n';
  assert.deepEqual(read(signed, { sign: 'negative' }).rows, ['2026-05-03 350 Tea']);
});

test('a file without a header is read by numbers, or by the cells of its first row', () => {
  const file = '03/05/2026;Tea;-3,50;100,00\n14/05/2026;Cake;-4,00;96,00\n';
  const byNumber = read(file, { mapping: { spentOn: '1', description: '2', amount: '3' }, sign: 'negative' });
  assert.deepEqual(byNumber.rows, ['2026-05-03 350 Tea', '2026-05-14 400 Cake']);
  assert.equal(byNumber.reading?.header, null);
  const mapping = { spentOn: '03/05/2026', description: 'Tea', amount: '-3,50' };
  assert.deepEqual(read(file, { mapping, sign: 'negative' }).rows, byNumber.rows);
  const checks = '01/05/2026,0,Deposit,0,5.00\n02/05/2026,101,Check,1.00,0\n02/06/2026,102,Check,2.00,0\n';
  const byCell = { spentOn: '01/05/2026', description: 'Deposit', amount: '0' };
  assert.match(
    read(checks, { mapping: byCell, dateFormat: 'mdy' }).problem ?? '',
    /which is there twice: name it by its number/,
  );
});

test('what could mean two things is asked for, and only then', () => {
  const file = (days: string[], amounts: string[]) =>
    `Date;Name;Amount\n${days.map((day, index) => `${day};Tea;${amounts[index]}`).join('\n')}\n`;
  assert.equal(read(file(['03/05/2026', '04/05/2026'], ['1', '2'])).field, 'dateFormat');
  assert.equal(read(file(['05/05/2026'], ['1'])).rows?.length, 1);
  assert.equal(read(file(['13/05/2026', '04/05/2026'], ['1', '2'])).reading?.dateFormat, 'dmy');
  assert.equal(read(file(['2026-05-03'], ['1.500'])).field, 'decimal');
  assert.equal(read(file(['2026-05-03', '2026-05-04'], ['1.500', '1,50'])).rows?.length, 2);
  assert.equal(
    read('Date;Name;Note;Note;Amount\n2026-05-03;Tea;;;1\n', { mapping: { notes: 'Note' } }).field,
    'mapping',
  );
  assert.equal(read(file(['2026-05-03'], ['1']), { encoding: 'latin-99' }).field, 'encoding');
});

test('columns are guessed by names and by what is in them', () => {
  const dutch =
    'Rentedatum;Omschrijving;Bedrag;Saldo\n13-05-2026;Thee;-3,50;100,00\n14-05-2026;Loon;2000,00;2100,00\n';
  assert.deepEqual(read(dutch, { guesses: true }).rows, ['2026-05-13 350 Thee']);
  // No name is known, and the balance moves by the amounts.
  const unknown = [
    '2026-05-03,a1,Tea,3.50,96.50',
    '2026-05-04,a2,Cake,4.50,92.00',
    '2026-05-05,a3,Rice,2.00,90.00',
  ];
  const { rows, reading } = read(unknown.join('\n'), { guesses: true });
  assert.deepEqual(rows, ['2026-05-03 350 Tea', '2026-05-04 450 Cake', '2026-05-05 200 Rice']);
  assert.deepEqual(reading && readAsOf(reading).columns, { spentOn: '1', amount: '4', description: '3' });
  const unclear = 'Date,Name,Amount\n03/05/2026,Tea,3.50\n';
  const byLocale = (locale: string) => read(unclear, { guesses: true, locale }).rows;
  assert.deepEqual(byLocale('en-GB'), ['2026-05-03 350 Tea']);
  assert.deepEqual(byLocale('en-US'), ['2026-03-05 350 Tea']);
});

test('OFX has CDATA, comments, several accounts, and what was paid abroad', () => {
  const row = (more: string) =>
    `<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260503<TRNAMT>-7,250<FITID>1${more}</STMTTRN>`;
  const file = `OFXHEADER:100\n\n<OFX><STMTRS><CURDEF>EUR<!-- <STMTTRN> --><BANKTRANLIST>${row('<NAME><![CDATA[Salt & <Pepper>]]>')}
${row('<NAME>Hotel<ORIGCURRENCY><CURRATE>1.1<CURSYM>USD</ORIGCURRENCY>')}${row('<NAME>Abroad<CURRENCY><CURRATE>1.1<CURSYM>USD</CURRENCY>')}</BANKTRANLIST></STMTRS></OFX>`;
  const { rows, others } = read(file);
  assert.deepEqual(rows, ['2026-05-03 725 Salt & <Pepper>', '2026-05-03 725 Hotel']);
  assert.deepEqual(others, ['error: currency']);
});

test('QIF has splits, which are an expense each, and transfers, which are none', () => {
  const file = `!Account\nNDaily\n^\n!Type:Bank\nD5/13'26\nT-10.00\nPShop\nSFood\n$-6.00\nSHome\nEsoap\n$-4.00\n^\nD5/14'26\nT-90\nL[Savings]\n^\nD5/14/026Kiosk\nT-2\nPKiosk\n^\n`;
  const { rows, others } = read(file);
  assert.deepEqual(rows, ['2026-05-13 600 Shop', '2026-05-13 400 Shop', '2026-05-14 200 Kiosk']);
  assert.deepEqual(others, ['a transfer to an own account']);
});

test('CAMT.053 gives an expense for each debit that is booked', () => {
  const entry = (amount: string, side: string, more = '') =>
    `<n:Ntry><n:Amt Ccy="EUR">${amount}</n:Amt><n:CdtDbtInd>${side}</n:CdtDbtInd><n:Sts><n:Cd>${more === '' ? 'BOOK' : 'PDNG'}</n:Cd></n:Sts><n:BookgDt><n:Dt>2026-05-03</n:Dt></n:BookgDt>
<n:NtryDtls><n:TxDtls><n:RltdPties><n:Cdtr><n:Pty><n:Nm>Tea &amp; Co</n:Nm></n:Pty></n:Cdtr></n:RltdPties><n:RmtInf><n:Ustrd>Invoice 7</n:Ustrd></n:RmtInf></n:TxDtls></n:NtryDtls></n:Ntry>`;
  const file = `<?xml version="1.0"?><n:Document xmlns:n="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><n:BkToCstmrStmt><n:Stmt><n:Acct><n:Id><n:IBAN>XX1</n:IBAN></n:Id></n:Acct>
${entry('3.50', 'DBIT')}${entry('20', 'CRDT')}${entry('9', 'DBIT', 'pending')}</n:Stmt></n:BkToCstmrStmt></n:Document>`;
  const { rows, others, reading } = read(file);
  assert.equal(reading?.format, 'camt');
  assert.deepEqual(rows, ['2026-05-03 350 Tea & Co']);
  assert.deepEqual(others, ['money that came in', 'not booked yet']);
});

test('MT940 gives an expense for each debit, and for each credit that was taken back', () => {
  const file = [
    '{1:F01}{4:',
    ':20:X',
    ':25:123/456',
    ':28C:1/1',
    ':60F:C260501EUR100,00',
    ':61:2605030503D3,5NMSCNONREF',
    ':86:106?00CARD?20Tea and?21 cake?32Tea & Co',
    ':61:260504RC10,NTRFID7//B1',
    ':86:/NAME/Shop/REMI/Taken back',
    ':61:260505CR20,00NTRFNONREF',
    ':61:981231D7,00NTRFNONREF',
    ':86:Old',
    ':62F:C260505EUR106,50',
    '-}',
  ].join('\r\n');
  const { rows, others } = read(file.replaceAll('\r\n', '\n'));
  assert.deepEqual(rows, ['2026-05-03 350 Tea & Co', '2026-05-04 1000 Shop', '1998-12-31 700 Old']);
  assert.deepEqual(others, ['money that came in']);
});

test('the type of a row tells a refund, and a description does not', () => {
  const csv =
    'Datum;Text;Betrag;Umsatzart\n2026-05-01;Refund of nothing;5,00;Gutschrift\n2026-05-02;Shop;6,00;Storno\n';
  assert.deepEqual(read(csv, { sign: 'negative' }).others, ['money that came in', 'a refund']);
  const row = (type: string, id: number) =>
    `<STMTTRN><TRNTYPE>${type}<DTPOSTED>20260503<TRNAMT>7.25<FITID>${id}<NAME>Shop</STMTTRN>`;
  const ofx = `<OFX><BANKTRANLIST>${row('POS', 1)}${row('CREDIT', 2)}</BANKTRANLIST></OFX>`;
  assert.deepEqual(read(ofx).others, ['a refund', 'money that came in']);
  const entry = (reversal: string) =>
    `<Ntry><Amt Ccy="EUR">3.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><RvslInd>${reversal}</RvslInd><BookgDt><Dt>2026-05-01</Dt></BookgDt></Ntry>`;
  const camt = `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>${entry('true')}${entry('false')}</Stmt></BkToCstmrStmt></Document>`;
  assert.deepEqual(read(camt).others, ['a refund', 'money that came in']);
});
