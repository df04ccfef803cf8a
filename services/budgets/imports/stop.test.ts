import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { bearer, until } from '@octavo/testing';
import { startBudgets } from '../testing.ts';

const beginning = (budgetId: string) =>
  `--x\r\nContent-Disposition: form-data; name="budgetId"\r\n\r\n${budgetId}\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nspentOn,description,amount\n`;

test('a service that stops goes on to receive an upload in flight', async () => {
  const app = await startBudgets();
  const alice = await app.person('alice');
  const { id } = await alice.create('/api/budgets', { name: 'Bank', limit: 100 });
  const sent: ClientRequest = request(`${app.url}/api/import`, {
    method: 'POST',
    headers: {
      ...bearer(alice.token),
      'content-type': 'multipart/form-data; boundary=x',
      expect: '100-continue',
    },
  });
  const answered = once(sent, 'response');
  sent.flushHeaders();
  await once(sent, 'continue');
  sent.write(beginning(id));
  const stopped = app[Symbol.asyncDispose]();
  await until(
    async () =>
      !(await fetch(app.url).then(
        () => true,
        () => false,
      )),
  );
  sent.end('2026-01-02,Tea,4.20\n\r\n--x--\r\n');
  const [response] = (await answered) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 202);
  await stopped;
});
