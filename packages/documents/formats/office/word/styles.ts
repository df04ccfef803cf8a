import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string>>;

/** Appearance of text in a Word file. */
export interface WordLook {
  readonly isHidden: boolean;
  /** Six hexadecimal digits; undefined for the color that fits the ground. */
  readonly color: string | undefined;
  /** Undefined if it is not known. */
  readonly ground: string | undefined;
  readonly halfPoints: number;
}

const first: WordLook = { isHidden: false, color: undefined, ground: 'FFFFFF', halfPoints: 20 };

/** The look with one property, if the element is one. */
export function withProperty<L extends Partial<WordLook>>(look: L, name: string, attributes: Attributes): L {
  const value = attributes['w:val'] ?? '';
  if (name === 'w:vanish') return { ...look, isHidden: !/^(0|false|off)$/.test(value) };
  if (name === 'w:sz') return { ...look, halfPoints: Number(value) };
  if (name === 'w:color') return { ...look, color: hexOf(value) };
  if (name === 'w:highlight') return value === 'none' ? look : { ...look, ground: grounds[value] };
  if (name !== 'w:shd') return look;
  // A pattern mixes two colors.
  if (value === 'solid') return { ...look, ground: hexOf(attributes['w:color'] ?? '') };
  if (value !== 'clear' && value !== 'nil' && value !== '') return { ...look, ground: undefined };
  const fill = attributes['w:fill'] ?? 'auto';
  return fill === 'auto' ? look : { ...look, ground: hexOf(fill) };
}

/** Highlights in the colors in which text is hidden. */
const grounds: Readonly<Record<string, string>> = { white: 'FFFFFF', black: '000000' };

function hexOf(color: string): string | undefined {
  return /^[\da-f]{6}$/i.test(color) ? color.toUpperCase() : undefined;
}

/** The styles of a Word file. */
export interface WordStyles {
  /** Look outside all styles. */
  readonly first: WordLook;
  /** Look of a paragraph without a style on a ground. */
  paragraph(ground: string | undefined): WordLook;
  /** Properties of a style and of those that it is based on. */
  byId(id: string): Partial<WordLook> | undefined;
}

interface Style {
  look: Partial<WordLook>;
  base: string | undefined;
}

const levelsMax = 20;

export function readWordStyles(xml: string): WordStyles {
  const styles = new Map<string, Style>();
  let defaults: Partial<WordLook> = {};
  let style: Style | undefined;
  let [usual, isDefault, isTable] = ['', false, false];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'w:rPrDefault') isDefault = true;
        if (name === 'w:style') {
          const { 'w:styleId': id = '', 'w:type': type, 'w:default': isUsual } = attributes;
          isTable = type === 'table';
          style = { look: {}, base: undefined };
          styles.set(id, style);
          if (type === 'paragraph' && /^(1|true|on)$/.test(isUsual ?? '')) usual = id;
        }
        if (name === 'w:basedOn' && style) style.base = attributes['w:val'];
        if (isDefault) defaults = withProperty(defaults, name, attributes);
        else if (style && !isTable) style.look = withProperty(style.look, name, attributes);
      },
      onclosetag(name) {
        if (name === 'w:rPrDefault') isDefault = false;
        if (name === 'w:style') style = undefined;
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  const byId = (id: string, level = 0): Partial<WordLook> | undefined => {
    const found = styles.get(id);
    if (!found) return undefined;
    const base = found.base !== undefined && level < levelsMax ? byId(found.base, level + 1) : undefined;
    return { ...base, ...found.look };
  };
  const outside = { ...first, ...defaults };
  const plain = byId(usual);
  return {
    first: outside,
    paragraph: (ground) => ({ ...outside, ground, ...plain }),
    byId: (id) => byId(id),
  };
}
