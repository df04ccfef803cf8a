import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from '@octavo/core';
import { compileTextValidator, parseQuery } from './text-parameters.ts';

const validate = compileTextValidator(
  Type.Object({
    page: Type.Integer({ minimum: 1, default: 1 }),
    share: Type.Optional(Type.Number()),
    open: Type.Optional(Type.Boolean()),
    search: Type.Optional(Type.String()),
    tag: Type.Optional(Type.Array(Type.Integer())),
  }),
);

test('parameters are parsed by their declared types', () => {
  const texts = { page: '7', share: '-0.5', open: 'false', search: '12', tag: ['1', '2'], other: 'x' };
  assert.deepEqual(validate(texts), {
    value: { page: 7, share: -0.5, open: false, search: '12', tag: [1, 2] },
  });
  assert.deepEqual(validate({ tag: '3' }), { value: { page: 1, tag: [3] } });
});

test('whole numbers are digits and nothing else', () => {
  for (const page of ['', ' 1', '1 ', '+1', '1.0', '1e3', '0x10', 'one', '1,2']) {
    assert.deepEqual(validate({ page }), { fields: { page: 'must be a whole number' } }, page);
  }
  assert.deepEqual(validate({ page: '0' }), { fields: { page: 'must be at least 1' } });
  assert.deepEqual(validate({ page: '-3' }), { fields: { page: 'must be at least 1' } });
  assert.deepEqual(validate({ page: '9007199254740992' }), {
    fields: { page: 'must be at most 9007199254740991' },
  });
});

test('a number beyond x-clamp becomes that bound', () => {
  const size = Type.Integer({ minimum: 1, 'x-clamp': 100 } as { minimum: number });
  const validateSize = compileTextValidator(Type.Object({ size }));
  for (const text of ['101', '9007199254740993', '9'.repeat(400)]) {
    assert.deepEqual(validateSize({ size: text }), { value: { size: 100 } }, text);
  }
  assert.deepEqual(validateSize({ size: '99' }), { value: { size: 99 } });
  assert.deepEqual(validateSize({ size: '-101' }), { fields: { size: 'must be at least 1' } });
});

test('a query is decoded once, and names what cannot be decoded', () => {
  assert.deepEqual(
    { ...parseQuery('a=1&a=2&b=x+y%2520&c&=d&%C3%BC=%F0%9F%99%82') },
    {
      a: ['1', '2'],
      b: 'x y%20',
      c: '',
      '': 'd',
      ü: '🙂',
    },
  );
  for (const bad of ['%ff', '%ed%a0%80', '%zz', '%', 'a%', '%c3%28']) {
    assert.deepEqual(
      validate(parseQuery(`page=2&search=${bad}&tag=1&tag=${bad}`)),
      { fields: { search: 'must be percent-encoded UTF-8', tag: 'must be percent-encoded UTF-8' } },
      bad,
    );
  }
});

test('a parameter given twice is a problem like any other', () => {
  assert.deepEqual(validate({ page: ['1', '2'], open: 'yes', tag: ['1', 'x'] }), {
    fields: {
      page: 'must be given only once',
      open: 'must be true or false',
      'tag[1]': 'must be a whole number',
    },
  });
});
