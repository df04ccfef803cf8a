import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelled, Type } from '@octavo/core';
import { serializerFields } from '@octavo/drf';
import { adminFields } from './entity-fields.ts';

const fields = {
  title: Type.String({ label: 'Title', maxLength: 5, description: 'In a few words.' }),
  note: Type.Optional(Type.String({ label: 'Note', minLength: 0, maxLength: 2_000 })),
  closes: Type.Optional(Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { label: 'Closes' })),
  mode: Type.Optional(labelled({ a: 'Always', n: 'Never' }, { label: 'Mode' })),
  isOpen: Type.Optional(Type.Boolean({ label: 'Open', default: false })),
  places: Type.Integer({ label: 'Places', minimum: 1, maximum: 9 }),
};

test('the admin takes kinds, limits and words from the fields of an entity', () => {
  const { title, note, closes, mode, isOpen, places } = adminFields(fields, { closes: { initial: 'x' } });
  assert.deepEqual([title.label, title.help, title.isRequired], ['Title', 'In a few words.', true]);
  assert.deepEqual(title.parse('123456'), { problem: 'must be at most 5 characters' });
  assert.deepEqual([note.control.type, note.parse('')], ['textarea', { value: '' }]);
  assert.deepEqual([closes.parse(''), closes.initial(0)], [{ value: null }, 'x']);
  assert.deepEqual(closes.parse('2026-01-31T12:00'), { value: '2026-01-31T12:00:00.000000Z' });
  assert.deepEqual([mode.initial(0), mode.show?.('n')], ['a', 'Never']);
  assert.deepEqual([isOpen.control.type, isOpen.initial(0)], ['flag', 0]);
  assert.deepEqual(places.parse('10'), { problem: 'must be at most 9' });
});

test('so does a serializer', async () => {
  const { title, note, closes, mode, isOpen, places } = serializerFields(fields);
  assert.deepEqual(title.schema, {
    type: 'string',
    minLength: 1,
    maxLength: 5,
    description: 'In a few words.',
  });
  const required = { title, note, closes, mode, isOpen, places };
  assert.deepEqual(
    Object.entries(required)
      .filter(([, field]) => field.isRequired)
      .map(([name]) => name),
    ['title', 'places'],
  );
  assert.equal(await note.read(' '), '');
  assert.deepEqual([closes.isNullable, closes.schema.anyOf !== undefined], [true, true]);
  assert.deepEqual(mode.schema, { type: 'string', enum: ['a', 'n'] });
  assert.throws(() => places.read(10), /less than or equal to 9/);
  assert.equal(await isOpen.read('yes'), true);
});
