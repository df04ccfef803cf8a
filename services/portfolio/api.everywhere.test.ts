import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { testFolder, testMode } from '@octavo/testing';
import { jwtVerify } from 'jose';
import { importFile } from './service.ts';
import { jwtSecret, startPortfolio } from './testing.ts';

const service = await startPortfolio({ environment: { PORTFOLIO_TOKEN_RATE_LIMIT: '0' } });
after(() => service[Symbol.asyncDispose]());
const folder = testFolder('import');

const slugs = ({ json }: TestResponse) => json.map(({ slug }: { slug: string }) => slug);
const team = async (query: string) => slugs(await service.get(`/api/team?${query}`));
const deals = async (query: string) => slugs(await service.get(`/api/investments?limit=100&${query}`));

describe('tokens', () => {
  test('are JWTs of the domain that any library verifies', async () => {
    const { status, json, headers } = await service.get('/auth/token');
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(json), ['token', 'access_token', 'token_type', 'expires_in', 'expires_at']);
    assert.deepEqual([json.access_token, json.token_type, json.expires_in], [json.token, 'Bearer', 3_600]);
    assert.equal(headers.get('cache-control'), 'no-store');
    const key = new TextEncoder().encode(jwtSecret);
    const currentDate = new Date(service.clock.now());
    const { payload, protectedHeader } = await jwtVerify(json.token, key, {
      currentDate,
      audience: 'domain-api',
    });
    assert.equal(protectedHeader.alg, 'HS256');
    const { iat = 0, nbf, exp, jti, ...claims } = payload;
    assert.deepEqual(claims, { sub: 'public', scope: 'domain:read', iss: 'portfolio', aud: 'domain-api' });
    assert.deepEqual([nbf, exp], [iat, iat + 3_600]);
    assert.ok(jti);
    assert.equal(json.expires_at, new Date((iat + 3_600) * 1_000).toISOString());
  });

  test('are required everywhere below /api, in the header', async () => {
    const [head, payload] = service.token.split('.');
    const forged = `${head}.${payload}.${createHmac('sha256', 'another key').update(`${head}.${payload}`).digest('base64url')}`;
    for (const path of ['/api/team', '/api/sectors/climate/investments', '/api/nothing']) {
      for (const authorization of ['', 'Bearer', `Basic ${service.token}`, `Bearer ${forged}`, 'Bearer x']) {
        const response = await service.get(`${path}?access_token=${service.token}`, { authorization });
        assertError(response, 401, 'UNAUTHORIZED');
        const challenge = response.headers.get('www-authenticate');
        assert.equal(challenge, 'Bearer realm="domain", error="invalid_token"');
      }
    }
    assertError(await service.get('/api/nothing'), 404, 'NOT_FOUND');
  });

  test('expire, and are for one scope', async () => {
    await using aging = await startPortfolio();
    aging.clock.advance(3_590_000);
    assert.equal((await aging.get('/api/team')).status, 200);
    aging.clock.advance(20_000);
    assertError(await aging.get('/api/team'), 401, 'UNAUTHORIZED');
    const iat = Math.floor(service.clock.now() / 1_000);
    const claims = {
      iss: 'portfolio',
      aud: 'domain-api',
      sub: 'x',
      scope: 'domain:write',
      iat,
      exp: iat + 60,
    };
    const input = [{ alg: 'HS256', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const token = `${input}.${createHmac('sha256', jwtSecret).update(input).digest('base64url')}`;
    assertError(await service.get('/api/team', { authorization: `Bearer ${token}` }), 403, 'FORBIDDEN');
  });

  test('are limited by address', async () => {
    const [{ databaseUrl = '' }, folder] = [await testMode(), testFolder('portfolio')];
    await using limited = await startPortfolio({
      environment: { DATABASE_URL: databaseUrl },
      nodeEnv: 'test',
      folder,
    });
    await using other = await startPortfolio({
      environment: { DATABASE_URL: databaseUrl },
      nodeEnv: 'test',
      folder,
    });
    for (let count = 2; count < 30; count++)
      assert.equal((await (count % 2 ? other : limited).get('/auth/token')).status, 200);
    const refused = await limited.get('/auth/token');
    assertError(refused, 429, 'RATE_LIMIT_EXCEEDED');
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await limited.get('/api/team')).status, 200);
    limited.clock.advance(60_000);
    assert.equal((await limited.get('/auth/token')).status, 200);
  });

  test('are for known clients where these are set', async () => {
    await using closed = await startPortfolio({
      environment: { AUTH_CLIENTS: 'chat:a-long-secret,report:another-secret' },
    });
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    const anybody = await closed.get('/auth/token', { authorization: '' });
    assertError(anybody, 401, 'UNAUTHORIZED');
    assert.equal(anybody.headers.get('www-authenticate'), 'Basic realm="domain"');
    for (const headers of [basic('chat:another-secret'), basic('chat:'), { 'x-api-key': 'chat' }]) {
      assertError(await closed.get('/auth/token', { authorization: '', ...headers }), 401, 'UNAUTHORIZED');
    }
    for (const headers of [
      basic('report:another-secret'),
      { authorization: '', 'x-api-key': 'a-long-secret' },
    ]) {
      const { json } = await closed.get('/auth/token', headers);
      assert.equal((await closed.get('/api/team', { authorization: `Bearer ${json.token}` })).status, 200);
    }
  });
});

