import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchemaNames } from './schema-names.ts';

const names = new SchemaNames('shop', ['item', 'order', 'Ü "x"'], { keepsNames: true });
const inFull = (sql: string) => names.inFull({ sql, parameters: [], writes: false }).sql;

test('tables are named in full wherever a statement has them', () => {
  for (const [given, expected] of [
    [
      'select item.id, i.item from item as i, "order" where "order".item = 1',
      'select item.id, i.item from "shop".item as i, "shop"."order" where "order".item = 1',
    ],
    [
      'SELECT * FROM item JOIN item b ON b.id = item.id, item c',
      'SELECT * FROM "shop".item JOIN "shop".item b ON b.id = item.id, "shop".item c',
    ],
    [
      'insert into item (id, item) select 1, item from (select item from item) as item',
      'insert into "shop".item (id, item) select 1, item from (select item from "shop".item) as item',
    ],
    [
      'insert into item values (1) on conflict (item) do update set item = excluded.item returning item',
      'insert into "shop".item values (1) on conflict (item) do update set item = excluded.item returning item',
    ],
    [
      'update item set item = b.item, n = 2 from "order" b where exists (select from item)',
      'update "shop".item set item = b.item, n = 2 from "shop"."order" b where exists (select from "shop".item)',
    ],
    [
      'delete from only item using "order", item b where true',
      'delete from only "shop".item using "shop"."order", "shop".item b where true',
    ],
    [
      'select 1 from item join "order" using (item, n) for no key update of item',
      'select 1 from "shop".item join "shop"."order" using (item, n) for no key update of item',
    ],
    ['select 1 from item for update', 'select 1 from "shop".item for update'],
    [
      'select a is not distinct from item, extract(epoch from now()) from (item cross join lateral (select 1 from item) x)',
      'select a is not distinct from item, extract(epoch from now()) from ("shop".item cross join lateral (select 1 from "shop".item) x)',
    ],
    [
      'with recursive item (n) as (select 1 from "order") select n from item',
      'with recursive item (n) as (select 1 from "shop"."order") select n from item',
    ],
    [
      "select 'from item' -- from item\n from /* from item */ item",
      'select \'from item\' -- from item\n from /* from item */ "shop".item',
    ],
    [
      'select 1 from pg_class, public.item, "Ü ""x"""',
      'select 1 from pg_class, public.item, "shop"."Ü ""x"""',
    ],
  ] as const)
    assert.equal(inFull(given), expected);
});

test('a statement that stays prepared has another name in each schema, and none where none is kept', () => {
  const query = { sql: 'select 1 from item', parameters: [], writes: false, name: 'n' };
  const other = new SchemaNames('other', ['item'], { keepsNames: true });
  const unnamed = new SchemaNames('shop', ['item'], { keepsNames: false });
  assert.notEqual(names.inFull(query).name, other.inFull(query).name);
  assert.equal(names.inFull(query).name, names.inFull(query).name);
  assert.equal('name' in unnamed.inFull(query), false);
});
