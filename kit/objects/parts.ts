/** The same bytes in pieces of exactly `partBytes`, but for the last, which has the rest. Of nothing there is no piece. */
export async function* inParts(
  content: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  for await (const bytes of content) {
    let start = 0;
    while (waitingBytes + bytes.length - start >= partBytes) {
      const end = start + partBytes - waitingBytes;
      yield Buffer.concat([...waiting, bytes.subarray(start, end)]);
      waiting = [];
      waitingBytes = 0;
      start = end;
    }
    if (start === bytes.length) continue;
    waiting.push(bytes.subarray(start));
    waitingBytes += bytes.length - start;
  }
  if (waitingBytes > 0) yield Buffer.concat(waiting);
}
