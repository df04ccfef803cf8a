import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import type { Extracted } from '../blocks.ts';
import { extractHtml } from '../html.ts';
import { checkOffice } from './archive.ts';
import {
  type Attributes,
  readWordStyles,
  type WordLook,
  type WordStyles,
  withProperty,
} from './word-styles.ts';

const textPart = /^word\/(document|footnotes|endnotes)\d*\.xml$/;
const stylesPart = 'word/styles.xml';
/** Links of the library from the end of each note to its place. */
const backLinks = /\s*<a href="#(?:footnote|endnote|comment)-ref-[^"]*">↑<\/a>/g;
/** Half points up to which a text is too small to see. */
const tinyHalfPoints = 2;

export async function extractWord(bytes: Uint8Array): Promise<Extracted> {
  checkOffice(bytes);
  const { default: mammoth } = await import('mammoth');
  const skipImages = mammoth.images.imgElement(async () => ({ src: '' }));
  const seen = withoutHiddenText(bytes);
  const buffer = Buffer.from(seen.buffer, seen.byteOffset, seen.length);
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage: skipImages });
  return extractHtml(value.replace(backLinks, ''));
}

/**
 * Returns a Word file without the text that readers do not see and the library that reads the file does not tell: hidden (`w:vanish`), tiny,
 * or in the color of its ground, by itself or by a style. A file without any is returned as it is.
 */
function withoutHiddenText(bytes: Uint8Array): Uint8Array {
  const parts = unzipSync(bytes, { filter: ({ name }) => textPart.test(name) || name === stylesPart });
  const { [stylesPart]: stylesFile, ...texts } = parts;
  const styles = readWordStyles(stylesFile ? strFromU8(stylesFile) : '');
  const changed = Object.entries(texts).flatMap(([name, content]): [string, Uint8Array][] => {
    const kept = withoutHiddenRuns(strFromU8(content), styles);
    return kept === undefined ? [] : [[name, strToU8(kept)]];
  });
  if (changed.length === 0) return bytes;
  return zipSync({ ...unzipSync(bytes), ...Object.fromEntries(changed) }, { level: 0 });
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