describe('lists', () => {
  test('have every field', async () => {
    const {
      json: [member],
    } = await service.get('/api/team?name=zoe');
    assert.deepEqual(Object.keys(member), [
      ...['id', 'slug', 'name', 'role', 'title', 'bio', 'location', 'email', 'sectors', 'investment_ids'],
      ...['joined_on', 'links', 'updated_at'],
    ]);
    const {
      json: [deal],
    } = await service.get('/api/investments?name=tidewater');
    assert.deepEqual(Object.keys(deal), [
      ...['id', 'slug', 'company', 'sector', 'stage', 'status', 'amount_minor', 'currency', 'invested_on'],
      ...['exited_on', 'lead_id', 'team_ids', 'country', 'description', 'website', 'updated_at'],
    ]);
    assert.equal(deal.lead_id, member.id);
    assert.ok(member.investment_ids.includes(deal.id));
    assert.equal(deal.amount_minor, 480_000_000);
    const { json: sectors } = await service.get('/api/sectors');
    assert.equal(sectors.length, 6);
    for (const sector of sectors) {
      assert.deepEqual(Object.keys(sector), [
        ...[
          'id',
          'slug',
          'name',
          'description',
          'lead_ids',
          'investment_count',
          'total_amount_minor',
          'currency',
        ],
      ]);
      const { json: own } = await service.get(`/api/sectors/${sector.id}/investments?limit=100`);
      assert.equal(own.length, sector.investment_count);
      const sum = own.reduce((total: number, each: { amount_minor: number }) => total + each.amount_minor, 0);
      assert.equal(sum, sector.total_amount_minor);
    }
  });

  test('find people by the beginnings of words, without case and accents', async () => {
    assert.deepEqual(await team('name=muller'), ['zoe-muller']);
    assert.deepEqual(await team('name=M%C3%9CLLER+z'), ['zoe-muller']);
    assert.deepEqual(await team('name=jose+nunez'), ['jose-angel-nunez']);
    assert.deepEqual(await team('name=kjaer'), ['soren-kjaer']);
    assert.deepEqual(await team('name=o%27brien'), ['siobhan-obrien']);
    assert.deepEqual(await team('name=brien'), ['siobhan-obrien']);
    assert.deepEqual(await team('name=anna+berg'), ['anna-berg', 'anna-berg-2']);
    assert.deepEqual(await team('name=uller'), []);
    for (const plain of ['%25', '_', '%25a', 'a_', '%5C']) assert.deepEqual(await team(`name=${plain}`), []);
    assert.deepEqual(await team('role=venture'), ['tomas-o-briain']);
    assert.deepEqual(await team('location=zurich'), ['li-wei']);
    assert.deepEqual(await team('sector=fintech'), ['jose-angel-nunez', 'lucja-wisniewska']);
    assert.deepEqual(await team('sector=financial+tech'), await team('sector=fintech'));
    assert.deepEqual(await team('q=agronomist+uppsala'), ['anna-berg']);
    assert.deepEqual(await team('sector=nothing'), []);
    assert.deepEqual((await service.get('/api/team?unknown=1')).json.length, 12);
  });

  test('find investments by every filter', async () => {
    assert.deepEqual(await deals('name=ostre'), ['ostre-diagnostics']);
    assert.deepEqual(await deals('status=written_off&sector=health'), ['bitterroot-pharma']);
    assert.deepEqual(await deals('country=de'), await deals('country=germany'));
    assert.equal((await deals('stage=series_b')).length, 8);
    assert.deepEqual(await deals('stage=series+b'), await deals('stage=series_b'));
    assert.deepEqual(await deals('min_amount=1100000000&max_amount=1250000000'), [
      'lumen-labs',
      'quayside-pay',
    ]);
    assert.deepEqual(await deals('from=2025-08-01&to=2025-12-31'), ['kettle-crumb', 'berth-ai']);
    const { json: zoe } = await service.get('/api/team/zoe-muller');
    assert.deepEqual((await deals(`team_member=${zoe.id}`)).length, zoe.investment_ids.length);
    assert.deepEqual(await deals('team_member=zoe-muller'), await deals('team_member=m%C3%BCller'));
    assert.deepEqual(await deals('team_member=tomas-o-briain'), []);
  });

  test('come in pages, in a declared order', async () => {
    const first = await service.get('/api/investments?limit=15&status=active');
    assert.equal(first.headers.get('x-total-count'), '30');
    assert.match(
      first.headers.get('link') ?? '',
      /<\/api\/investments\?limit=15&status=active&offset=15>; rel="next"/,
    );
    const second = await service.get('/api/investments?limit=15&status=active&offset=15');
    assert.match(second.headers.get('link') ?? '', /offset=0>; rel="prev"/);
    assert.doesNotMatch(second.headers.get('link') ?? '', /next/);
    const both = [...first.json, ...second.json];
    assert.equal(new Set(both.map(({ id }) => id)).size, 30);
    const days = both.map(({ invested_on }) => invested_on);
    assert.deepEqual(days, days.toSorted().reverse());
    assert.equal((await deals('sort=invested_on'))[0], 'tallyman');
    assert.equal((await deals('sort=name')).at(-1), 'yellow-duck');
    const exits = (await service.get('/api/investments?limit=100&sort=-exited_on')).json;
    assert.equal(exits[0].exited_on, '2025-01-20');
    assert.deepEqual(await team('offset=12'), []);
  });

  test('refuse values that make no sense, and name them', async () => {
    for (const [path, field] of [
      ['/api/team?limit=0', 'limit'],
      ['/api/team?limit=101', 'limit'],
      ['/api/team?limit=ten', 'limit'],
      ['/api/team?offset=-1', 'offset'],
      ['/api/team?sort=bio', 'sort'],
      ['/api/investments?status=lost', 'status'],
      ['/api/investments?from=2025-02-30', 'from'],
      ['/api/investments?min_amount=1.5', 'min_amount'],
      ['/api/investments?min_amount=2&max_amount=1', 'max_amount'],
      ['/api/investments?from=2025-02-02&to=2025-02-01', 'to'],
      ['/api/team?name=%00', 'name'],
      ['/api/team?name=a&name=b', 'name'],
    ] as const) {
      const { fields } = assertError(await service.get(path), 400, 'VALIDATION_FAILED');
      assert.deepEqual(Object.keys(fields), [field], path);
    }
  });

  test('are not sent again where the client has them', async () => {
    for (const path of ['/api/team', '/api/sectors/climate']) {
      const { headers } = await service.get(path);
      const etag = headers.get('etag') ?? '';
      assert.equal(headers.get('cache-control'), 'private, max-age=60');
      const again = await service.get(path, { 'if-none-match': etag });
      assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag]);
      assert.equal((await service.get(path, { 'if-none-match': '"other"' })).status, 200);
    }
  });
});

