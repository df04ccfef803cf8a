import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fieldsOf } from '@octavo/admin/testing';
import { PageClient } from '@octavo/testing';
import { importFieldsOf } from './imports/fields.ts';
import { Investment, type Kind, Member, Sector } from './records.ts';
import { addAdministrator, startPortfolio } from './testing.ts';

const places = ['the list', 'the page', 'the admin', 'the import'] as const;
type Place = (typeof places)[number];

const everywhere: readonly Place[] = places;
const computed: readonly Place[] = [];
const noList: readonly Place[] = ['the page', 'the admin', 'the import'];

/** The places that have a field, besides the JSON of the API, which has all. */
const placesOf: Readonly<Record<Kind, Readonly<Record<string, readonly Place[]>>>> = {
  team: {
    id: ['the import'],
    slug: ['the list', 'the admin', 'the import'],
    name: everywhere,
    role: noList,
    title: everywhere,
    bio: noList,
    location: everywhere,
    email: noList,
    sectors: everywhere,
    investment_ids: computed,
    joined_on: everywhere,
    links: noList,
    updated_at: computed,
  },
  investments: {
    id: ['the import'],
    slug: ['the list', 'the admin', 'the import'],
    company: everywhere,
    sector: everywhere,
    stage: everywhere,
    status: everywhere,
    amount_minor: everywhere,
    currency: everywhere,
    invested_on: everywhere,
    exited_on: noList,
    lead_id: everywhere,
    team_ids: noList,
    country: noList,
    description: noList,
    website: noList,
    updated_at: computed,
  },
  sectors: {
    id: ['the import'],
    slug: ['the list', 'the admin', 'the import'],
    name: everywhere,
    description: everywhere,
    lead_ids: everywhere,
    investment_count: computed,
    total_amount_minor: computed,
    currency: everywhere,
  },
};

/** Values of forms, which pages show. */
const typed: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  team: {
    name: 'Quill Zander',
    slug: 'quill-zander',
    role: 'adviser',
    title: 'Keeper of gnus',
    bio: 'Counts okapis.',
    location: 'Ystad',
    email: 'quill@example.org',
    joined_on: '2011-02-03',
    links: 'blog https://quill.example',
  },
  investments: {
    company: 'Zebrawerk',
    slug: 'zebrawerk',
    stage: 'series_q',
    status: 'written_off',
    amount_minor: '987600',
    currency: 'SEK',
    invested_on: '2012-03-04',
    exited_on: '2013-04-05',
    country: 'SE',
    website: 'https://zebra.example',
    description: 'Stripes as a service.',
  },
  sectors: { name: 'Quaggas', slug: 'quaggas', currency: 'SEK', description: 'Of the steppe.' },
};
const shown: Readonly<Record<string, RegExp>> = {
  joined_on: /2011-02-03/,
  invested_on: /2012-03-04/,
  exited_on: /2013-04-05/,
  role: />Adviser</,
  stage: /Series Q/,
  status: />written off</,
  amount_minor: /9,876/,
  currency: /SEK|kr/,
  country: /Sweden/,
  website: />zebra\.example</,
  links: />quill\.example</,
  slug: /href="\/\w+\/(quill-zander|zebrawerk|quaggas)"/,
};
const schemas = { team: Member, investments: Investment, sectors: Sector };
const models: Readonly<Record<Kind, string>> = { team: 'team', investments: 'investment', sectors: 'sector' };
const names: Readonly<Record<Kind, string>> = { team: 'quill', investments: 'zebrawerk', sectors: 'quaggas' };

const portfolio = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8' } });
after(() => portfolio[Symbol.asyncDispose]());
const password = 'ferries wait in fog';
await addAdministrator(portfolio, 'alice', password);
const alice = new PageClient(portfolio.url);
await alice.open('/admin/login/');
await alice.send('/admin/login/', { username: 'alice', password });

/** References to what the demo data has, by the fields of forms. */
async function references(kind: Kind): Promise<Readonly<Record<string, string>>> {
  const [sector] = (await portfolio.get('/api/sectors?limit=1')).json;
  const [person, other] = (await portfolio.get('/api/team?limit=2&sort=-name')).json;
  if (kind === 'team') return { sectors: sector.id };
  if (kind === 'sectors') return { lead_ids: person.id };
  return { sector: sector.id, lead_id: person.id, team_ids: other.id };
}

for (const kind of ['sectors', 'team', 'investments'] as const) {
  test(`every place says yes or no for every field of ${kind}`, async () => {
    const form = `/admin/portfolio/${models[kind]}/add/`;
    const { html: empty } = await alice.open(form);
    const others = await references(kind);
    const saved = await alice.send(form, { ...fieldsOf(empty), ...typed[kind], ...others });
    assert.equal(saved.status, 303, saved.html);
    const slug = typed[kind].slug ?? '';
    const { json } = await portfolio.get(`/api/${kind}/${slug}`);
    const page = (await alice.open(`/${kind}/${slug}`)).html;
    const list = (await alice.open(`/${kind}?q=${names[kind]}`)).html;
    const row =
      new RegExp(`<(tr|li|article)\\b(?:(?!</\\1>)[\\s\\S])*/${slug}"[\\s\\S]*?</\\1>`).exec(list)?.[0] ?? '';
    assert.notEqual(row, '', list);
    const columns = importFieldsOf(kind, ['amount_minor']).map(({ name }) => name);
    const referred = /sectors?$|^lead|^team/;
    const labels = Object.fromEntries(
      await Promise.all(
        Object.entries(others).map(async ([name, id]) => {
          const { json: other } = await portfolio.get(
            `/api/${/sector/.test(name) ? 'sectors' : 'team'}/${id}`,
          );
          return [name, new RegExp(other.name)] as const;
        }),
      ),
    );
    for (const field of Object.keys(schemas[kind].properties)) {
      const declared = placesOf[kind][field];
      assert.ok(
        declared,
        `${kind} have a new field: say in placesOf of this test which places have ${field}`,
      );
      assert.ok(field in json, `the API has ${field}`);
      const value =
        shown[field] ??
        (referred.test(field) ? labels[field] : undefined) ??
        new RegExp(`${typed[kind][field]}`);
      const found: Record<Place, boolean> = {
        'the list': value.test(row),
        'the page': value.test(page.replace(/<(title|nav|a class="button)[\s\S]*?<\/(title|nav|a)>/g, '')),
        'the admin': empty.includes(`name="${field}"`),
        'the import': columns.includes(field),
      };
      for (const place of places) {
        const verb: string = declared.includes(place) ? 'should have' : 'is not declared to have';
        assert.equal(found[place], declared.includes(place), `${place} ${verb} ${field} of ${kind}`);
      }
    }
  });
}
