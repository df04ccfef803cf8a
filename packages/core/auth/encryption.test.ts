import assert from 'node:assert/strict';
import { createCipheriv, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Encryption } from './encryption.ts';

const [key, older, other] = [randomBytes(32), randomBytes(32), randomBytes(32)];

test('bytes and text come back with their key and at their place only', () => {
  const encryption = new Encryption([key, older]);
  const encrypted = encryption.encrypt('ferries 😀', '7:secret');
  assert.notEqual(encryption.encrypt('ferries 😀', '7:secret'), encrypted);
  assert.equal(encryption.decryptText(encrypted, '7:secret'), 'ferries 😀');
  assert.deepEqual(encryption.decrypt(encryption.encrypt(Buffer.of(0, 255), 'x'), 'x'), Buffer.of(0, 255));
  assert.equal(encryption.decrypt(encrypted, '8:secret'), undefined);
  assert.equal(new Encryption([other]).decrypt(encrypted, '7:secret'), undefined);
  for (const broken of ['', 'x', encrypted.slice(0, -4), `${encrypted.slice(0, -4)}AAAA`]) {
    assert.equal(encryption.decrypt(broken, '7:secret'), undefined, broken);
  }
});

test('what an older key encrypted is still read', () => {
  const before = new Encryption([older]).encrypt('kept', 'x');
  assert.equal(new Encryption([key, older]).decryptText(before, 'x'), 'kept');
});

test('the form is nonce, content and tag of AES-256-GCM, as stored by earlier versions', () => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('7'));
  const bytes = Buffer.concat([nonce, cipher.update('kept'), cipher.final(), cipher.getAuthTag()]);
  assert.equal(new Encryption([key]).decryptText(bytes.toString('base64url'), '7'), 'kept');
});
