import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { extract, mediaTypeOf } from '@octavo/documents';

/** One thing that was measured, and what was read in place of it. */
export interface Judged {
  readonly group: string;
  readonly kind: string;
  readonly file: string;
  readonly isRight: boolean;
  readonly said: string;
  /** Number of values that it stands for; 1 without. */
  readonly weight?: number;
}

interface Truth {
  readonly file: string;
  readonly expect?: string;
  readonly recallOnly?: boolean;
}

const properties = /^(?:(?:Title|Author|Subject|Description|Keywords|Created): .*(?:\n|$))+$/;
const group = 'public documents';
/** Recall and precision of words from which a document counts as read. */
const goodFrom = 0.95;

/** Documents of public projects beside what independent tools read of them. */
export async function publicDocuments(folder: string, half: boolean): Promise<Judged[]> {
  if (!existsSync(folder)) return [];
  const truths: Truth[] = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8'));
  const judged: Judged[] = [];
  for (const [index, truth] of truths.entries()) {
    if (half && index % 2 === 1) continue;
    const kind = extname(truth.file).slice(1).toLowerCase();
    judged.push({ group, kind, file: truth.file, ...(await judge(folder, truth)) });
  }
  return judged;
}

async function judge(folder: string, truth: Truth): Promise<{ isRight: boolean; said: string }> {
  const { file, expect } = truth;
  const read = await textOf(file, readFileSync(join(folder, file)));
  if ('refused' in read) return { isRight: expect !== undefined, said: `refused: ${read.refused}` };
  if (expect !== undefined) {
    return { isRight: expect.includes('read'), said: `read: ${read.text}` };
  }
  const wanted = wordsOf(unnumbered(readFileSync(join(folder, 'truth', `${file}.txt`), 'utf8')));
  const others = join(folder, 'truth', `${file}.all.txt`);
  const allowed = existsSync(others) ? wordsOf(readFileSync(others, 'utf8')) : [];
  // A sheet shows groups in numbers, where a tool may tell what is stored.
  const text = file.endsWith('.xlsx') ? read.text.replace(/(?<=\d),(?=\d{3}\b)/g, '') : read.text;
  const got = wordsOf(unnumbered(text));
  const [missing, more] = [
    lackOf(wanted, got),
    // Names of columns and merged cells stand in each row.
    newIn([...wanted, ...allowed], got),
  ];
  const recall = 1 - missing.length / Math.max(1, wanted.length);
  const precision = truth.recallOnly ? 1 : 1 - more.length / Math.max(1, got.length);
  return {
    isRight: recall >= goodFrom && precision >= goodFrom,
    said: `recall ${recall.toFixed(2)}, precision ${precision.toFixed(2)}; missing: ${missing.slice(0, 30).join(' ')}; more: ${more.slice(0, 30).join(' ')}`,
  };
}

/** A text without the numbers of points and paragraphs, which not every tool tells. */
function unnumbered(text: string): string {
  return text.replace(/^\s*\(?(?:\d{1,3}(?:\.\d{1,3})*|[a-z]|[ivx]{1,5})[.)]\s/gim, ' ');
}

/** The text of a file with its title, or why it is refused. */
export async function textOf(
  file: string,
  bytes: Uint8Array,
): Promise<{ text: string; warnings: readonly string[] } | { refused: string }> {
  try {
    const { blocks, title = '', warnings = [] } = await extract(mediaTypeOf(file, bytes), bytes);
    // Properties are no text for the tools that read the truth.
    const texts = blocks.map(({ text }) => text).filter((text) => !properties.test(text));
    return { text: [...(texts.join(' ').includes(title) ? [] : [title]), ...texts].join('\n\n'), warnings };
  } catch (error) {
    return { refused: (error as Error).message };
  }
}

/** Words and numbers of a text, in its order. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** The words of a text that the other one lacks, as often as it lacks them. */
export function lackOf(words: readonly string[], other: readonly string[]): string[] {
  const left = Map.groupBy(other, (word) => word);
  return words.filter((word) => left.get(word)?.pop() === undefined);
}

function newIn(words: readonly string[], other: readonly string[]): string[] {
  const known = new Set(words);
  return other.filter((word) => !known.has(word));
}
