import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { PageClient, testFolder } from '@octavo/testing';
import { importFile } from '../service.ts';
import { addAdministrator, startPortfolio, type TestPortfolio } from '../testing.ts';

const password = 'ferries wait in fog';
let portfolio: TestPortfolio;
let alice: PageClient;
before(async () => {
  portfolio = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8' } });
  await addAdministrator(portfolio, 'alice', password);
  alice = new PageClient(portfolio.url);
  await alice.open('/admin/login/');
  await alice.send('/admin/login/', { username: 'alice', password });
});
after(() => portfolio?.[Symbol.asyncDispose]());

/** The preview of a file: its address, and its page as text. */
async function preview(content: string, name = 'a.csv') {
  await alice.open('/import');
  const { location } = await alice.upload('/import', { name, content });
  return { path: location, ...(await shown(location)) };
}

async function shown(path: string) {
  const { html, status } = await alice.open(path);
  return { html, status, text: html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ') };
}

/** The preview with other choices. */
async function again(path: string, choices: Record<string, string>) {
  const { location } = await alice.send(path, { ...choices, do: 'preview' });
  return shown(location);
}

const amountsOf = async (prefix: string) => {
  const { json } = await portfolio.get(`/api/investments?limit=100&sort=company&name=${prefix}`);
  return json.map((deal: Record<string, unknown>) => [deal.company, deal.amount_minor, deal.currency]);
};

describe('amounts of a file', () => {
  test('are taken as people write them, with the digits of their currency', async () => {
    const csv = `Company;Sector;Stage;Amount;Currency;Date
Harbor A;climate;seed;1200000;EUR;2026-01-02
Harbor B;Climate;seed;1.200.000,00 EUR;;2026-01-02
Harbor C;CLIMATE;seed;1.500;JPY;2026-01-02
Harbor D;climate;seed;€ 12,50;;2026-01-02
Harbor E;climate;seed;1.234,567;kwd;2026-01-02
Harbor F;climate;seed;7,500;EUR;2026-01-02
Harbor G;climate;;1 200;;2026-01-02;;
`;
    const { path, text, html } = await preview(csv);
    assert.match(html, /<option value="investments" selected>/, text);
    assert.match(text, /Import 7 records/);
    assert.match(text, /€1,200,000/);
    assert.doesNotMatch(text, /smallest unit|minor/);
    await alice.send(path, { kind: 'investments', do: 'import' });
    assert.deepEqual(await amountsOf('harbor'), [
      ['Harbor A', 120_000_000, 'EUR'],
      ['Harbor B', 120_000_000, 'EUR'],
      ['Harbor C', 1_500, 'JPY'],
      ['Harbor D', 1_250, 'EUR'],
      ['Harbor E', 1_234_567, 'KWD'],
      ['Harbor F', 750, 'EUR'],
      ['Harbor G', 120_000, 'USD'],
    ]);
  });

  test('that could mean two things are asked for', async () => {
    const csv =
      'company,sector,amount,invested_on\nPier A,climate,"1,200",2026-01-02\nPier B,climate,950,2026-01-02\n';
    const asked = await preview(csv);
    assert.equal(asked.status, 422);
    assert.match(asked.text, /Amounts such as 1,200 could mean two things\. Choose how they are written\./);
    assert.doesNotMatch(asked.html, /value="import"/);
    const chosen = await again(asked.path, { kind: 'investments', decimal: '.', currency: 'gbp' });
    assert.match(chosen.text, /£1,200 /);
    const other = await again(asked.path, { kind: 'investments', decimal: ',' });
    assert.match(other.text, /\$1\.20 /);
    const wrong = await again(asked.path, { kind: 'investments', decimal: '.', currency: 'money' });
    assert.match(wrong.text, /The currency must be a code such as EUR\./);
    // One amount tells the others.
    const told = await preview(csv.replace('950', '"1,950.00"'));
    assert.match(told.text, /\$1,200 [\s\S]*\$1,950 /);
    const mixed = await preview(csv.replace('950', '"1.950,00"').replace('1,200', '1,200.00'));
    assert.match(mixed.text, /could mean two things/);
    const settled = await again(mixed.path, { kind: 'investments', decimal: '.' });
    assert.match(settled.text, /2 Investments: Amount must have “\.” as its decimal sign/);
  });

  test('that are none are named with their rows', async () => {
    const head = 'company,sector,amount,currency,invested_on\n';
    for (const [amount, problem] of [
      ['many', /1 Investments: Amount must be a number such as 12\.50/],
      ['12.345', /1 Investments: Amount must have at most 2 digits/],
      ['-5', /1 Investments: Amount must not be less than 0/],
      ['5 CHF', /1 Investments: Amount must be in EUR, not CHF/],
      ['', /1 Investments: Amount [^<]*(required|must)/],
    ] as const) {
      const { text } = await preview(
        `${head}Quay,climate,${amount},EUR,2026-01-02\nQuay,climate,1.00,EUR,2026-01-02\n`,
      );
      assert.match(text, problem, amount);
    }
  });

  test('are exact in a file of the API, and on the command line', async () => {
    const own = 'company,sector,amount_minor,currency,invested_on\nDock A,climate,123456,EUR,2026-01-02\n';
    const { path, text } = await preview(own);
    assert.match(text, /€1,234\.56/);
    await alice.send(path, { kind: 'investments', do: 'import' });
    const folder = testFolder('amounts');
    const run = async (name: string, content: string, decimal?: string) => {
      const file = join(folder, name);
      await writeFile(file, content);
      const { environment, context } = portfolio;
      return importFile({ environment, context, file, kind: 'investments', decimal, replaces: false });
    };
    const deal = {
      company: 'Dock B',
      sector: 'Climate',
      amount: 12.34,
      currency: 'EUR',
      invested_on: '2026-01-02',
    };
    await run(
      'a.json',
      JSON.stringify([deal, { ...deal, company: 'Dock C', amount: '1.200.000,00 €', currency: undefined }]),
    );
    const csv = 'company;sector;amount;invested_on\nDock D;climate;1.200;2026-01-02\n';
    await assert.rejects(run('a.csv', csv), /1\.200 could mean two things.*Add --decimal \. or --decimal ,/);
    await assert.rejects(run('a.csv', csv, 'x'), /--decimal must be/);
    await run('a.csv', csv, ',');
    assert.deepEqual(await amountsOf('dock'), [
      ['Dock A', 123_456, 'EUR'],
      ['Dock B', 1_234, 'EUR'],
      ['Dock C', 120_000_000, 'EUR'],
      ['Dock D', 120_000, 'USD'],
    ]);
    await assert.rejects(
      run('b.json', JSON.stringify([{ ...deal, amount_minor: 1 }])),
      /must be absent beside/,
    );
    await run(
      'c.csv',
      Buffer.from(
        'company,sector,amount,invested_on\nDock M\xfcller,Climate,5,2026-01-02\n',
        'latin1',
      ) as never,
    );
    assert.deepEqual(await amountsOf('dock müller'), [['Dock Müller', 500, 'USD']]);
  });
});

describe('a list of one kind', () => {
  test('is told by its columns, and asked for where they do not tell', async () => {
    for (const [header, kind] of [
      ['Company,Sector,Stage,Amount,Currency,Date', 'investments'],
      ['Company,Sector,Amount,Invested on', 'investments'],
      ['Company,Sector,Stage,Currency,Date', undefined],
      ['Name', undefined],
      ['Name,E-mail,City', 'team'],
      ['Sector,Description', undefined],
      ['Name,Description,Leads', 'sectors'],
      ['One,Two', undefined],
    ] as const) {
      const { html, status, text } = await preview(`${header}\n${header.replace(/[^,]+/g, 'x')}\n`);
      const selected = /<select[^>]*name="kind"[\s\S]*?value="([^"]*)" selected/.exec(html)?.[1];
      assert.equal(selected, kind ?? '', header);
      if (kind !== undefined) continue;
      assert.equal(status, 422);
      assert.match(text, /The columns do not tell what the file has\. Choose it\./);
      assert.doesNotMatch(html, /value="import"/);
    }
    const { path } = await preview('Name\nNew person\n');
    const chosen = await again(path, { kind: 'team' });
    assert.match(chosen.text, /Import 1 record/);
  });

  test('names other records by their names, which one alone must have', async () => {
    const sectors = 'name;description\nTwin;one\n';
    const { path } = await preview(sectors);
    await alice.send(path, { kind: 'sectors', do: 'import' });
    const twin = await preview(JSON.stringify([{ name: 'Twin', slug: 'twin-b' }]), 'a.json');
    await alice.send(twin.path, { kind: 'sectors', do: 'import' });
    const head = 'company,sector,amount,invested_on,lead_id\n';
    const found = await preview(`${head}Buoy,logistics AND ports,1,2026-01-02,zoë müller\n`);
    assert.match(found.text, /Import 1 record/, found.text);
    const two = await preview(`${head}Buoy,twin,1,2026-01-02,\nBuoy 2,TWIN!,1,2026-01-02,\n`);
    assert.match(
      two.text,
      /2 Investments: Sector must be the name or the slug of a sector; there is no “TWIN!”/,
    );
    const named = await preview(`${head}Buoy,Twín,1,2026-01-02,\n`);
    assert.match(
      named.text,
      /1 Investments: Sector must be a slug, as there are several sectors called “Twín”/,
    );
  });

  test('shows the records that it would change before and after', async () => {
    const first = await preview(
      'company,sector,amount,currency,invested_on,stage\nCrane,climate,5.00,EUR,2026-01-02,seed\n',
    );
    await alice.send(first.path, { kind: 'investments', do: 'import' });
    const content =
      'company,sector,amount,currency,invested_on,stage\nCrane,health,7.50,EUR,2026-01-02,seed\n';
    const { text, html } = await preview(content);
    assert.match(text, /To be added 0 To be changed 1/);
    assert.match(text, /Crane Sector: Climate and energy Health Amount: EUR 5\.00 EUR 7\.50/, text);
    assert.match(html, /<del>EUR 5\.00<\/del> <ins>EUR 7\.50<\/ins>/);
    const same = await preview(content.replace('health', 'climate').replace('7.50', '5.00'));
    assert.match(same.text, /To be changed 0 Not changed 1/);
    assert.doesNotMatch(same.html, /value="import"/);
  });
});
