import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkConnections } from './engines.ts';

test('processes that may take more connections than PostgreSQL has are told to raise or to lower them', () => {
  assert.equal(checkConnections({ each: 12, processes: 0, most: 97 }), 'it has connections for 8 processes');
  checkConnections({ each: 12, processes: 8, most: 97 });
  assert.throws(
    () => checkConnections({ each: 12, processes: 9, most: 97 }),
    /9 processes are connected, and each takes up to 12 connections, .* lets 97 in; raise max_connections .*lower DATABASE_CONNECTIONS/,
  );
  assert.throws(() => checkConnections({ each: 12, processes: 0, most: 11 }), /A process takes up to 12/);
});
