import { type Attributes, readXml } from './archive.ts';

/** Appearance of text in an OpenDocument file. */
export interface Look {
  readonly isHidden: boolean;
  readonly isStruck: boolean;
  readonly color: string;
  /** Empty if it is not known. */
  readonly ground: string;
  readonly points: number;
  /** 1 for raised text, -1 for lowered. */
  readonly rise: number;
}

export interface Styles {
  /** Look outside all styles. */
  readonly page: Look;
  byName(name: string): Partial<Look>;
}

/** Size up to which a text is too small to see. */
const tinyPoints = 1;

/** True if a reader sees text that looks so. */
export function isSeen(look: Look): boolean {
  return !look.isStruck && isDrawn(look);
}

/** True if a reader sees that text is struck out that looks so. */
export function isSeenStruck(look: Look): boolean {
  return look.isStruck && isDrawn(look);
}

function isDrawn({ isHidden, color, ground, points }: Look): boolean {
  return !isHidden && points > tinyPoints && color !== ground;
}

/** The look of an element inside another one. */
export function lookOf(
  outer: Look,
  name: string,
  { attributes, styles }: { attributes: Attributes; styles: Styles },
): Look {
  const style =
    attributes['text:style-name'] ?? attributes['table:style-name'] ?? attributes['draw:style-name'];
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

/** The styles of a document, from its parts that have some. */
export function readStyles(parts: readonly string[]): Styles {
  const styles = new Map<string, { look: Partial<Look>; base: string | undefined }>();
  let page: Look = {
    isHidden: false,
    isStruck: false,
    color: '#000000',
    ground: '#ffffff',
    points: 12,
    rise: 0,
  };
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
        if (style && /^style:(?:text|paragraph|table-cell|table|drawing-page)-properties$/.test(tag))
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
  const position = attributes['style:text-position'];
  const struck = attributes['style:text-line-through-style'];
  const points = /^(\d*\.?\d+)pt$/.exec(size ?? '')?.[1];
  return {
    ...(display !== undefined && { isHidden: display === 'none' }),
    ...((attributes['table:display'] === 'false' || attributes['presentation:visibility'] === 'hidden') && {
      isHidden: true,
    }),
    ...(struck !== undefined && { isStruck: struck !== 'none' }),
    ...(position !== undefined && { rise: riseOf(position) }),
    ...(color !== undefined && { color: color.toLowerCase() }),
    // It goes with the ground, whatever color is given.
    ...(attributes['style:use-window-font-color'] === 'true' && { color: 'auto' }),
    ...(ground !== undefined && ground !== 'transparent' && { ground: ground.toLowerCase() }),
    ...(points !== undefined && { points: Number(points) }),
  };
}

/** The rise of text by its position: `super 58%`, `-33% 58%`. */
function riseOf(position: string): number {
  if (position.startsWith('super')) return 1;
  return position.startsWith('sub') ? -1 : Math.sign(Number.parseFloat(position) || 0);
}
