import { termsOf } from '@octavo/data/terms';
import { sentencesOf } from '@octavo/documents';
import {
  type ApiCitation,
  type Citation,
  type DocumentCitation,
  type Language,
  languageOf,
  type Ranked,
} from '@octavo/reader';
import { isCommonWord } from '@octavo/reader/questions';
import type { ToolCalls } from '../tools/index.ts';

/** At least this part of a sentence's words must be in a source. */
const supportMin = 0.5;
/** A marker on a sentence that has almost nothing of its source is no citation. */
const citationMin = 0.2;
/** A sentence of fewer telling words gets no marker that the model did not write. */
const citedStemsMin = 2;
/** Sentences of nothing but these words state nothing, such as "Sure, here is the answer:". */
const politeStems = new Set(
  termsOf(
    'answer answers question questions sure yes no ok okay hello hi thanks thank welcome sorry help hope glad happy following summary short source sources document documents ask let understand',
  ).map(({ stem }) => stem),
);

export interface Checked {
  readonly citations: readonly Citation[];
  /** Share of the sentences that state something which sources support, 0 if there are none. */
  readonly supported: number;
  /** The sentences that no source supports. */
  readonly unsupported: readonly { readonly start: number; readonly end: number }[];
  /** True if sources are in another language, so that only their numbers were compared. */
  readonly isTranslated: boolean;
}

/** Checks each sentence of an answer against the sources that its markers name. */
export function checkSupport(text: string, ranked: readonly Ranked[], calls: ToolCalls | undefined): Checked {
  const language = languageOf(text);
  let isTranslated = false;
  const citations: Citation[] = [];
  const unsupported: { start: number; end: number }[] = [];
  let stating = 0;
  const apiSteps = calls?.trace.filter(({ status }) => status === 'ok').map(({ step }) => step) ?? [];
  for (const claim of claimsOf(text)) {
    const { start, end, markers } = claim;
    const stems = stemsOf(claim.text);
    const range = { answer_start: start, answer_end: end };
    let best = 0;
    for (const marker of new Set(markers)) {
      const source = marker.startsWith('A') ? undefined : ranked[Number(marker) - 1];
      const isForeign = source !== undefined && isInOther(source, language);
      isTranslated ||= isForeign;
      const found = marker.startsWith('A')
        ? calls && apiCitation(calls, Number(marker.slice(1)), stems, range)
        : isForeign
          ? translatedCitation(source, stems, range)
          : documentCitation(source, stems, range);
      if (!found || found.support < citationMin) continue;
      citations.push(found);
      best = Math.max(best, found.support);
    }
    if (stems.every((stem) => politeStems.has(stem))) continue;
    stating++;
    if (best >= supportMin) continue;
    const others = [
      ...ranked.map((each) => documentCitation(each, stems, range).support),
      ...apiSteps.map((step) => supportOf(stems, calls?.textOf(step) ?? '')),
    ];
    if (Math.max(0, ...others) < supportMin) unsupported.push({ start, end });
  }
  const supported = stating === 0 ? 0 : 1 - unsupported.length / stating;
  return { citations, unsupported, supported, isTranslated };
}

/** The marker of the source that says most of a sentence; undefined if none supports it. */
export function markerFor(
  sentence: string,
  ranked: readonly Ranked[],
  calls: ToolCalls | undefined,
): string | undefined {
  const stems = stemsOf(sentence);
  if (stems.length < citedStemsMin || stems.every((stem) => politeStems.has(stem))) return undefined;
  const range = { answer_start: 0, answer_end: 0 };
  const steps = calls?.trace.filter(({ status }) => status === 'ok') ?? [];
  const supports = [
    ...ranked.map((each) => ({
      marker: String(each.source.index),
      support: documentCitation(each, stems, range).support,
    })),
    ...steps.map(({ step }) => ({
      marker: `A${step}`,
      support: supportOf(stems, calls?.textOf(step) ?? ''),
    })),
  ];
  const [best] = supports.sort((one, other) => other.support - one.support);
  return best && best.support >= supportMin ? best.marker : undefined;
}

/** Returns true if a source is known to be in another language than the answer. */
function isInOther({ passage }: Ranked, language: Language | undefined): boolean {
  const own = languageOf(passage.text);
  return language !== undefined && own !== undefined && own !== language;
}

/** A citation across languages: the source has every number of the sentence, and its best place is quoted. */
function translatedCitation(
  { source, passage }: Ranked,
  stems: readonly string[],
  range: { answer_start: number; answer_end: number },
): DocumentCitation {
  const numbers = stems.filter((stem) => /^\d/.test(stem));
  const { start, end } = source.best ?? passage;
  const quote = passage.text.slice(start - passage.start, end - passage.start);
  return {
    kind: 'document',
    ...range,
    source_index: source.index,
    document_id: source.document_id,
    chunk_id: passage.chunkId,
    quote,
    quote_start: start,
    quote_end: end,
    support: supportOf(numbers, passage.text) === 1 || numbers.length === 0 ? supportMin : 0,
  };
}

