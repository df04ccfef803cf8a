import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import type { Extracted } from '../../blocks.ts';
import { hiddenLeftOut } from '../../blocks.ts';
import { extractHtml } from '../../html.ts';
import { type Note, withNotes } from '../../notes.ts';
import { checkOffice } from '../archive.ts';
import { withListNumbers } from './list-numbers.ts';
import { readWordLists } from './numbering.ts';
import { runningTexts, simplified } from './parts.ts';
import { type Attributes, readWordStyles, type WordLook, type WordStyles, withProperty } from './styles.ts';

const textPart = /^word\/(document|footnotes|endnotes)\d*\.xml$/;
const runningPart = /^word\/(?:header|footer)\d*\.xml$/;
const stylesPart = 'word/styles.xml';
const numberingPart = 'word/numbering.xml';
/** Links of the library from the end of each note to its place. */
const backLinks = /\s*<a href="#(?:footnote|endnote|comment)-ref-[^"]*">↑<\/a>/g;
/** Half points up to which a text is too small to see. */
const tinyHalfPoints = 2;

/** A reference to a note in the page that the library makes, and the text of the note below. */
const noteReference = /<sup><a href="#((?:foot|end)note-\d+)"[^>]*>\[\d+\]<\/a><\/sup>/g;
const noteText = /<li id="((?:foot|end)note-\d+)">([\s\S]*?)<\/li>/g;
/** Stand around the number of a note in a text, until the sentence ends that the note follows. */
const noteMark = /\u{F0000}(\d+)\u{F0001}/gu;

/** A Word file: its text with the notes after their sentences, and headers and footers once. */
export async function extractWord(bytes: Uint8Array): Promise<Extracted> {
  checkOffice(bytes);
  const { default: mammoth } = await import('mammoth');
  const skipImages = mammoth.images.imgElement(async () => ({ src: '' }));
  const { seen, running, hasHidden } = seenText(bytes);
  const buffer = Buffer.from(seen.buffer, seen.byteOffset, seen.length);
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage: skipImages });
  const notes: string[] = [];
  const ids: string[] = [];
  const page = value.replace(backLinks, '').replace(noteText, (_, id: string, inner: string) => {
    ids.push(id);
    notes.push(
      extractHtml(inner)
        .blocks.map(({ text }) => text)
        .join(' '),
    );
    return '';
  });
  const marked = page.replace(noteReference, (whole, id: string) =>
    ids.includes(id) ? `\u{F0000}${ids.indexOf(id)}\u{F0001}` : whole,
  );
  // The library numbers each part of a list from 1, as Word does not.
  const read = extractHtml(marked.replace(/<(\/?)ol>/g, '<$1ul>'));
  const blocks = read.blocks.map((block) => ({ ...block, text: withNotesOf(block.text, notes) }));
  const warnings = [...(read.warnings ?? []), ...(hasHidden ? [hiddenLeftOut] : [])];
  return { blocks: [...blocks, ...running.map((text) => ({ text }))], warnings };
}

function withNotesOf(text: string, notes: readonly string[]): string {
  let [plain, from] = ['', 0];
  const found: Note[] = [];
  for (const mark of text.matchAll(noteMark)) {
    plain += text.slice(from, mark.index);
    from = mark.index + mark[0].length;
    found.push({ at: plain.length, text: notes[Number(mark[1])] ?? '' });
  }
  return withNotes(plain + text.slice(from), found);
}

/**
 * A Word file without the text that readers do not see and the library that reads the file does not tell: hidden (`w:vanish`), tiny, or in
 * the color of its ground, by itself or by a style; in elements that the library reads, with the numbers of lists as text. `running` has
 * headers and footers.
 */
