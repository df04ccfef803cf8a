import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { addAdministrator, startPortfolio, type TestPortfolio } from './testing.ts';

const password = 'ferries wait in fog';

async function signedIn({ url }: TestPortfolio, username: string): Promise<PageClient> {
  const client = new PageClient(url);
  await client.open('/admin/login/');
  const { status, html } = await client.send('/admin/login/', { username, password });
  assert.equal(status, 303, html);
  return client;
}

// At the top, where the database lives until the end of the file.
const portfolio = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8' } });
after(() => portfolio[Symbol.asyncDispose]());
await addAdministrator(portfolio, 'alice', password);
const alice = await signedIn(portfolio, 'alice');

describe('the portfolio as pages', () => {
  const client = new PageClient(portfolio.url);

  test('lead from the overview to people, investments and sectors, and between them', async () => {
    const home = (await client.open('/')).html;
    assert.match(home, /Invested by sector/);
    assert.match(home, /href="\/investments\/[^"]+"/);
    const [deal] = (await portfolio.get('/api/investments?limit=1')).json;
    const year = deal.invested_on.slice(0, 4);
    assert.ok(home.includes(`href="/investments?from=${year}-01-01&amp;to=${year}-12-31"`), year);
    const page = (await client.open(`/investments/${deal.slug}`)).html;
    assert.ok(page.includes(`href="/sectors/${deal.sector}"`));
    const lead = (await portfolio.get(`/api/team/${deal.lead_id}`)).json;
    assert.ok(page.includes(`href="/team/${lead.slug}"`));
    const person = (await client.open(`/team/${lead.slug}`)).html;
    assert.ok(person.includes(`href="/investments/${deal.slug}"`), person);
    const sector = (await client.open(`/sectors/${deal.sector}`)).html;
    assert.ok(sector.includes(`href="/investments/${deal.slug}"`));
    // By its id too, as in the API.
    assert.equal((await client.open(`/investments/${deal.id}`)).status, 200);
    for (const path of ['/team/nobody', '/sectors/%00', '/investments/a%2Fb'])
      assert.equal((await client.open(path)).status, 404, path);
  });

  test('take the filters of the API, and find the same', async () => {
    const shown = async (path: string) => {
      const { html } = await client.open(path);
      return [...html.matchAll(/<td[^>]*class="main"><a href="\/(?:team|investments|sectors)\/([^"]+)"/g)]
        .map(([, slug]) => slug)
        .sort();
    };
    const found = async (path: string) =>
      (await portfolio.get(`/api${path}`)).json.map(({ slug }: { slug: string }) => slug).sort();
    for (const path of [
      '/team?q=muller',
      '/team?role=partner&location=berlin',
      '/team?sector=climate',
      '/team?q=%25',
      '/investments?status=exited',
      '/investments?sector=fintech&from=2019-01-01',
      '/investments?team_member=zoe-muller&sort=-amount_minor',
      '/investments?country=DE',
      '/sectors?q=health',
    ])
      assert.deepEqual(await shown(path), await found(path), path);
    assert.deepEqual(
      await shown('/investments?amount_from=1,000,000&amount_to=3000000'),
      await found('/investments?min_amount=100000000&max_amount=300000000'),
    );
    assert.ok((await found('/team?q=muller')).length > 0);
  });

  test('say what is wrong with a filter, and keep what was typed', async () => {
    const wrong = await client.open('/investments?from=yesterday&amount_from=many&q=%22%3E%3Cb%3E');
    assert.equal(wrong.status, 400);
    assert.match(wrong.html, /Amount from must be a whole amount/);
    assert.match(wrong.html, /Invested from must be/);
    assert.match(wrong.html, /value="many"/);
    assert.doesNotMatch(wrong.html, /"><b>/);
    const range = await client.open('/investments?from=2024-01-01&to=2023-01-01');
    assert.match(range.html, /Invested to must be a day, not before the other/);
    assert.match((await client.open('/team?q=nobodyatall')).html, /No matching people/);
    // Empty fields of the form and unknown parameters are ignored.
    assert.equal((await client.open('/team?q=&role=&page=x&more=1')).status, 200);
    assert.equal((await client.open('/team?q=%00')).status, 400);
    assert.match((await client.open('/team?page=99')).html, /None of \d+/);
  });

  test('write amounts and days as the reader does', async () => {
    const { html } = await client.open('/investments', { headers: { 'accept-language': 'de' } });
    assert.match(html, /\d\.\d{3}\.\d{3}\s[€$]/);
  });
});

describe('who may open the pages', () => {
  test('people with an account, where a token needs a secret or a setting says so', async () => {
    for (const environment of [{ AUTH_CLIENTS: 'chat:a-long-secret' }, { PORTFOLIO_PAGES: 'signed-in' }]) {
      await using closed = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8', ...environment } });
      const stranger = new PageClient(closed.url);
      for (const path of ['/team', '/investments', '/sectors', '/team/zoe-muller', '/import']) {
        const { status, html } = await stranger.open(path);
        assert.equal(status, 401, path);
        assert.match(html, /href="\/admin\/login\/\?next=/);
        assert.doesNotMatch(html, /Müller/);
      }
      const home = (await stranger.open('/')).html;
      assert.doesNotMatch(home, /Latest investments/);
      await addAdministrator(closed, 'zoe', password);
      const reader = await signedIn(closed, 'zoe');
      assert.match((await reader.open('/team')).html, /Müller/);
    }
    await using open = await startPortfolio({
      environment: {
        PORTFOLIO_PAGES: 'public',
        AUTH_CLIENTS: 'chat:a-long-secret',
      },
    });
    const stranger = new PageClient(open.url);
    assert.equal((await stranger.open('/team')).status, 200);
    assert.equal((await stranger.open('/import')).status, 401);
  });
});

describe('imports on pages', () => {
  const upload = async (name: string, content: string | Uint8Array<ArrayBuffer>) => {
    await alice.open('/import');
    return alice.upload('/import', { name, content });
  };
  const names = async (path: string) =>
    (await portfolio.get(path)).json.map(({ name }: { name: string }) => name);

  test('a CSV file is previewed with its columns, imported once, and has a result', async () => {
    const csv =
      'Full name,Position,City,Industries\nÅse Halvorsen,partner,Oslo,climate;health\nBo Li,analyst,Turku,\n';
    const { location, html } = await upload('people.csv', csv);
    assert.match(location, /^\/import\/[\w-]+$/, html);
    const guessed = (await alice.open(location)).html;
    assert.match(guessed, /<option value="team" selected>/);
    assert.match(guessed, /<option value="Industries" selected>/);
    assert.match(guessed, /Import 2 records/);
    assert.match(guessed, /Åse Halvorsen/);
    assert.deepEqual(await names('/api/team?name=halvorsen'), []);
    const fields = { kind: 'team', mapped: 'team', 'map-name': 'Full name', 'map-location': 'City' };
    const other = await alice.send(location, { ...fields, do: 'preview' });
    assert.match((await alice.open(other.location)).html, /<option value="City" selected>/);
    const chosen = { ...fields, 'map-role': 'Position', 'map-sectors': 'Industries' };
    const done = await alice.send(location, { ...chosen, do: 'import' });
    assert.deepEqual([done.status, done.location], [303, location]);
    assert.match((await alice.open(location)).html, /<dt>Added<\/dt><dd>2<\/dd>/);
    const [added] = (await portfolio.get('/api/team?name=halvorsen')).json;
    assert.deepEqual([added.location, added.role, added.sectors], ['Oslo', 'partner', ['climate', 'health']]);
    // A form that is sent twice changes nothing more.
    await alice.send(location, { ...chosen, do: 'import' });
    assert.equal((await names('/api/team?name=halvorsen')).length, 1);
  });

  test('JSON shows its progress as lines, and names what is wrong with each record', async () => {
    const person = (index: number) => ({ name: `Person ${index}`, slug: `person-${index}` });
    const team = Array.from({ length: 450 }, (_, index) => person(index));
    const { location } = await upload('all.json', JSON.stringify({ team }));
    const headers = { accept: 'application/x-ndjson, application/json' };
    const sent = await alice.send(location, { do: 'import' }, headers);
    const lines = sent.html
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(lines.at(-1), { share: 1, created: 450, failed: 0 });
    const again = await upload('all.json', JSON.stringify({ team: [...team, person(450)] }));
    assert.match(
      (await alice.open(again.location)).html,
      /To be added<\/dt><dd>1<\/dd>[\s\S]*Not changed<\/dt><dd>450/,
    );

    const deal = { company: 'Nebel', sector: 'nowhere', amount_minor: -1, invested_on: '2026-01-01' };
    const bad = await upload('deals.json', JSON.stringify([{ ...deal, amount_minor: 1 }]));
    const preview = await alice.open(bad.location);
    assert.equal(preview.status, 422);
    assert.match(
      preview.html,
      /Investments: Sector must be the name or the slug of a sector; there is no “nowhere”/,
    );
    assert.doesNotMatch(preview.html, /value="import"|investments\[0\]/);
    const refused = await alice.send(bad.location, { do: 'import' });
    assert.match(refused.location, /^\/import\//);
    assert.match(
      (await alice.open(refused.location)).html,
      /Some records have errors[\s\S]*there is no “nowhere”/,
    );
    const negative = await upload('deals.json', JSON.stringify([deal]));
    assert.match((await alice.open(negative.location)).html, /Investments: Amount must be/);
    assert.deepEqual((await portfolio.get('/api/investments?name=nebel')).json, []);
  });

  test('an import whose browser goes away saves nothing, and can be sent again', async () => {
    const team = Array.from({ length: 20_000 }, (_, index) => ({ name: `Gone ${index}` }));
    const { location } = await upload('many.json', JSON.stringify({ team }));
    const gone = new AbortController();
    const response = await fetch(new URL(location, portfolio.url), {
      method: 'POST',
      body: new URLSearchParams({ _csrf: alice.token, do: 'import' }),
      headers: {
        accept: 'application/x-ndjson',
        'sec-fetch-site': 'same-origin',
        cookie: [...alice.cookies].map((pair) => pair.join('=')).join('; '),
      },
      signal: gone.signal,
    });
    const first = await response.body?.getReader().read();
    assert.ok(
      JSON.parse(
        Buffer.from(first?.value ?? [])
          .toString()
          .split('\n')[0] ?? '',
      ).share < 1,
    );
    gone.abort();
    // Waits for the lock of the one that ends.
    const other = await upload('one.json', JSON.stringify({ team: [{ name: 'Afterwards' }] }));
    await alice.send(other.location, { do: 'import' });
    assert.deepEqual(await names('/api/team?name=gone'), []);
    assert.deepEqual(await names('/api/team?name=afterwards'), ['Afterwards']);
    assert.match((await alice.open(location)).html, /Import 20,000 records/);
  });

  test('two imports of one upload at once save it once', async () => {
    const { location } = await upload('twice.json', JSON.stringify({ team: [{ name: 'Only Once' }] }));
    await Promise.all([1, 2, 3].map(() => alice.send(location, { do: 'import' })));
    assert.deepEqual(await names('/api/team?name=only+once'), ['Only Once']);
  });

  test('files that cannot be read are refused in words, and uploads belong to who sent them', async () => {
    assert.match((await upload('a.csv', '')).html, /empty|Choose a file/);
    const latin = await upload(
      'a.csv',
      Buffer.from('The team\nname,title\nM\xfcller,Gesch\xe4ftsf\xfchrer\n', 'latin1'),
    );
    const read = (await alice.open(latin.location)).html;
    assert.match(read, /The letters of the file are read as windows-1252/);
    assert.match(read, /The first line of the file is left out/);
    assert.match(read, /Müller/);
    assert.equal((await upload('big.csv', 'x'.repeat(5 * 1024 * 1024 + 1))).status, 413);
    const broken = await upload('a.json', '{"team": [');
    assert.equal((await alice.open(broken.location)).status, 422);
    const { location } = await upload('mine.json', '{"team": [{"name": "Mine"}]}');
    await addAdministrator(portfolio, 'bob', password);
    const bob = await signedIn(portfolio, 'bob');
    assert.equal((await bob.open(location)).status, 404);
    await alice.open('/import');
    const stranger = new PageClient(portfolio.url);
    assert.equal((await stranger.open(location)).status, 401);
    const foreign = await alice.open('/import', {
      method: 'POST',
      body: new FormData(),
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    });
    assert.equal(foreign.status, 403);
    await alice.open(location);
    assert.equal((await alice.send(location, { do: 'cancel' })).location, '/import');
    assert.equal((await alice.open(location)).status, 404);
    const old = await upload('old.json', '{"team": [{"name": "Old"}]}');
    portfolio.clock.advance(61 * 60_000);
    assert.equal((await alice.open(old.location)).status, 404);
    portfolio.clock.advance(-61 * 60_000);
  });

  test('replacing removes what the file does not have, and says so before', async () => {
    const all = { sectors: [{ name: 'Only' }], team: [{ name: 'Ann Lee', sectors: ['only'] }] };
    const { location } = await upload('all.json', JSON.stringify(all));
    const asked = await alice.send(location, { replaces: 'true', do: 'preview' });
    const preview = (await alice.open(asked.location)).html;
    assert.match(preview, /Replace everything by 2 records/);
    assert.match(preview, /To be removed<\/dt><dd>\d/);
    await alice.send(location, { replaces: 'true', do: 'import' });
    assert.deepEqual(await names('/api/team'), ['Ann Lee']);
    const home = (await alice.open('/')).html;
    assert.match(home, /No investments yet/);
    assert.match(home, /Import a file/);
  });
});
