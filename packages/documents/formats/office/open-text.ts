import { unreadable } from '../../errors.ts';
import type { Block, Extracted } from '../blocks.ts';
import { type Attributes, readArchive, readXml } from './archive.ts';

/** Elements whose text is none of the document: comments, deleted and hidden text, styles. */
const unread =
  /^(?:office:annotation|text:tracked-changes|text:hidden-text|text:hidden-paragraph|office:automatic-styles)$/;

/** An OpenDocument text: headings and paragraphs, without comments, deleted text, and text that readers do not see. */
export function extractOpenText(bytes: Uint8Array): Extracted {
  const members = readArchive(bytes, (name) => name === 'content.xml' || name === 'styles.xml');
  const content = members.get('content.xml');
  if (content === undefined) throw unreadable('The file is not an OpenDocument text.');
  const styles = readStyles([members.get('styles.xml') ?? '', content]);
  const blocks: Block[] = [];
  const open: Look[] = [styles.page];
  let [text, level, unreadDepth] = ['', 0, 0];
  readXml(content, {
    open(name, attributes) {
      if (unread.test(name)) unreadDepth++;
      if (unreadDepth > 0) return;
      open.push(lookOf(open.at(-1) ?? styles.page, name, { attributes, styles }));
      if (name === 'text:h') level = Number(attributes['text:outline-level'] ?? 1);
      if (name === 'text:h' || name === 'text:p') text = '';
      if (name === 'text:s' || name === 'text:tab') text += ' ';
      if (name === 'text:line-break') text += '\n';
    },
    text(part) {
      if (unreadDepth === 0 && isSeen(open.at(-1) ?? styles.page)) text += part;
    },
    close(name) {
      if (unreadDepth > 0) {
        if (unread.test(name)) unreadDepth--;
        return;
      }
      open.pop();
      if (name !== 'text:h' && name !== 'text:p') return;
      if (text.trim() !== '') blocks.push(level > 0 ? { text, level } : { text });
      [text, level] = ['', 0];
    },
  });
  return { blocks };
}

interface Look {
  readonly isHidden: boolean;
  readonly color: string;
  /** Empty if it is not known. */
  readonly ground: string;
  readonly points: number;
}

interface Styles {
  /** Look outside all styles. */
  readonly page: Look;
  byName(name: string): Partial<Look>;
}

/** Size up to which a text is too small to see. */
const tinyPoints = 1;

function isSeen({ isHidden, color, ground, points }: Look): boolean {
  return !isHidden && points > tinyPoints && color !== ground;
}

function lookOf(
  outer: Look,
  name: string,
  { attributes, styles }: { attributes: Attributes; styles: Styles },
): Look {
  const style = attributes['text:style-name'] ?? attributes['table:style-name'];
  const isShape = name === 'draw:text-box' || name === 'draw:custom-shape';
  const isGone = name === 'text:section' && attributes['text:display'] === 'none';
  const look = {
    ...outer,
    ...(style !== undefined && styles.byName(style)),
    ...(isShape && { ground: '' }),
  };
  return { ...look, isHidden: look.isHidden || outer.isHidden || isGone };
}

const levelsMax = 20;

function readStyles(parts: readonly string[]): Styles {
  const styles = new Map<string, { look: Partial<Look>; base: string | undefined }>();
  let page: Look = { isHidden: false, color: '#000000', ground: '#ffffff', points: 12 };
  let name = '';
  for (const part of parts)
    readXml(part, {
      open(tag, attributes) {
        if (tag === 'style:style') {
          name = attributes['style:name'] ?? '';
          styles.set(name, { look: {}, base: attributes['style:parent-style-name'] });
        }
        const hasGround = (attributes['fo:background-color'] ?? 'transparent') !== 'transparent';
        if (tag === 'style:page-layout-properties' && hasGround) page = { ...page, ground: '' };
        const style = styles.get(name);
        if (style && /^style:(?:text|paragraph|table-cell)-properties$/.test(tag))
          style.look = { ...style.look, ...propertiesOf(attributes) };
      },
      close(tag) {
        if (tag === 'style:style') name = '';
      },
    });
  const byName = (of: string, level = 0): Partial<Look> => {
    const { look, base } = styles.get(of) ?? {};
    return { ...(base !== undefined && level < levelsMax && byName(base, level + 1)), ...look };
  };
  return { page, byName: (of) => byName(of) };
}

function propertiesOf(attributes: Attributes): Partial<Look> {
  const { 'fo:color': color, 'fo:background-color': ground, 'fo:font-size': size } = attributes;
  const display = attributes['text:display'];
  const points = /^(\d*\.?\d+)pt$/.exec(size ?? '')?.[1];
  return {
    ...(display !== undefined && { isHidden: display === 'none' }),
    ...(color !== undefined && { color: color.toLowerCase() }),
    // It goes with the ground, whatever color is given.
    ...(attributes['style:use-window-font-color'] === 'true' && { color: 'auto' }),
    ...(ground !== undefined && ground !== 'transparent' && { ground: ground.toLowerCase() }),
    ...(points !== undefined && { points: Number(points) }),
  };
}
