import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fieldsOf } from '@octavo/admin/testing';
import { PageClient } from '@octavo/testing';
import { addAdministrator, startPortfolio, type TestPortfolio } from './testing.ts';

let portfolio: TestPortfolio;
let alice: PageClient;
before(async () => {
  portfolio = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8' } });
  const password = 'ferries wait in fog';
  await addAdministrator(portfolio, 'alice', password);
  alice = new PageClient(portfolio.url);
  await alice.open('/admin/login/');
  await alice.send('/admin/login/', { username: 'alice', password });
});
after(() => portfolio[Symbol.asyncDispose]());

/** Fills in the form that adds or changes an object, and sends it. */
async function submit(path: string, values: Readonly<Record<string, string>>) {
  const { html, status } = await alice.open(path);
  assert.equal(status, 200, html);
  return alice.send(path, { ...fieldsOf(html), ...values });
}

async function idOf(path: string): Promise<string> {
  return (await portfolio.get(path)).json.id;
}

describe('the admin', () => {
  test('adds a person with sectors, who is found by the API at once', async () => {
    const sector = (await portfolio.get('/api/sectors')).json[0];
    const added = await submit('/admin/portfolio/team/add/', {
      name: 'Zoë Ørsted',
      role: 'Partner',
      joined_on: '2026-02-01',
      sectors: sector.id,
      links: 'blog https://zoe.example',
    });
    assert.equal(added.status, 303, added.html);
    const [found] = (await portfolio.get('/api/team?name=orsted')).json;
    assert.deepEqual(
      [found.slug, found.email, found.sectors, found.links],
      ['zoe-orsted', null, [sector.slug], { blog: 'https://zoe.example' }],
    );
    await submit('/admin/portfolio/team/add/', { name: 'Zoe Orsted' });
    assert.equal((await portfolio.get('/api/team/zoe-orsted-2')).json.name, 'Zoe Orsted');
  });

  test('changes an investment, whose lead joins its team', async () => {
    const [deal] = (await portfolio.get('/api/investments')).json;
    const lead = await idOf('/api/team/zoe-orsted');
    const changed = await submit(`/admin/portfolio/investment/${deal.id}/change/`, {
      company: 'Nebel Fähren',
      lead_id: lead,
      country: 'DE',
    });
    assert.equal(changed.status, 303, changed.html);
    // The form leads to the page of the investment, which any reader can open.
    assert.ok(
      (await alice.open(`/admin/portfolio/investment/${deal.id}/change/`)).html.includes(
        `href="/investments/${deal.id}"`,
      ),
    );
    assert.match((await alice.open(`/investments/${deal.id}`)).html, /<h1>Nebel Fähren<\/h1>/);
    const { json } = await portfolio.get(`/api/investments/${deal.id}`);
    assert.deepEqual([json.company, json.lead_id, json.team_ids[0]], ['Nebel Fähren', lead, lead]);
    assert.equal((await portfolio.get('/api/investments?name=fahren&country=germany')).json.length, 1);
  });

  test('refuses what a file may not hold, at its field, and changes nothing', async () => {
    for (const [expected, values, problem] of [
      [422, { name: 'Nobody', email: 'not an address' }, /must be an e-mail address/],
      [422, { name: 'Nobody', joined_on: '2026-02-30' }, /must be a date/],
      [422, { name: 'Nobody', links: 'blog javascript:alert(1)' }, /must be an address such as/],
      [422, { name: 'Nobody', links: `blog${' '.repeat(5_000)}x y` }, /must be an address such as/],
      [409, { name: 'Nobody', slug: 'zoe-orsted' }, /Another record has this slug/],
    ] as const) {
      const { html, status } = await submit('/admin/portfolio/team/add/', values);
      assert.equal(status, expected, html);
      assert.match(html, problem);
    }
    assert.deepEqual((await portfolio.get('/api/team?name=nobody')).json, []);
    const [deal] = (await portfolio.get('/api/investments')).json;
    const { html } = await submit(`/admin/portfolio/investment/${deal.id}/change/`, { lead_id: 'a\0' });
    assert.match(html, /must not contain the character U\+0000/);
  });

  test('has a page for each model, and none for strangers', async () => {
    for (const model of ['portfolio/team', 'portfolio/investment', 'portfolio/sector', 'auth/user']) {
      assert.equal((await alice.open(`/admin/${model}/`)).status, 200, model);
      assert.equal((await new PageClient(portfolio.url).open(`/admin/${model}/`)).status, 302, model);
    }
  });
});
