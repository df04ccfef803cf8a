import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as TypeBox from 'typebox';
import { Type, withoutLabels } from './schema.ts';

const builds: Record<string, (builders: typeof Type) => TypeBox.TSchema> = {
  'plain values': (t) =>
    t.Object({
      text: t.String({ minLength: 1, maxLength: 9, format: 'text', 'x-problem': 'must be good' }),
      whole: t.Integer({ minimum: 0, default: 7 }),
      share: t.Number({ exclusiveMaximum: 1 }),
      open: t.Boolean({ description: 'Whether it is open' }),
      nothing: t.Null(),
      any: t.Unknown({ examples: [1] }),
    }),
  'literals and choices': (t) =>
    t.Object({
      word: t.Literal('ok'),
      number: t.Literal(200),
      flag: t.Literal(true, { description: 'Always' }),
      choice: t.Enum(['a', 'b'], { default: 'a' }),
      either: t.Union([t.String(), t.Null()], { description: 'Or none' }),
    }),
  'objects with and without required properties': (t) =>
    t.Array(
      t.Object(
        { needed: t.String(), spare: t.Optional(t.String({ maxLength: 3 })) },
        { additionalProperties: false, title: 'One' },
      ),
      { minItems: 1, uniqueItems: true },
    ),
  'objects of optional properties alone': (t) => t.Object({ spare: t.Optional(t.Array(t.Integer())) }),
  'objects without properties': (t) => t.Object({}),
  records: (t) => t.Record(t.String(), t.Integer({ minimum: 0 })),
};

for (const [name, build] of Object.entries(builds)) {
  test(`writes what TypeBox writes: ${name}`, () => {
    const [ours, theirs] = [build(Type), build(TypeBox.Type)];
    assert.deepEqual(ours, theirs);
    assert.equal(JSON.stringify(ours), JSON.stringify(theirs));
  });
}

test('a schema that is made optional stays what it was where it is used by itself', () => {
  const name = Type.String();
  assert.deepEqual(
    Type.Object({ name: Type.Optional(name) }),
    TypeBox.Type.Object({ name: TypeBox.Type.Optional(name) }),
  );
  assert.deepEqual(Type.Object({ name }), TypeBox.Type.Object({ name }));
});

test('fields without labels are as optional as before', () => {
  const fields = {
    name: Type.String({ label: 'Name' }),
    role: Type.Optional(Type.String({ label: 'Role' })),
  };
  assert.deepEqual(Type.Object(withoutLabels(fields)), {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, role: { type: 'string' } },
  });
});
