import type { Block, Extracted } from '../blocks.ts';
import { byNumber, checkOffice, elementsOf, readArchive, readXml } from './archive.ts';

/** Slides in their order; the first line of each is a heading. Hidden slides are left out. */
export function extractSlides(bytes: Uint8Array): Extracted {
  checkOffice(bytes);
  const members = readArchive(bytes, (name) => /^ppt\/(slides|notesSlides)\/[^/]+\.xml$/.test(name));
  const slides = [...members.keys()].filter((name) => name.startsWith('ppt/slides/')).sort(byNumber);
  const blocks = slides.flatMap((name, index): Block[] => {
    const page = index + 1;
    const slide = members.get(name) ?? '';
    if (/^(?:0|false)$/.test(elementsOf(slide, 'p:sld')[0]?.show ?? '')) return [];
    const notes = members.get(`ppt/notesSlides/notesSlide${page}.xml`) ?? '';
    const texts = [...paragraphsOf(slide), ...paragraphsOf(notes)];
    return texts.map((text, place) => ({ text, page, ...(place === 0 && { level: 1 }) }));
  });
  return { blocks, pages: slides.length };
}

/** Hundredths of a point up to which a text is too small to see. */
const tinySize = 100;

/**
 * The text of each paragraph, without that of hidden shapes, and text that is tiny, transparent or in the color of its shape or slide. The
 * grounds of themes are not known, so text on them counts as seen.
 */
function paragraphsOf(xml: string): string[] {
  const texts: string[] = [];
  let [text, inText, isHiddenShape, isHiddenRun] = ['', false, false, false];
  let [slide, shape, color]: (string | undefined)[] = [];
  const inside: string[] = [];
  readXml(xml, {
    open(name, attributes) {
      inside.push(name);
      const [fillOf, within] = [inside.at(-3), inside.at(-2)];
      if (name === 'p:sp') [shape, isHiddenShape] = [slide, false];
      if (name === 'p:cNvPr') isHiddenShape = /^(?:1|true)$/.test(attributes.hidden ?? '');
      if (name === 'a:p') text = '';
      if (name === 'a:r') [isHiddenRun, color] = [false, undefined];
      if (name === 'a:rPr') isHiddenRun = Number(attributes.sz ?? tinySize + 1) <= tinySize;
      if (within === 'p:spPr' && /^a:(?:gradFill|blipFill|pattFill)$/.test(name)) shape = undefined;
      if (within === 'a:solidFill') {
        const value = name === 'a:srgbClr' ? attributes.val?.toUpperCase() : undefined;
        if (fillOf === 'p:bgPr') slide = value;
        if (fillOf === 'p:spPr') shape = value;
        if (fillOf === 'a:rPr') color = value;
      }
      if (name === 'a:alpha' && inside.at(-4) === 'a:rPr' && Number(attributes.val) === 0) isHiddenRun = true;
      inText = name === 'a:t';
    },
    text(part) {
      const isGround = color !== undefined && color === shape;
      if (inText && !isHiddenShape && !isHiddenRun && !isGround) text += part;
    },
    close(name) {
      inside.pop();
      if (name === 'a:t') inText = false;
      if (name === 'a:r') [isHiddenRun, color] = [false, undefined];
      if (name === 'p:sp') [shape, isHiddenShape] = [slide, false];
      if (name === 'a:p' && text.trim() !== '') texts.push(text);
    },
  });
  return texts;
}
