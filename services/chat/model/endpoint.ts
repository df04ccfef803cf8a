import { setTimeout as sleep } from 'node:timers/promises';
import { boundedFetch } from '@octavo/core';
import { NoModelAnswer } from './failure.ts';

/** A busy server is asked again once, if it says when within this time. */
const waitMaxMs = 10_000;

/**
 * A `fetch` for the requests of one answer. It waits once as `Retry-After` says, and takes the whole answer of a server that does not
 * stream. Throws {@link NoModelAnswer} for a page in the place of an answer.
 */
export function modelFetch(responseBytesMax: number): typeof fetch {
  const get = boundedFetch(responseBytesMax);
  let hasWaited = false;
  return async (input, init) => {
    const response = await get(input, init);
    const waitMs = hasWaited ? undefined : retryAfterMs(response);
    if (waitMs === undefined) return asStream(response);
    hasWaited = true;
    await response.body?.cancel();
    await sleep(waitMs, undefined, { signal: init?.signal ?? undefined });
    return asStream(await get(input, init));
  };
}

/** Time to wait for a server that is busy; undefined if it does not say, or longer than {@link waitMaxMs}. */
function retryAfterMs({ status, headers }: Response): number | undefined {
  const given = headers.get('retry-after');
  if (given === null || (status !== 429 && status !== 503)) return undefined;
  const ms = /^\d+$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - Date.now();
  return ms <= waitMaxMs ? Math.max(0, ms) : undefined;
}

/** A whole answer as a stream of one event; any other response as it is. */
async function asStream(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok) return response;
  if (type.startsWith('text/html')) {
    await response.body?.cancel();
    throw new NoModelAnswer('address', 'a web page answers at this address');
  }
  if (!type.startsWith('application/json')) return response;
  const body = (await response.json()) as WholeAnswer;
  const choices = body.choices?.map(({ message, ...choice }) => ({ ...choice, delta: deltaOf(message) }));
  const events = `data: ${JSON.stringify({ ...body, ...(choices && { choices }) })}\n\ndata: [DONE]\n\n`;
  return new Response(events, { headers: { 'content-type': 'text/event-stream' } });
}

interface WholeAnswer {
  readonly choices?: readonly { readonly message?: WholeMessage }[];
}

interface WholeMessage {
  readonly tool_calls?: readonly object[] | null;
}

/** Calls of tools have a place in a stream. */
function deltaOf(message: WholeMessage = {}): WholeMessage {
  const calls = message.tool_calls?.map((call, index) => ({ index, ...call }));
  return { ...message, ...(calls && { tool_calls: calls }) };
}
