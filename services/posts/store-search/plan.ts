import type { Plan } from './build.ts';
import { endOf, type Segment } from './segments.ts';

/**
 * How many ids a segment covers, each a multiple of the one before: small ones are quick to make, and become one as soon
 * as they fill a larger one. A place has 16 bits.
 */
export type Spans = readonly [number, ...number[]];

export const usualSpans = [2_048, 16_384, 65_536] as const satisfies Spans;

/** So much text is held in memory at once to make a segment of it. */
const charactersMax = 8_000_000;

/** More posts than these that have changed since they were indexed make searching slow. */
const staleMax = 1_000;

/** The next segment to make, if any. */
export function planSegment(state: {
  segments: readonly Segment[];
  lastId: number;
  stale: readonly number[];
  /** Of title and body together. */
  averageCharacters: number;
  spans: Spans;
}): Plan | undefined {
  const { segments, stale, spans } = state;
  return mergeOf(segments, spans) ?? nextOf(state) ?? renewalOf(segments, stale);
}

function mergeOf(segments: readonly Segment[], spans: Spans): Plan | undefined {
  for (const span of spans.slice(1)) {
    for (const { firstId } of segments) {
      if (firstId % span !== 0) continue;
      const parts = segments.filter((part) => part.firstId >= firstId && part.firstId < firstId + span);
      const covered = parts.reduce((sum, part) => sum + part.span, 0);
      if (parts.length > 1 && covered === span) return { firstId, span, parts };
    }
  }
  return undefined;
}

/** Only a range whose ids are all given away: no post comes to it any more. Where many wait, a larger one at once. */
function nextOf(state: Parameters<typeof planSegment>[0]): Plan | undefined {
  const { segments, lastId, averageCharacters, spans } = state;
  const firstId = endOf(segments);
  const fits = (span: number) => firstId % span === 0 && span * averageCharacters <= charactersMax;
  const [least, ...larger] = spans;
  const span = [...larger.filter(fits).reverse(), least].find((one) => firstId + one - 1 <= lastId);
  return span === undefined ? undefined : { firstId, span, parts: [] };
}

/** The segment with the most changed posts is made anew when there are many in all. */
function renewalOf(segments: readonly Segment[], stale: readonly number[]): Plan | undefined {
  const indexed = stale.filter((id) => id < endOf(segments));
  if (indexed.length <= staleMax) return undefined;
  const changed = (part: Segment) =>
    indexed.filter((id) => id >= part.firstId && id < part.firstId + part.span).length;
  const [worst] = segments.toSorted((a, b) => changed(b) - changed(a));
  return worst && { firstId: worst.firstId, span: worst.span, parts: [worst] };
}
