import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeEmail } from './email.ts';

test('all spellings of an address are normalized', () => {
  assert.equal(normalizeEmail('  Alice.B+news@Example.COM '), 'alice.b+news@example.com');
  assert.equal(normalizeEmail('bob@bücher.example'), 'bob@xn--bcher-kva.example');
  assert.equal(normalizeEmail("o'neil@mail.example.org"), "o'neil@mail.example.org");
});

test('invalid addresses are rejected', () => {
  const bad = [
    '',
    'alice',
    '@example.com',
    'alice@',
    'alice@@example.com',
    'a@b@example.com',
    'alice@localhost',
    'alice@192.168.0.1',
    '.alice@example.com',
    'alice.@example.com',
    'al..ice@example.com',
    'al ice@example.com',
    '"alice"@example.com',
    'alice,bob@example.com',
    'alice@exa_mple.com',
    'alice@-example.com',
    'alice@example..com',
    'alice@example.com.',
    'alice<b@example.com',
    'alice@example.com\r\nBcc: eve@example.com',
    '\u212Aelvin@example.com',
    'ali\u0000ce@example.com',
    `${'a'.repeat(65)}@example.com`,
    `alice@${'a'.repeat(64)}.com`,
    `alice@${'abcdefgh.'.repeat(30)}com`,
    'alice@example.com/x',
    'alice@exam%70le.com',
  ];
  for (const text of bad) assert.equal(normalizeEmail(text), undefined, JSON.stringify(text));
});
