import { request } from 'node:http';

/**
 * Sends the largest bulk there is, 1,000 posts of 10,500 astral characters each, escaped, from a process of its own, so
 * that the service's event loop can be watched meanwhile: `node testing-sender.ts URL TOKEN`. Prints status and answer.
 */
const [url = '', token = ''] = process.argv.slice(2);
const astral = '\\ud83d\\ude00';
const row = `{"title":"${astral.repeat(500)}","body":"${astral.repeat(10_000)}"}`;
const body = Buffer.from(`{"posts":[${Array(1_000).fill(row).join(',')}]}`);

const sent = request(url, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
    'idempotency-key': 'large',
  },
});
sent.on('response', async (response) => {
  process.stdout.write(`${response.statusCode}\n`);
  for await (const chunk of response) process.stdout.write(chunk);
});
sent.end(body);
