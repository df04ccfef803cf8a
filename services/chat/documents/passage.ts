import type { Span } from '@octavo/documents';

/**
 * The place of a passage in the text of a document that may have been read again since it was quoted: where it was, else the place of the same
 * words nearest to that. Undefined if they are gone.
 */
export function placeOf(text: string, { start, end }: Span, quote: string): Span | undefined {
  if (text.slice(start, end) === quote) return { start, end };
  const words = quote.match(/[\p{L}\p{N}]+/gu);
  if (!words) return undefined;
  const pattern = new RegExp(words.join('[^\\p{L}\\p{N}]+'), 'gu');
  let nearest: Span | undefined;
  for (const { index, 0: found } of text.matchAll(pattern)) {
    if (nearest && Math.abs(nearest.start - start) <= Math.abs(index - start)) break;
    nearest = { start: index, end: index + found.length };
  }
  return nearest;
}
