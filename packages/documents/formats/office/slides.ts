import type { Block, Extracted } from '../blocks.ts';
import { struckLeftOut } from '../blocks.ts';
import { type Attributes, byNumber, checkOffice, elementsOf, readArchive, readXml } from './archive.ts';
import { SlideReader } from './slide-reader.ts';
import { readSlideColors, type ThemeColors } from './theme-colors.ts';

/** Slides in the order of the presentation, each with its notes; the first line of each is a heading. Hidden slides are left out. */
export function extractSlides(bytes: Uint8Array): Extracted {
  checkOffice(bytes);
  const members = readArchive(bytes, (name) =>
    /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|(?:slides|notesSlides|slideMasters|theme|diagrams)\/(?:_rels\/)?[^/]+\.(?:xml|rels))$/.test(
      name,
    ),
  );
  const masters = [...members.keys()].filter((name) => /^ppt\/slideMasters\/[^/]+\.xml$/.test(name));
  // With several masters, names of colors mean something else from slide to slide.
  const colors: ThemeColors =
    masters.length > 1
      ? new Map()
      : readSlideColors(members.get('ppt/theme/theme1.xml') ?? '', members.get(masters[0] ?? '') ?? '');
  const slides = slidesIn(members);
  const hidden: number[] = [];
  let hasStruck = false;
  const blocks = slides.flatMap((name, index): Block[] => {
    const page = index + 1;
    const slide = members.get(name) ?? '';
    if (/^(?:0|false)$/.test(elementsOf(slide, 'p:sld')[0]?.show ?? '')) {
      hidden.push(page);
      return [];
    }
    const related = relationsOf(members, name);
    const beside = related.filter(({ type }) => /\/(?:notesSlide|diagramData)$/.test(type));
    // Files of few parts tell no relations.
    const others =
      related.length > 0 ? beside.map(({ target }) => target) : [`ppt/notesSlides/notesSlide${page}.xml`];
    const read = [slide, ...others.map((other) => members.get(other) ?? '')].map((xml) =>
      readSlide(xml, colors),
    );
    hasStruck ||= read.some((each) => each.hasStruck);
    const texts = read.flatMap((each) => each.texts);
    return texts.map((text, place) => ({ text, page, ...(place === 0 && { level: 1 }) }));
  });
  const warnings = hidden.length > 0 ? [`Hidden slides were not read: ${hidden.join(', ')}`] : [];
  return { blocks, pages: slides.length, warnings: hasStruck ? [...warnings, struckLeftOut] : warnings };
}

/** The parts of the slides in the order of the presentation, or of their numbers where it tells none. */
function slidesIn(members: ReadonlyMap<string, string>): string[] {
  const targets = new Map(relationsOf(members, 'ppt/presentation.xml').map(({ id, target }) => [id, target]));
  const listed = elementsOf(members.get('ppt/presentation.xml') ?? '', 'p:sldId')
    .map((slide) => targets.get(slide['r:id'] ?? '') ?? '')
    .filter((target) => members.has(target));
  if (listed.length > 0) return [...new Set(listed)];
  return [...members.keys()].filter((name) => /^ppt\/slides\/[^/]+\.xml$/.test(name)).sort(byNumber);
}

interface Relation {
  readonly id: string;
  readonly type: string;
  readonly target: string;
}

/** The parts that a part names, by their paths in the archive. */
function relationsOf(members: ReadonlyMap<string, string>, part: string): Relation[] {
  const slash = part.lastIndexOf('/');
  const [folder, name] = [part.slice(0, slash), part.slice(slash + 1)];
  const relations = elementsOf(members.get(`${folder}/_rels/${name}.rels`) ?? '', 'Relationship');
  return relations.map(({ Id = '', Type = '', Target = '' }: Attributes) => ({
    id: Id,
    type: Type,
    target: new URL(Target, `file:///${folder}/`).pathname.slice(1),
  }));
}

function readSlide(xml: string, colors: ThemeColors): SlideReader {
  const reader = new SlideReader(colors);
  readXml(xml, {
    open: (name, attributes) => reader.open(name, attributes),
    text: (part) => reader.text(part),
    close: (name) => reader.close(name),
  });
  return reader;
}