describe('single items', () => {
  test('are found by id and by slug, with what belongs to them', async () => {
    for (const kind of ['team', 'investments', 'sectors']) {
      const {
        json: [item],
      } = await service.get(`/api/${kind}?limit=1`);
      assert.deepEqual((await service.get(`/api/${kind}/${item.id}`)).json, item);
      assert.deepEqual((await service.get(`/api/${kind}/${item.slug.toUpperCase()}`)).json, item);
      assertError(await service.get(`/api/${kind}/nothing`), 404, 'NOT_FOUND');
    }
    const { json: own } = await service.get('/api/team/soren-kjaer/investments?sort=name&limit=2');
    assert.deepEqual(
      own.map(({ slug }: { slug: string }) => slug),
      ['berth-ai', 'coldchain-oresund'],
    );
    assert.deepEqual((await service.get('/api/team/renee-van-der-meer/investments')).json, []);
    assertError(await service.get('/api/team/nobody/investments'), 404, 'NOT_FOUND');
    assertError(await service.get('/api/sectors/%00/investments'), 400, 'VALIDATION_FAILED');
  });
});

describe('an import', () => {
  const importText = async (text: string, options: { kind?: string; replaces?: boolean } = {}) => {
    const file = join(folder, 'data');
    await writeFile(file, text);
    const { environment, context } = service;
    return importFile({
      environment,
      context,
      file,
      kind: options.kind,
      replaces: options.replaces ?? false,
    });
  };

  test('adds and overwrites by slug, twice with the same result', async () => {
    const text = JSON.stringify({
      sectors: [{ name: 'Space', slug: 'space', lead_ids: ['ines-castro'] }],
      team: [
        { name: 'Inês Castro', sectors: ['space', 'climate'], links: { site: 'https://ines.example' } },
        { name: 'Ines Castro', location: 'Porto' },
      ],
      investments: [
        {
          company: 'Apogee',
          sector: 'space',
          amount_minor: 100,
          invested_on: '2026-01-02',
          lead_id: 'ines-castro',
          team_ids: ['zoe-muller'],
        },
      ],
    });
    assert.deepEqual(await importText(text), { team: 2, investments: 1, sectors: 1 });
    const before = await team('name=ines');
    const { json: apogee } = await service.get('/api/investments/apogee');
    assert.deepEqual(await importText(text), { team: 2, investments: 1, sectors: 1 });
    assert.deepEqual([before, await team('name=ines')], [['ines-castro', 'ines-castro-2'], before]);
    assert.deepEqual((await service.get('/api/investments/apogee')).json, apogee);
    const { json: ines } = await service.get('/api/team/ines-castro');
    assert.deepEqual([ines.sectors, ines.investment_ids], [['space', 'climate'], [apogee.id]]);
    assert.equal(apogee.team_ids[0], ines.id);
    assert.equal((await service.get('/api/sectors/space')).json.total_amount_minor, 100);
  });

  test('takes CSV of one kind', async () => {
    const csv =
      'name,sectors,joined_on,links\n"Berg, Åsa",climate;health,2026-02-01,site=https://a.example/?b=c\n';
    assert.deepEqual(await importText(`\uFEFF${csv}`, { kind: 'team' }), {
      team: 1,
      investments: 0,
      sectors: 0,
    });
    const {
      json: [asa],
    } = await service.get('/api/team?name=asa');
    assert.deepEqual(
      [asa.name, asa.sectors, asa.links],
      ['Berg, Åsa', ['climate', 'health'], { site: 'https://a.example/?b=c' }],
    );
  });

  test('is all or nothing, and names what is wrong', async () => {
    const before = (await service.get('/api/team')).headers.get('x-total-count');
    const good = { name: 'Not Kept' };
    const cases: [string, object, string[]][] = [
      ['unknown', { team: [good, { name: 'X', sectors: ['nope'] }] }, ['team[1].sectors[0]']],
      [
        'malformed',
        { team: [good, { name: ' ', email: 'x', joined_on: '2026-02-30' }] },
        ['team[1].email', 'team[1].joined_on', 'team[1].name'],
      ],
      ['twice', { team: [good, { name: 'A', slug: 'a' }, { name: 'B', slug: 'a' }] }, ['team[2]']],
      [
        'all at once',
        {
          team: [{ id: '01a20688-4df0-768b-8768-b45a679a1649', name: 'Zoe', slug: 'zoe-muller' }],
          investments: [{ company: 'A', sector: 'nope', amount_minor: 1, invested_on: '2026-01-01' }],
          sectors: [{ name: 'B', lead_ids: ['nobody'] }],
        },
        ['investments[0].sector', 'sectors[0].lead_ids[0]', 'team[0].slug'],
      ],
      ['no list', { team: good }, ['team']],
      [
        'amount',
        { investments: [{ company: 'A', sector: 'climate', amount_minor: 1.5, invested_on: '2026-01-01' }] },
        ['investments[0].amount_minor'],
      ],
    ];
    for (const [name, file, fields] of cases) {
      await assert.rejects(importText(JSON.stringify(file)), (error: { fields: object }) => {
        assert.deepEqual(Object.keys(error.fields).sort(), fields, name);
        return true;
      });
    }
    await assert.rejects(importText('name\nX\n'), /needs --kind/);
    await assert.rejects(importText('{'), /not valid JSON/);
    await assert.rejects(importText('{}'), /none of team/);
    await assert.rejects(importText('name\nX\n', { kind: 'people' }), /--kind must be one of/);
    assert.equal((await service.get('/api/team')).headers.get('x-total-count'), before);
  });

  test('can replace everything', async () => {
    await using other = await startPortfolio();
    const file = join(folder, 'replace.json');
    await writeFile(file, JSON.stringify({ team: [{ name: 'Alice' }] }));
    const { environment, context } = other;
    await importFile({ environment, context, file, kind: undefined, replaces: true });
    assert.deepEqual(slugs(await other.get('/api/team')), ['alice']);
    assert.deepEqual((await other.get('/api/sectors')).json, []);
  });
});

test('production starts empty', async () => {
  // On PostgreSQL it shares the database with the others of this file.
  if (process.env.TEST_DATABASE === 'postgres') return;
  await using production = await startPortfolio({ nodeEnv: 'production' });
  assert.deepEqual((await production.get('/api/team')).json, []);
});

test('the page says what this is', async () => {
  const { status, text } = await service.get('/', { accept: 'text/html' });
  assert.equal(status, 200);
  assert.match(text, /<h1>Portfolio<\/h1>[\s\S]*href="\/docs"[\s\S]*\/auth\/token/);
});

function assertError({ status, json }: TestResponse, expected: number, code: string) {
  assert.equal(status, expected, JSON.stringify(json));
  assert.deepEqual(Object.keys(json), ['error']);
  assert.deepEqual(Object.keys(json.error), ['code', 'message', 'fields', 'requestId']);
  assert.equal(json.error.code, code);
  return json.error;
}
