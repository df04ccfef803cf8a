import { paragraphsOf, type Span, sentencesOf } from '@octavo/documents';
import type { Unit } from './structure.ts';

/** A paragraph or an entry up to this length is quoted whole. */
const placeLengthMax = 480;
/** Most of a list with its introduction, and of an entry up to the sentence. */
const listLengthMax = 900;
/** An entry up to this length is quoted with all of its paragraphs. */
const entryLengthMax = 700;

const needsBefore =
  /^(?:he|she|it|this|these|those|they|his|her|its|their|such|both|otherwise|instead|however|therefore|thus|also|then|in (?:this|that|such) case)\b/i;

/**
 * The part of a passage to quote for a sentence that answers: the sentence with those beside it in a short paragraph, the whole entry of a
 * term, the row of a table, or a list with its introduction.
 */
export function quoteFor(unit: Unit, text: string): Span {
  const { place, entry } = unit;
  if (unit.kind === 'row') return { start: unit.start, end: unit.end };
  if (introduces(unit, text)) return listFrom(unit.start, text);
  if (entry && entry.end - entry.start <= entryLengthMax) return { start: entry.start, end: entry.end };
  if (place.end - place.start <= placeLengthMax) return place;
  const sentences = sentencesOf(text, place);
  const at = Math.max(
    0,
    sentences.findIndex(({ start }) => start >= unit.start),
  );
  let [start, end] = [unit.start, unit.end];
  if (unit.term !== '' && end - place.start <= listLengthMax) start = place.start;
  else if (needsBefore.test(unit.text)) start = sentences[at - 1]?.start ?? start;
  for (const next of sentences.slice(at + 1)) {
    if (next.end - start > placeLengthMax) break;
    end = next.end;
  }
  return { start, end };
}

/** Returns true for a sentence that ends with a colon or a question, or that a command below it completes. */
function introduces({ text: sentence, place, end, kind }: Unit, text: string): boolean {
  if (/[:?]$/.test(sentence)) return true;
  const isUnfinished = kind === 'sentence' && end === place.end && /\w{3}$/.test(sentence);
  return isUnfinished && sentence.length >= sentenceLengthMin && /^\s*\n\s*\S/.test(text.slice(end));
}

/** A shorter line is a heading or a value. */
const sentenceLengthMin = 30;

/** An introduction with the text below it, as far as it fits. */
function listFrom(start: number, text: string): Span {
  let end = start;
  for (const paragraph of paragraphsOf(text)) {
    if (paragraph.end <= start) continue;
    for (const sentence of sentencesOf(text, paragraph)) {
      if (sentence.end <= start) continue;
      if (end > start && sentence.end - start > listLengthMax) return { start, end };
      end = sentence.end;
    }
  }
  return { start, end };
}
