import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type TSchema, Type } from '@octavo/core';
import fc from 'fast-check';
import { compileValidator } from './validator.ts';

const Note = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 5, format: 'text' }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  kind: Type.Optional(Type.Enum(['plain', 'rich'])),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 3 }), { maxItems: 2 })),
});

/** Every problem of a value by the name of its field; empty if it is valid. */
function problemsBy(schema: TSchema, rootName?: string) {
  const validate = compileValidator(schema, rootName);
  return (value: unknown) => validate(value).fields;
}

describe('a validator', () => {
  test('accepts a value that matches', () => {
    const validate = problemsBy(Note);
    assert.equal(validate({ title: 'abc', count: 10, kind: 'rich', tags: ['a', 'b'], other: 1 }), undefined);
    assert.equal(validate({ title: 'abc' }), undefined);
  });

  test('accepts times that exist', () => {
    const validate = problemsBy(Type.Object({ at: Type.String({ format: 'date-time' }) }));
    for (const at of ['2026-01-31T12:00:00Z', '2024-02-29T23:59:59.123456789+14:00'])
      assert.equal(validate({ at }), undefined, at);
    for (const at of [
      ...['2026-02-30T12:00:00Z', '2026-02-29T12:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T12:60:00Z'],
      ...['2026-01-31', '2026-01-31T12:00Z', '2026-01-31 12:00:00Z', '2026-01-31T12:00:00', 'now'],
    ])
      assert.deepEqual(validate({ at }), { at: 'must be a time such as 2026-01-31T12:00:00Z' }, at);
  });

  test('names every problem as the sender wrote it', () => {
    const Bulk = Type.Object({ posts: Type.Array(Note), owner: Type.Object({ name: Type.String() }) });
    const posts = [{ title: 'ok' }, { title: 'too long', count: 0, kind: 'x', tags: ['long', 'a'] }, {}, 7];
    assert.deepEqual(problemsBy(Bulk)({ posts, owner: { name: null } }), {
      'posts[1].title': 'must be at most 5 characters',
      'posts[1].count': 'must be at least 1',
      'posts[1].kind': 'must be one of plain, rich',
      'posts[1].tags[0]': 'must be at most 3 characters',
      'posts[2].title': 'is required',
      'posts[3]': 'must be an object',
      'owner.name': 'must be a string',
    });
  });

  test('coerces nothing', () => {
    const validate = problemsBy(
      Type.Object({
        text: Type.String(),
        whole: Type.Integer(),
        yes: Type.Boolean(),
        list: Type.Array(Type.Null()),
      }),
    );
    assert.deepEqual(validate({ text: 1, whole: '1', yes: 'true', list: {} }), {
      text: 'must be a string',
      whole: 'must be a whole number',
      yes: 'must be true or false',
      list: 'must be an array',
    });
    assert.deepEqual(validate({ text: null, whole: 1.5, yes: 1, list: [0] }), {
      text: 'must be a string',
      whole: 'must be a whole number',
      yes: 'must be true or false',
      'list[0]': 'must be null',
    });
  });

  test('names the whole value where that is at fault', () => {
    assert.deepEqual(problemsBy(Note)(null), { '': 'must be an object' });
    assert.deepEqual(problemsBy(Note, 'post')([]), { post: 'must be an object' });
  });

  test('counts text in code points', () => {
    const validate = problemsBy(Type.Object({ text: Type.String({ minLength: 2, maxLength: 3 }) }));
    assert.equal(validate({ text: '🎉🎉🎉' }), undefined);
    assert.deepEqual(validate({ text: '🎉🎉🎉🎉' }), { text: 'must be at most 3 characters' });
    assert.deepEqual(validate({ text: '🎉' }), { text: 'must be at least 2 characters' });
    // One letter to the eye, four code points.
    assert.deepEqual(validate({ text: 'e\u0301\u0302\u0303' }), { text: 'must be at most 3 characters' });
  });

  test('counts any text in code points', () => {
    const grapheme = fc.string({ unit: 'binary', maxLength: 12 });
    const units = fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 12 });
    const any = fc.oneof(
      grapheme,
      units.map((codes) => String.fromCharCode(...codes)),
    );
    fc.assert(
      fc.property(any, fc.nat(12), fc.nat(12), (text, minLength, maxLength) => {
        const fits = problemsBy(Type.String({ minLength, maxLength }))(text) === undefined;
        const length = [...text].length;
        assert.equal(fits, length >= minLength && length <= maxLength);
      }),
    );
  });

  test('takes only text that every database can hold', () => {
    const validate = problemsBy(Type.String({ format: 'text' }), 'text');
    assert.equal(validate('🎉 ünï \ufffe'), undefined);
    const problem = { text: 'must be well-formed Unicode without U+0000' };
    for (const bad of ['\ud800', 'a\udc00b', '\udc00\ud800', 'a\u0000b'])
      assert.deepEqual(validate(bad), problem);
  });

  test('describes a pattern in the words of its author', () => {
    const validate = problemsBy(
      Type.String({ pattern: '\\S', 'x-problem': 'must not be blank' } as { pattern: string }),
      'text',
    );
    assert.equal(validate(' a '), undefined);
    assert.deepEqual(validate(' \n\u00a0'), { text: 'must not be blank' });
  });

  test('refuses numbers that a double does not hold', () => {
    const validate = problemsBy(Type.Object({ id: Type.Integer({ minimum: 1 }), share: Type.Number() }));
    assert.equal(validate({ id: Number.MAX_SAFE_INTEGER, share: 0.5 }), undefined);
    assert.deepEqual(validate(JSON.parse('{"id":9007199254740992,"share":1e999}')), {
      id: `must be at most ${Number.MAX_SAFE_INTEGER}`,
      share: 'must be a number in range',
    });
  });

  test('reports the problems of the other form of a nullable value', () => {
    const validate = problemsBy(
      Type.Object({ at: Type.Union([Type.String({ maxLength: 2 }), Type.Null()]) }),
    );
    assert.equal(validate({ at: null }), undefined);
    assert.deepEqual(validate({ at: 'abc' }), { at: 'must be at most 2 characters' });
    const either = problemsBy(Type.Object({ id: Type.Union([Type.String(), Type.Integer()]) }));
    assert.deepEqual(either({ id: true }), { id: 'does not have a permitted form' });
  });

  test('treats keys that every object inherits as absent', () => {
    const validate = problemsBy(Type.Object({ toString: Type.String(), constructor: Type.String() }));
    assert.deepEqual(validate({}), { toString: 'is required', constructor: 'is required' });
  });

  test('throws for a schema with an unknown keyword or format', () => {
    assert.throws(() => problemsBy(Type.String({ format: 'email' }))(''), /format "email"/);
    assert.throws(() => problemsBy(Type.Object({}, { minProps: 1 }))({}), /unknown keyword: "minProps"/);
  });
});