function seenText(bytes: Uint8Array): {
  readonly seen: Uint8Array;
  readonly running: string[];
  readonly hasHidden: boolean;
} {
  const parts = unzipSync(bytes, {
    filter: ({ name }) =>
      textPart.test(name) || runningPart.test(name) || name === stylesPart || name === numberingPart,
  });
  const { [stylesPart]: stylesFile, [numberingPart]: numberingFile, ...others } = parts;
  const stylesXml = stylesFile ? strFromU8(stylesFile) : '';
  const styles = readWordStyles(stylesXml);
  const lists = readWordLists(numberingFile ? strFromU8(numberingFile) : '', stylesXml);
  const running: string[] = [];
  let hasHidden = false;
  const changed = Object.entries(others).flatMap(([name, content]): [string, Uint8Array][] => {
    const given = strFromU8(content);
    const plain = simplified(given);
    const bare = withoutHiddenRuns(plain, styles);
    hasHidden ||= bare !== undefined;
    const isRunning = runningPart.test(name);
    const kept = isRunning ? (bare ?? plain) : withListNumbers(bare ?? plain, lists);
    if (isRunning) running.push(kept);
    return kept === given || isRunning ? [] : [[name, strToU8(kept)]];
  });
  const seen =
    changed.length === 0
      ? bytes
      : zipSync({ ...unzipSync(bytes), ...Object.fromEntries(changed) }, { level: 0 });
  return { seen, running: runningTexts(running), hasHidden };
}

function isSeen({ isHidden, color, ground, halfPoints }: WordLook): boolean {
  return !isHidden && halfPoints > tinyHalfPoints && (color === undefined || color !== ground);
}

/** Elements that have a look of their own, which those inside begin with. A run may contain others, as in a text box. */
const frames = new Set(['w:tbl', 'w:tc', 'w:p', 'w:r', 'w:txbxContent']);
/** Formatting of before, in a file that records changes. */
const formerly = /^w:\w+PrChange$/;

/** Cuts the texts of hidden runs out. Returns undefined if there are none. */
function withoutHiddenRuns(xml: string, styles: WordStyles): string | undefined {
  const open: { readonly name: string; look: WordLook }[] = [{ name: '', look: styles.first }];
  const top = () => open.at(-1) as (typeof open)[number];
  let [kept, from, inText, inMark, former] = ['', 0, false, false, 0];
  const begin = (name: string) => {
    const { look } = top();
    // A paragraph has its ground of what it is in, and nothing else.
    if (name === 'w:p') open.push({ name, look: styles.paragraph(look.ground) });
    else open.push({ name, look: name === 'w:txbxContent' ? { ...look, ground: undefined } : look });
  };
  const format = (name: string, attributes: Attributes) => {
    const frame = top();
    const style = /^w:(?:p|r)Style$/.test(name) ? styles.byId(attributes['w:val'] ?? '') : undefined;
    if (style) frame.look = { ...frame.look, ...style };
    // Its rows and columns may have grounds of their own.
    else if (name === 'w:tblStyle' || name === 'w:background')
      for (const each of name === 'w:tblStyle' ? [frame] : open)
        each.look = { ...each.look, ground: undefined };
    else frame.look = withProperty(frame.look, name, attributes);
  };
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (formerly.test(name)) former++;
        if (frames.has(name)) begin(name);
        // The mark at the end of a paragraph has properties too.
        else if (name === 'w:rPr' && top().name === 'w:p') inMark = true;
        else if (!inMark && former === 0) format(name, attributes);
        inText = name === 'w:t';
      },
      ontext() {
        if (!inText || top().name !== 'w:r' || isSeen(top().look)) return;
        kept += xml.slice(from, parser.startIndex);
        from = parser.endIndex + 1;
      },
      onclosetag(name) {
        inText = false;
        if (formerly.test(name)) former--;
        if (name === 'w:rPr') inMark = false;
        if (frames.has(name) && top().name === name) open.pop();
      },
    },
    { xmlMode: true, decodeEntities: false },
  );
  parser.end(xml);
  return from === 0 ? undefined : kept + xml.slice(from);
}