interface Claim {
  readonly start: number;
  end: number;
  readonly text: string;
  readonly markers: string[];
}

/** The sentences of an answer with their markers, which may also stand after the full stop. */
function claimsOf(text: string): Claim[] {
  const claims: Claim[] = [];
  for (const { start, end } of sentencesOf(text)) {
    const sentence = text.slice(start, end);
    const lead = /^(?:\s*\[A?\d+\])*\s*/.exec(sentence)?.[0] ?? '';
    claims.at(-1)?.markers.push(...markersIn(lead));
    const rest = sentence.slice(lead.length);
    const trail = /(?:\s*\[A?\d+\])*\s*$/.exec(rest)?.[0] ?? '';
    const own = rest.slice(0, rest.length - trail.length);
    if (own.trim() === '') continue;
    const from = start + lead.length;
    const markers = claims.length === 0 ? markersIn(sentence) : markersIn(rest);
    claims.push({ start: from, end: from + own.length, text: own.replace(/\[A?\d+\]/g, ' '), markers });
  }
  return claims;
}

function markersIn(text: string): string[] {
  return [...text.matchAll(/\[(A?\d+)\]/g)].map((match) => match[1] ?? '');
}

function stemsOf(text: string): string[] {
  const telling = termsOf(text).filter(({ word }) => !isCommonWord(word));
  return [...new Set(telling.map(({ stem }) => stem))];
}

/** The sentence of the passage, or two in a row, that has most of the words. */
function documentCitation(
  ranked: Ranked | undefined,
  stems: readonly string[],
  range: { answer_start: number; answer_end: number },
): DocumentCitation {
  const source = ranked?.source;
  const passages = ranked ? [ranked.passage, ...(ranked.neighbors ?? [])] : [];
  let best = { start: 0, end: 0, support: 0 };
  let from = passages[0];
  for (const passage of passages) {
    const own = bestQuote(passage.text, stems);
    if (own.support > best.support) [best, from] = [own, passage];
  }
  const offset = from?.start ?? 0;
  return {
    kind: 'document',
    ...range,
    source_index: source?.index ?? 0,
    document_id: source?.document_id ?? '',
    chunk_id: from?.chunkId ?? '',
    quote: from?.text.slice(best.start, best.end) ?? '',
    quote_start: offset + best.start,
    quote_end: offset + best.end,
    support: Math.round(best.support * 100) / 100,
  };
}

function bestQuote(text: string, stems: readonly string[]): { start: number; end: number; support: number } {
  let best = { start: 0, end: 0, support: 0 };
  let isPair = false;
  const sentences = sentencesOf(text);
  sentences.forEach(({ start, end }, index) => {
    const alone = supportOf(stems, text.slice(start, end));
    // A sentence says as much alone as with the one before it.
    if (alone > best.support || (isPair && alone === best.support)) {
      best = { start, end, support: alone };
      isPair = false;
    }
    const next = sentences[index + 1];
    const both = next ? supportOf(stems, text.slice(start, next.end)) : 0;
    if (next && both > best.support + 0.15) {
      best = { start, end: next.end, support: both };
      isPair = true;
    }
  });
  return best;
}

/** The value of a step's records that has most of the words. */
function apiCitation(
  calls: ToolCalls,
  step: number,
  stems: readonly string[],
  range: { answer_start: number; answer_end: number },
): ApiCitation | undefined {
  let best: { pointer: string; quote: string; share: number } | undefined;
  let all = '';
  for (const { pointer, record } of calls.placesOf(step)) {
    for (const [field, value] of Object.entries(record)) {
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const quote = String(value);
      all += ` ${quote}`;
      const share = supportOf(stems, quote);
      if (!best || share > best.share) best = { pointer: `${pointer}/${field}`, quote, share };
    }
  }
  if (!best || best.share === 0) return undefined;
  const { pointer, quote } = best;
  const support = Math.round(supportOf(stems, all) * 100) / 100;
  return { kind: 'api', ...range, step, pointer, quote, support };
}

/** Returns the share of the words that a text has. A number that it lacks is a claim that it does not make. */
function supportOf(stems: readonly string[], text: string): number {
  if (stems.length === 0) return 0;
  const has = new Set(termsOf(text).map(({ stem }) => stem));
  const missing = stems.filter((stem) => !has.has(stem));
  const share = 1 - missing.length / stems.length;
  return missing.some((stem) => /^\d/.test(stem)) ? Math.min(share, 0.3) : share;
}
