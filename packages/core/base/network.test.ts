import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFromThisMachine, isLoopback, networkOf } from './network.ts';

const cases: [address: string, network: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['0000:0000::ffff:c000:0207', '192.0.2.7'],
  ['::fffe:c000:207', '0:0:0:0'],
  ['::ffff:0:c000:207', '0:0:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:0:1::', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['', ''],
  ['unix:', 'unix:'],
];

for (const [address, network] of cases) {
  test(`${address || 'no address'} belongs to ${network || 'none'}`, () => {
    assert.equal(networkOf(address), network);
  });
}

test('only loopback addresses are loopback', () => {
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1']) assert.ok(isLoopback(host), host);
  for (const host of ['0.0.0.0', '::', '127.0.0.1.example.org', '127.1', '10.0.0.1', '']) {
    assert.ok(!isLoopback(host), host);
  }
});

test('a Host header names a loopback address with or without a port', () => {
  for (const host of ['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '[::1]', '[::1]:3000']) {
    assert.ok(isFromThisMachine({ host }), host);
  }
  for (const host of ['', 'evil.example', 'localhost.evil.example:3000', 'evil@localhost', '::1'])
    assert.ok(!isFromThisMachine({ host }), host);
  assert.ok(!isFromThisMachine({}));
});

test('a request that a proxy has marked is not from this machine', () => {
  const host = 'localhost:3000';
  for (const name of [
    'forwarded',
    'via',
    'x-real-ip',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-any',
  ])
    assert.ok(!isFromThisMachine({ host, [name]: '' }), name);
  assert.ok(isFromThisMachine({ host, 'x-forward': '1', viaduct: '1' }));
});
