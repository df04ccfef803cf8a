import type { Block, Extracted } from '../blocks.ts';
import { byNumber, checkOffice, elementsOf, readArchive, readXml } from './archive.ts';
import { hexOf, readSlideColors, shaded, type ThemeColors } from './theme-colors.ts';

/** Slides in their order; the first line of each is a heading. Hidden slides are left out. */
export function extractSlides(bytes: Uint8Array): Extracted {
  checkOffice(bytes);
  const members = readArchive(bytes, (name) =>
    /^ppt\/(slides|notesSlides|slideMasters|theme)\/[^/]+\.xml$/.test(name),
  );
  const slides = [...members.keys()].filter((name) => name.startsWith('ppt/slides/')).sort(byNumber);
  const masters = [...members.keys()].filter((name) => name.startsWith('ppt/slideMasters/'));
  // With several masters, names of colors mean something else from slide to slide.
  const colors: ThemeColors =
    masters.length > 1
      ? new Map()
      : readSlideColors(members.get('ppt/theme/theme1.xml') ?? '', members.get(masters[0] ?? '') ?? '');
  const blocks = slides.flatMap((name, index): Block[] => {
    const page = index + 1;
    const slide = members.get(name) ?? '';
    if (/^(?:0|false)$/.test(elementsOf(slide, 'p:sld')[0]?.show ?? '')) return [];
    const notes = members.get(`ppt/notesSlides/notesSlide${page}.xml`) ?? '';
    const texts = [...paragraphsOf(slide, colors), ...paragraphsOf(notes, colors)];
    return texts.map((text, place) => ({ text, page, ...(place === 0 && { level: 1 }) }));
  });
  return { blocks, pages: slides.length };
}

/** Hundredths of a point up to which a text is too small to see. */
const tinySize = 100;

/**
 * The text of each paragraph, without that of hidden shapes, and text that is tiny, transparent or in the color of its shape or slide. A
 * ground that the slide inherits is not known, since something may lie between it and the text, so text on it counts as seen.
 */
function paragraphsOf(xml: string, colors: ThemeColors): string[] {
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
        const value = name === 'a:srgbClr' ? hexOf(attributes.val) : colors.get(attributes.val ?? '');
        if (fillOf === 'p:bgPr') slide = value;
        if (fillOf === 'p:spPr') shape = value;
        if (fillOf === 'a:rPr') color = value;
      }
      if (inside.at(-3) === 'a:solidFill' && /^a:lum(?:Mod|Off)$/.test(name)) {
        const part = Number(attributes.val) / 100_000;
        const change = (hex = '') => (name === 'a:lumMod' ? shaded(hex, part, 0) : shaded(hex, 1, part));
        const of = inside.at(-4);
        if (of === 'p:bgPr') slide &&= change(slide);
        if (of === 'p:spPr') shape &&= change(shape);
        if (of === 'a:rPr') color &&= change(color);
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
