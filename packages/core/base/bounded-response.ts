/**
 * A response of `fetch` whose body fails after that many bytes, as they are after decompression, so that reading it whole cannot
 * fill the memory. The rest is not read.
 */
export function withinBytes(response: Response, bytesMax: number): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  let size = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      size += piece.length;
      if (size > bytesMax) controller.error(new ResponseTooLarge(bytesMax));
      else controller.enqueue(piece);
    },
  });
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/**
 * A `fetch` for libraries, whose responses are {@link withinBytes}. A redirect is an error unless the library says otherwise: a server that
 * is set does not decide where keys and questions are sent.
 */
export function boundedFetch(bytesMax: number): typeof fetch {
  return async (input, init) => withinBytes(await fetch(input, { redirect: 'error', ...init }), bytesMax);
}

/** A server sent more than it may. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';

  constructor(bytesMax: number) {
    super(`a response of more than ${bytesMax} bytes`);
  }
}
