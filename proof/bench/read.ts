/**
 * `GET /posts/{id}` with token, decision, backend and database. One process beside bare node:http answering the same bytes; three processes
 * beside a bare grpc-js echo between two. Rounds alternate; the median of each counts.
 *
 *   node proof/bench/read.ts [rounds] [seconds]
 */

import { startBareHttp } from './lib/bare-http.ts';
import { report } from './lib/compare.ts';
import { startGateway } from './lib/gateway.ts';
import { grpcEchoCallsPerSecond } from './lib/grpc-echo.ts';
import { offer } from './lib/load.ts';

const rounds = Number(process.argv[2] ?? 3);
const seconds = Number(process.argv[3] ?? 4);
const post = {
  title: 'A post for measuring',
  body: 'It has a body of about the length that posts have. '.repeat(4),
};

await using one = await startGateway('one');
await using three = await startGateway('three');
const oneUrl = await createPost(one);
const threeUrl = await createPost(three);
const answer = await fetch(oneUrl, { headers: one.headers });
using bare = await startBareHttp(await answer.text());

const figures: Record<'floor' | 'one' | 'three' | 'grpc', number[]> = {
  floor: [],
  one: [],
  three: [],
  grpc: [],
};
for (let round = 0; round < rounds; round++) {
  figures.floor.push((await offer({ url: `${bare.url}/`, headers: one.headers, seconds })).perSecond);
  figures.one.push(await measure(oneUrl, one.headers));
  figures.grpc.push(await grpcEchoCallsPerSecond(seconds));
  figures.three.push(await measure(threeUrl, three.headers));
}
const { floor, one: inOne, three: inThree, grpc } = medians();
console.log(`bare node:http          ${floor.toFixed(0).padStart(7)} requests/s`);
console.log(
  `gateway, one process    ${inOne.toFixed(0).padStart(7)} requests/s, ${(inOne / floor).toFixed(2)} of it`,
);
console.log(`grpc-js echo            ${grpc.toFixed(0).padStart(7)} calls/s`);
console.log(
  `gateway, three processes${inThree.toFixed(0).padStart(7)} requests/s, ${(inThree / grpc).toFixed(2)} of it`,
);
report('Posts: GET /posts/{id}, one process', { ours: inOne, 'bare node:http, same bytes': floor });
report('Posts: GET /posts/{id}, three processes', { ours: inThree, 'bare grpc-js echo': grpc });

async function createPost(gateway: { url: string; headers: { authorization: string } }): Promise<string> {
  const response = await fetch(`${gateway.url}/api/v1/posts`, {
    method: 'POST',
    headers: { ...gateway.headers, 'content-type': 'application/json' },
    body: JSON.stringify(post),
  });
  const { data } = (await response.json()) as { data: { id: number } };
  return `${gateway.url}/api/v1/posts/${data.id}`;
}

async function measure(url: string, headers: Record<string, string>): Promise<number> {
  const { perSecond, failures } = await offer({ url, headers, seconds });
  if (failures > 0) throw new Error(`${failures} requests to ${url} failed`);
  return perSecond;
}

function medians() {
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  return {
    floor: middle(figures.floor),
    one: middle(figures.one),
    three: middle(figures.three),
    grpc: middle(figures.grpc),
  };
}