describe('a value that matches', () => {
  test('drops what the schema does not name, at every depth', () => {
    const validate = compileValidator(
      Type.Object({ a: Type.Object({ b: Type.Integer() }), list: Type.Array(Note) }),
    );
    const given = JSON.parse(
      '{"a":{"b":1,"c":2,"__proto__":{"x":1}},"list":[{"title":"t","id":9}],"__proto__":{}}',
    );
    assert.deepEqual(validate(given), { value: { a: { b: 1 }, list: [{ title: 't' }] } });
  });

  test('fills in defaults, and keeps what it is given', () => {
    const validate = compileValidator(
      Type.Object({ size: Type.Integer({ default: 20 }), any: Type.Unknown() }),
    );
    assert.deepEqual(validate({ any: { deep: ['1'] } }), { value: { size: 20, any: { deep: ['1'] } } });
    assert.deepEqual(validate({ size: 5, any: 0 }), { value: { size: 5, any: 0 } });
  });

  test('keeps every key of a record', () => {
    const validate = compileValidator(Type.Record(Type.String(), Type.Integer()));
    const { value } = validate(JSON.parse('{"a":1,"constructor":2}')) as { value: object };
    assert.deepEqual(Object.entries(value), [
      ['a', 1],
      ['constructor', 2],
    ]);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.deepEqual(validate({ 'x y': 'z' }), { fields: { 'x y': 'must be a whole number' } });
  });

  test('matches again after it was validated', () => {
    const validate = compileValidator(Note);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reading = validate(value);
        if (reading.fields) assert.notDeepEqual(reading.fields, {});
        else assert.deepEqual(validate(reading.value), { value: reading.value });
      }),
    );
  });
});
