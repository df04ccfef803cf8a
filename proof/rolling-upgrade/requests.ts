import assert from 'node:assert/strict';
import { PageClient, sendRequest, type TestRequest, type TestResponse } from '@octavo/testing';

export const password = 'ferries wait in fog';

export interface Sent extends TestRequest {
  /** Status that is promised; 200 by default. */
  readonly is?: number;
}

/** Sends a request, and throws if the response has another status than promised. */
export async function ask(
  url: string,
  path: string,
  { is = 200, ...request }: Sent = {},
): Promise<TestResponse> {
  const response = await sendRequest(`${url}${path}`, request);
  const { status, text } = response;
  assert.equal(status, is, `${request.method ?? ''} ${path}: ${status} ${text.slice(0, 500)}`);
  return response;
}

/** The browser at the other replica: the address changes, cookies and the last page stay. */
export function atReplica(client: PageClient, url: string): PageClient {
  const moved = new PageClient(url);
  for (const [name, value] of client.cookies) moved.cookies.set(name, value);
  moved.token = client.token;
  return moved;
}

/** A text that no other round uses. */
export function unique(word: string): string {
  return `${word}-${count++}-${process.pid}`;
}

let count = 0;
