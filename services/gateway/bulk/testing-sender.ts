import { request } from 'node:http';

/**
 * Sends the largest possible bulk request, 1,000 posts of 10,500 escaped astral characters, from a separate process, so
 * that a test can observe the service meanwhile: `node testing-sender.ts URL TOKEN`. Prints the status and the response.
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
